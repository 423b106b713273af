// SPDX-License-Identifier: GPL-2.0-or-later
// The levels of xkeyboard-config's layout fi, whose notice is in .github/xkeyboard-config.txt.

extension BuiltInLayout {
    /// Finnish.
    static let fiTable = #"""
        2 1 ! none ¡
        3 2 " @ ”
        4 3 # £ »
        5 4 ¤ $ «
        6 5 % ‰ “
        7 6 & ‚ „
        8 7 / {
        9 8 ( [ <
        10 9 ) ] >
        11 0 = } °
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
        31 s S ß ẞ
        32 d D ð Ð
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
}
