// SPDX-License-Identifier: GPL-2.0-or-later

/// The labels of those keys of the keypad that have no sign of their own.
package enum KeyLabelText: String, Localized {
    case backspace, space, enter, left, right, home, end, delete, tab, clear, next

    package var texts: LocalText {
        switch self {
        case .backspace: LocalText("BS", "BS")
        case .space: LocalText("Space", "空白")
        case .enter: LocalText("Enter", "改行")
        case .left: LocalText("Left", "←左")
        case .right: LocalText("Right", "右→")
        case .home: LocalText("Home", "行頭")
        case .end: LocalText("End", "行末")
        case .delete: LocalText("Del", "削除")
        case .tab: LocalText("Tab", "タブ")
        case .clear: LocalText("Clear", "全消去")
        case .next: LocalText("Pause", "停止")
        }
    }
}
