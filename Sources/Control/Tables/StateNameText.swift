// SPDX-License-Identifier: GPL-2.0-or-later

import Devices
package import Texts

/// Name of a state in one word, as shown by the demo.
package enum StateNameText: String, Localized {
    case unselected, connecting, connected, lost, disconnected, failed, unsupported, bluetoothOff, unauthorized

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

extension TextTable {
    /// Texts that a daemon sends, and that its clients look up by their ids.
    package static let daemon =
        common + TextTable([AdapterFaultText.self, LinkFaultText.self, SessionState.self, StateNameText.self])
}

/// Human-readable texts for the states (LK-24); `{1}` is the device.
extension SessionState: Localized {
    package var texts: LocalText { said.name }

    package var remedy: LocalText? { said.hint }

    /// Hint shown after the state: a remedy, or the next automatic step.
    package var hint: LocalText { said.hint }

    private var said: (name: LocalText, hint: LocalText) {
        switch self {
        case .unselected:
            (
                LocalText("no device selected", "デバイスが選択されていません"),
                LocalText("select one: `blewedge use DEVICE`", "選択してください: `blewedge use DEVICE`")
            )
        case .connecting:
            (
                LocalText("looking for {1}", "接続を試みています: {1}"),
                LocalText("the search continues until it is found", "見つかるまで続けます")
            )
        case .connected:
            (
                LocalText("connected to {1}: typing received data", "通信可能です: {1}"),
                LocalText("to disconnect: `blewedge disconnect`", "切断するには: `blewedge disconnect`")
            )
        case .lost:
            (
                LocalText("the link to {1} was lost", "接続が切れました: {1}"),
                LocalText("reconnecting in 3 s", "切断から3秒後に再接続を試みます")
            )
        case .disconnected:
            (
                LocalText("disconnected from {1}", "切断しました: {1}"),
                LocalText("to connect: `blewedge connect`", "接続するには: `blewedge connect`")
            )
        case .failed:
            (
                LocalText("cannot connect to {1}", "{1} と接続できませんでした"),
                LocalText("retrying", "接続を続けて試みています")
            )
        case .unsupported:
            (
                LocalText("{1} is not supported", "{1} は未対応の機器です"),
                LocalText("select another device, or retry: `blewedge connect`", "別のデバイスを選ぶか、もう一度: `blewedge connect`")
            )
        case .bluetoothOff:
            (
                LocalText("Bluetooth is off", "Bluetoothを使用できません"),
                LocalText("waiting until it is available", "使用できるようになるのを待っています")
            )
        case .unauthorized:
            (
                LocalText("permission denied", "使用が許可されていません"),
                LocalText("see `blewedge doctor`", "`blewedge doctor` で確認してください")
            )
        }
    }
}
