// SPDX-License-Identifier: GPL-2.0-or-later
// The levels of xkeyboard-config's layout nl, whose notice is in .github/xkeyboard-config.txt.

extension BuiltInLayout {
    /// Dutch.
    static let nlTable = #"""
        2 1 ! ¹ ¡
        3 2 " ² ⅛
        4 3 # ³ £
        5 4 $ ¼ $
        6 5 % ½ ⅜
        7 6 & ¾ ⅝
        8 7 _ £ ⅞
        9 8 ( { [
        10 9 ) } ]
        11 0 ' ° ™
        12 / ? \ ¿
        13 ° ◌̃ ◌̧ ◌̨
        16 q Q @ Ω
        17 w W ſ §
        18 e E € ¢
        19 r R ¶ ®
        20 t T þ Þ
        21 y Y ÿ ¥
        22 u U ü Ü
        23 i I ï Ï
        24 o O ò Ò
        25 p P ¶ Þ
        26 ◌̈ ◌̂ ~ ^
        27 * | ◌̃ ◌̄
        30 a A á Á
        31 s S ß ẞ
        32 d D ð Ð
        33 f F ª ª
        34 g G ŋ Ŋ
        35 h H ħ Ħ
        36 j J
        37 k K ĸ &
        38 l L ł Ł
        39 + ± ◌́ ◌̋
        40 ◌́ ◌̀ ' `
        41 @ § ¬ ¬
        43 < > ◌̀ ◌̆
        44 z Z « <
        45 x X » >
        46 c C ¢ ©
        47 v V “ ‘
        48 b B ” ’
        49 n N ñ Ñ
        50 m M μ º
        51 , ; ¸ «
        52 . : · »
        53 - = U+00AD ◌̇
        57 U+0020 U+0020 U+0020 U+0020
        86 ] [ | ¦
        """#
}
