// SPDX-License-Identifier: GPL-2.0-or-later

package import Texts

/// The name of a state in one word, as the demo shows it.
package enum StateNameText: String, Localized {
    case unselected, connecting, connected, lost, disconnected, failed, unsupported, bluetoothOff, unauthorized

    /// The state's.
    package init(_ state: SessionState) {
        self =
            switch state {
            case .unselected: .unselected
            case .connecting: .connecting
            case .connected: .connected
            case .lost: .lost
            case .disconnected: .disconnected
            case .failed: .failed
            case .unsupported: .unsupported
            case .bluetoothOff: .bluetoothOff
            case .unauthorized: .unauthorized
            }
    }

    package var texts: LocalText {
        switch self {
        case .unselected: LocalText("unselected", "未選択")
        case .connecting: LocalText("connecting", "接続試行")
        case .connected: LocalText("connected", "接続完了")
        case .lost: LocalText("lost", "外部要因による切断")
        case .disconnected: LocalText("disconnected", "切断")
        case .failed: LocalText("failed", "接続失敗")
        case .unsupported: LocalText("unsupported", "未対応機器")
        case .bluetoothOff: LocalText("bluetoothOff", "Bluetooth使用不可")
        case .unauthorized: LocalText("unauthorized", "未許可")
        }
    }
}
