// SPDX-License-Identifier: GPL-2.0-or-later
// Levels of the xkeyboard-config layouts with these names; the copyright notice is in .github/xkeyboard-config.txt.

extension BuiltInLayout {
    /// Table of the Belgian layout.
    static let beTable = #"""
        like fr
        2 & 1 | ¡
        3 é 2 @ ⅛
        5 ' 4 ¼ $
        6 ( 5 ½ ⅜
        7 § 6 ^ ⅝
        8 è 7 { ⅞
        9 ! 8 [ ™
        10 ç 9 { ±
        11 à 0 } °
        12 ) ° \ ¿
        13 - _ ◌̧ ◌̨
        16 a A @ Ω
        17 z Z ſ §
        24 o O œ Œ
        26 ◌̂ ◌̈ [ ◌̊
        27 $ * ] ◌̄
        30 q Q æ Æ
        39 m M ◌́ ◌̋
        40 ù % ◌́ ◌̌
        41 ² ³ ¬ ¬
        43 µ £ ◌̀ ◌̆
        44 w W « <
        50 , ? ◌̧ º
        53 = + ◌̃ ◌̇
        86 < > \ \
        """#

    /// Table of the Swiss German layout.
    static let chTable = #"""
        like pt
        2 1 + | ¡
        4 3 * # £
        5 4 ç ¼ $
        8 7 / | ⅞
        9 8 ( ¢ ™
        12 ' ? ◌́ ¿
        13 ◌̂ ◌̀ ◌̃ ◌̨
        18 e E € E
        21 z Z ← ¥
        24 o O œ Œ
        26 ü è [ ◌̊
        27 ◌̈ ! ] ◌̄
        39 ö é ◌́ ◌̋
        40 ä à { ◌̌
        41 § ° ¬ ¬
        43 $ £ } ◌̆
        44 y Y « <
        86 < > \ ¦
        """#

    /// Table of the German layout.
    static let deTable = #"""
        like pt
        3 2 " ² ⅛
        4 3 § ³ £
        5 4 $ ¼ ¤
        12 ß ? \ ¿
        13 ◌́ ◌̀ ◌̧ ◌̨
        18 e E € €
        21 z Z ← ¥
        26 ü Ü ◌̈ ◌̊
        27 + * ~ ¯
        31 s S ſ ẞ
        36 j J none ◌̇
        39 ö Ö ◌̋
        40 ä Ä ◌̂ ◌̌
        41 ◌̂ ° ′ ″
        43 # ' ’ ◌̆
        44 y Y » ›
        45 x X « ‹
        51 , ; · ×
        52 . : … ÷
        53 - _ – —
        86 < > |
        """#

    /// Table of the Danish layout.
    static let dkTable = #"""
        like pt
        2 1 ! ¡ ¹
        3 2 " @ ²
        4 3 # £ ³
        5 4 ¤ $ ¼
        6 5 % ½ ¢
        7 6 & ¥ ⅝
        8 7 / { ÷
        9 8 ( [ «
        10 9 ) ] »
        12 + ? ± ¿
        13 ◌́ ◌̀ | ¦
        19 r R ® ®
        20 t T þ Þ
        24 o O œ Œ
        26 å Å ◌̈ ◌̊
        27 ◌̈ ◌̂ ◌̃ ◌̌
        30 a A ª º
        39 æ Æ ◌́ ◌̋
        40 ø Ø ◌̂ ◌̌
        41 ½ § ¾ ¶
        43 ' * ◌̋ ×
        46 c C © ©
        51 , ; ◌̧ ◌̨
        52 . : · ◌̇
        86 < > \ ¬
        """#

    /// Table of the Spanish layout.
    static let esTable = #"""
        like pt
        2 1 ! | ¡
        4 3 · # £
        5 4 $ ~ $
        13 ¡ ¿ ◌̧ ◌̨
        26 ◌̀ ◌̂ [ ◌̊
        27 + * ] ◌̄
        39 ñ Ñ ◌̃ ◌̋
        40 ◌́ ◌̈ { ◌̌
        41 º ª \ \
        43 ç Ç } ◌̆
        86 < > | ¦
        """#

    /// Table of the Finnish layout.
    static let fiTable = #"""
        like pt
        2 1 ! none ¡
        3 2 " @ ”
        4 3 # £ »
        5 4 ¤ $ «
        6 5 % ‰ “
        7 6 & ‚ „
        8 7 / {
        9 8 ( [ <
        10 9 ) ] >
        12 + ? \ ¿
        13 ◌́ ◌̀ ◌̧ ◌̨
        16 q Q q Q
        17 w W w W
        18 e E €
        19 r R r R
        20 t T þ Þ
        21 y Y y Y
        22 u U u U
        23 i I ı |
        24 o O œ Œ
        25 p P
        26 å Å ◌̋ ◌̊
        27 ◌̈ ◌̂ ◌̃ ◌̄
        30 a A ə Ə
        33 f F f F
        34 g G g G
        35 h H h H
        36 j J j J
        37 k K ĸ
        38 l L
        39 ö Ö ø Ø
        40 ä Ä æ Æ
        41 § ½
        43 ' * ◌̌ ◌̆
        44 z Z ʒ Ʒ
        45 x X × ·
        46 c C c C
        47 v V v V
        48 b B b B
        49 n N ŋ Ŋ
        50 m M µ —
        51 , ; ’ ‘
        52 . : none ◌̇
        53 - _ –
        57 U+0020 U+0020 U+0020 U+202F
        86 < > | ¦
        """#

    /// Table of the French layout.
    static let frTable = #"""
        like pt
        2 & 1 ¹ ¡
        3 é 2 ~ ⅛
        4 " 3 # £
        5 ' 4 { $
        6 ( 5 [ ⅜
        7 - 6 | ⅝
        8 è 7 ` ⅞
        9 _ 8 \ ™
        10 ç 9 ^ ±
        11 à 0 @ °
        12 ) ° ] ¿
        13 = + } ◌̨
        16 a A æ Æ
        17 z Z « <
        26 ◌̂ ◌̈ ◌̈ ◌̊
        27 $ £ ¤ ◌̄
        30 q Q @ Ω
        39 m M µ º
        40 ù % ◌̂ ◌̌
        41 ² ~ ¬ ¬
        43 * µ ◌̀ ◌̆
        44 w W ł Ł
        50 , ? ◌́ ◌̋
        51 ; . • ×
        52 : / · ÷
        53 ! § none ◌̇
        86 < > | ¦
        """#

    /// Table of the British layout.
    static let gbTable = #"""
        like pt
        3 2 " ² ⅛
        4 3 £ ³ £
        5 4 $ € ¼
        7 6 ^ ¾ ⅝
        8 7 & { ⅞
        9 8 * [ ™
        10 9 ( ] ±
        11 0 ) } °
        12 - _ \ ¿
        13 = + ◌̧ ◌̨
        18 e E e E
        26 [ { ◌̈ ◌̊
        27 ] } ◌̃ ◌̄
        39 ; : ◌́ ◌̋
        40 ' @ ◌̂ ◌̌
        41 ` ¬ | |
        43 # ~ ◌̀ ◌̆
        51 , < • ×
        52 . > · ÷
        53 / ? none ◌̇
        86 \ | | ¦
        """#
}
