// SPDX-License-Identifier: GPL-2.0-or-later
// The levels of xkeyboard-config's layout no, whose notice is in .github/xkeyboard-config.txt.

extension BuiltInLayout {
    /// Norwegian.
    static let noTable = #"""
        2 1 ! ¡ ¹
        3 2 " @ ²
        4 3 # £ ³
        5 4 ¤ $ ¼
        6 5 % ½ ‰
        7 6 & ¥ ⅝
        8 7 / { ÷
        9 8 ( [ «
        10 9 ) ] »
        11 0 = } °
        12 + ? ± ¿
        13 \ ◌̀ ◌́ ¬
        16 q Q @ Ω
        17 w W ſ §
        18 e E € ¢
        19 r R ® ™
        20 t T þ Þ
        21 y Y ← ¥
        22 u U ↓ ↑
        23 i I → ı
        24 o O œ Œ
        25 p P π Π
        26 å Å ◌̈ ◌̊
        27 ◌̈ ◌̂ ◌̃ ◌̌
        30 a A ª º
        31 s S ß ẞ
        32 d D ð Ð
        33 f F đ ª
        34 g G ŋ Ŋ
        35 h H ħ Ħ
        36 j J
        37 k K ĸ &
        38 l L ł Ł
        39 ø Ø ◌́ ◌̋
        40 æ Æ ◌̂ ◌̌
        41 | § ¦ ¶
        43 ' * ◌̋ ×
        44 z Z « <
        45 x X » >
        46 c C © ©
        47 v V „ ‚
        48 b B “ ‘
        49 n N ” ’
        50 m M µ º
        51 , ; ◌̧ ◌̨
        52 . : … ·
        53 - _ – —
        57 U+0020 U+0020 U+00A0 U+202F
        86 < > ½ ¾
        """#
}
