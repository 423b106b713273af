// SPDX-License-Identifier: GPL-2.0-or-later
// The levels of xkeyboard-config's layout be, whose notice is in .github/xkeyboard-config.txt.

extension BuiltInLayout {
    /// Belgian.
    static let beTable = #"""
        2 & 1 | ¡
        3 é 2 @ ⅛
        4 " 3 # £
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
        18 e E € ¢
        19 r R ¶ ®
        20 t T ŧ Ŧ
        21 y Y ← ¥
        22 u U ↓ ↑
        23 i I → ı
        24 o O œ Œ
        25 p P þ Þ
        26 ◌̂ ◌̈ [ ◌̊
        27 $ * ] ◌̄
        30 q Q æ Æ
        31 s S ß ẞ
        32 d D ð Ð
        33 f F đ ª
        34 g G ŋ Ŋ
        35 h H ħ Ħ
        36 j J
        37 k K ĸ &
        38 l L ł Ł
        39 m M ◌́ ◌̋
        40 ù % ◌́ ◌̌
        41 ² ³ ¬ ¬
        43 µ £ ◌̀ ◌̆
        44 w W « <
        45 x X » >
        46 c C ¢ ©
        47 v V „ ‚
        48 b B “ ‘
        49 n N ” ’
        50 , ? ◌̧ º
        51 ; . • ×
        52 : / · ÷
        53 = + ◌̃ ◌̇
        57 U+0020 U+0020 U+0020 U+0020
        86 < > \ \
        """#
}
