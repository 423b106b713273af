// SPDX-License-Identifier: GPL-2.0-or-later

/// What a configuration allows a keyboard beyond text, Tab, Enter and Backspace.
package enum AllowanceText: String, Localized {
    case typed, clients, declared, beacons

    package var texts: LocalText {
        switch self {
        case .typed:
            LocalText(
                "received bytes press {1}; of an open device Escape and Ctrl are withheld",
                "受信データが {1} を押します(認証のないデバイスのEscapeとCtrlは破棄されます)"
            )
        case .clients:
            LocalText("`key` and `snippet` press {1}", "`key` と `snippet` が {1} を押します")
        case .beacons:
            LocalText(
                "beacons, which anybody can copy, act by {1}",
                "誰でも複製できるビーコンが {1} により動作します"
            )
        case .declared:
            LocalText(
                "{1} are declared for udev, and nothing presses them",
                "{1} はudevのために宣言されていますが、押されることはありません"
            )
        }
    }
}
