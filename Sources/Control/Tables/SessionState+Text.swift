// SPDX-License-Identifier: GPL-2.0-or-later

package import Texts

/// The texts of the states for people (LK-24); `{1}` is the device.
extension SessionState: Localized {
    package var texts: LocalText { said.name }

    package var remedy: LocalText? { said.hint }

    /// The hint that follows the state: a remedy, or the next step that the program takes by itself.
    package var hint: LocalText { said.hint }

    private var said: (name: LocalText, hint: LocalText) {
        switch self {
        case .unselected:
            (
                LocalText("no device is chosen", "デバイスが選択されていません"),
                LocalText("choose one: `blewedge use DEVICE`", "選択してください: `blewedge use DEVICE`")
            )
        case .connecting:
            (
                LocalText("looking for {1}", "接続を試みています: {1}"),
                LocalText("this goes on until it is there", "見つかるまで続けます")
            )
        case .connected:
            (
                LocalText("connected to {1}: typing what it sends", "通信可能です: {1}"),
                LocalText("to disconnect: `blewedge disconnect`", "切断するには: `blewedge disconnect`")
            )
        case .lost:
            (
                LocalText("the link to {1} was lost", "接続が切れました: {1}"),
                LocalText("trying again in 3 s", "切断から3秒後に再接続を試みます")
            )
        case .disconnected:
            (
                LocalText("disconnected from {1}", "切断しました: {1}"),
                LocalText("to connect: `blewedge connect`", "接続するには: `blewedge connect`")
            )
        case .failed:
            (
                LocalText("no connection to {1}", "{1} と接続できませんでした"),
                LocalText("trying again", "接続を続けて試みています")
            )
        case .unsupported:
            (
                LocalText("{1} is not supported", "{1} は未対応の機器です"),
                LocalText(
                    "choose another, or ask again: `blewedge connect`",
                    "別のデバイスを選ぶか、もう一度: `blewedge connect`"
                )
            )
        case .bluetoothOff:
            (
                LocalText("Bluetooth is off", "Bluetoothを使用できません"),
                LocalText("waiting for it", "使用できるようになるのを待っています")
            )
        case .unauthorized:
            (
                LocalText("not permitted", "使用が許可されていません"),
                LocalText("see `blewedge doctor`", "`blewedge doctor` で確認してください")
            )
        }
    }
}
