// SPDX-License-Identifier: GPL-2.0-or-later
// The levels of xkeyboard-config's layout it, whose notice is in .github/xkeyboard-config.txt.

extension BuiltInLayout {
    /// Italian.
    static let itTable = #"""
        2 1 ! ¹ ¡
        3 2 " ² ◌̋
        4 3 £ ³ ◌̃
        5 4 $ ¼ ⅛
        6 5 % ½ ⅜
        7 6 & ¬ ⅝
        8 7 / { ⅞
        9 8 ( [ ™
        10 9 ) ] ±
        11 0 = } ◌̨
        12 ' ? ` ¿
        13 ì ^ ~ ◌̂
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
        26 è é [ {
        27 + * ] }
        30 a A æ Æ
        31 s S ß ẞ
        32 d D ð Ð
        33 f F đ ª
        34 g G ŋ Ŋ
        35 h H ħ Ħ
        36 j J
        37 k K ĸ &
        38 l L ł Ł
        39 ò ç @ ◌̧
        40 à ° # ◌̊
        41 \ | ¬ ¦
        43 ù § ◌̀ ◌̆
        44 z Z « <
        45 x X » >
        46 c C ¢ ©
        47 v V “ ‘
        48 b B ” ’
        49 n N ñ Ñ
        50 m M µ º
        51 , ; ◌́ ×
        52 . : · ◌̈
        53 - _ ◌̄ ÷
        57 U+0020 U+0020 U+0020 U+0020
        86 < > « »
        """#
}
