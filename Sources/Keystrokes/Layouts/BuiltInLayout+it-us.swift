// SPDX-License-Identifier: GPL-2.0-or-later
// Levels of the xkeyboard-config layouts with these names; the copyright notice is in .github/xkeyboard-config.txt.

extension BuiltInLayout {
    /// Table of the Italian layout.
    static let itTable = #"""
        like pt
        3 2 " ² ◌̋
        4 3 £ ³ ◌̃
        5 4 $ ¼ ⅛
        11 0 = } ◌̨
        12 ' ? ` ¿
        13 ì ^ ~ ◌̂
        26 è é [ {
        27 + * ] }
        39 ò ç @ ◌̧
        40 à ° # ◌̊
        41 \ | ¬ ¦
        43 ù § ◌̀ ◌̆
        47 v V “ ‘
        48 b B ” ’
        49 n N ñ Ñ
        51 , ; ◌́ ×
        52 . : · ◌̈
        53 - _ ◌̄ ÷
        86 < > « »
        """#

    /// Table of the Japanese layout with 106 or 109 keys.
    static let jpTable = #"""
        like us
        3 2 "
        7 6 &
        8 7 '
        9 8 (
        10 9 )
        11 0
        12 - =
        13 ^ ~
        26 @ `
        27 [ {
        39 ; +
        40 : *
        41
        43 ] }
        89 \ _
        124 \ |
        """#

    /// Table of the Japanese layout with the yen sign on the yen key.
    static let jpYenTable = #"""
        like jp
        124 ¥ |
        """#

    /// Table of the Dutch layout.
    static let nlTable = #"""
        like pt
        3 2 " ² ⅛
        4 3 # ³ £
        5 4 $ ¼ $
        7 6 & ¾ ⅝
        8 7 _ £ ⅞
        9 8 ( { [
        10 9 ) } ]
        11 0 ' ° ™
        12 / ? \ ¿
        13 ° ◌̃ ◌̧ ◌̨
        20 t T þ Þ
        21 y Y ÿ ¥
        22 u U ü Ü
        23 i I ï Ï
        24 o O ò Ò
        25 p P ¶ Þ
        26 ◌̈ ◌̂ ~ ^
        27 * | ◌̃ ◌̄
        30 a A á Á
        33 f F ª ª
        39 + ± ◌́ ◌̋
        40 ◌́ ◌̀ ' `
        41 @ § ¬ ¬
        43 < > ◌̀ ◌̆
        47 v V “ ‘
        48 b B ” ’
        49 n N ñ Ñ
        50 m M μ º
        51 , ; ¸ «
        52 . : · »
        53 - = U+00AD ◌̇
        86 ] [ | ¦
        """#

    /// Table of the Norwegian layout.
    static let noTable = #"""
        like dk
        6 5 % ½ ‰
        13 \ ◌̀ ◌́ ¬
        19 r R ® ™
        25 p P π Π
        39 ø Ø ◌́ ◌̋
        40 æ Æ ◌̂ ◌̌
        41 | § ¦ ¶
        52 . : … ·
        53 - _ – —
        57 U+0020 U+0020 U+00A0 U+202F
        86 < > ½ ¾
        """#

    /// Table of the Portuguese layout.
    static let ptTable = #"""
        like us
        2 1 ! ¹ ¡
        3 2 " @ ⅛
        4 3 # £ £
        5 4 $ § $
        6 5 % ½ ⅜
        7 6 & ¬ ⅝
        8 7 / { ⅞
        9 8 ( [ ™
        10 9 ) ] ±
        11 0 = } °
        12 ' ? \ ¿
        13 « » ◌̧ ◌̨
        16 q Q @ Ω
        17 w W ſ §
        18 e E € ¢
        19 r R ¶ ®
        20 t T ŧ Ŧ
        21 y Y ← ¥
        22 u U ↓ ↑
        23 i I → ı
        24 o O ø Ø
        25 p P þ Þ
        26 + * ◌̈ ◌̊
        27 ◌́ ◌̀ ◌̃ ◌̄
        30 a A æ Æ
        31 s S ß ẞ
        32 d D ð Ð
        33 f F đ ª
        34 g G ŋ Ŋ
        35 h H ħ Ħ
        37 k K ĸ &
        38 l L ł Ł
        39 ç Ç ◌́ ◌̋
        40 º ª ◌̂ ◌̌
        41 \ | ¬ ¬
        43 ◌̃ ◌̂ ◌̀ ◌̆
        44 z Z « <
        45 x X » >
        46 c C ¢ ©
        47 v V „ ‚
        48 b B “ ‘
        49 n N ” ’
        50 m M µ º
        51 , ; • ×
        52 . : · ÷
        53 - _ none ◌̇
        57 U+0020 U+0020 U+0020 U+0020
        86 < > \ \
        """#

    /// Table of the Swedish layout.
    static let seTable = #"""
        like pt
        2 1 ! ¡ ¹
        3 2 " @ ²
        4 3 # £ ³
        5 4 ¤ $ ¼
        6 5 % €
        7 6 & ¥
        8 7 / { ÷
        9 8 ( [ «
        10 9 ) ] »
        12 + ? \ ¿
        13 ◌́ ◌̀ ± ¬
        16 q Q
        17 w W
        19 r R ®
        20 t T þ Þ
        24 o O œ Œ
        25 p P
        26 å Å ◌̈ ◌̊
        27 ◌̈ ◌̂ ◌̃ ◌̌
        30 a A ª º
        37 k K ĸ
        39 ö Ö ø Ø
        40 ä Ä æ Æ
        41 § ½ ¶ ¾
        43 ' * ´ ×
        46 c C ©
        51 , ; ◌̧ ◌̨
        52 . : ·
        57 U+0020 U+0020 U+0020 U+00A0
        86 < > | ¦
        """#

    /// Table of the US layout.
    static let usTable = #"""
        2 1 !
        3 2 @
        4 3 #
        5 4 $
        6 5 %
        7 6 ^
        8 7 &
        9 8 *
        10 9 (
        11 0 )
        12 - _
        13 = +
        16 q Q
        17 w W
        18 e E
        19 r R
        20 t T
        21 y Y
        22 u U
        23 i I
        24 o O
        25 p P
        26 [ {
        27 ] }
        30 a A
        31 s S
        32 d D
        33 f F
        34 g G
        35 h H
        36 j J
        37 k K
        38 l L
        39 ; :
        40 ' "
        41 ` ~
        43 \ |
        44 z Z
        45 x X
        46 c C
        47 v V
        48 b B
        49 n N
        50 m M
        51 , <
        52 . >
        53 / ?
        57 U+0020 U+0020
        86 < >
        """#
}
