// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
package import Texts

/// Reasons why the link to a device ended, was not established, or cannot be used.
package enum LinkFaultText: String, FaultText {
    // The link; the English is that of BluetoothAdapters.
    case ended, outOfReach, aborted, refused, notInTime, noAnswer, protocolBroken, closed, notSecured
    // The bond with the device.
    case noBond, weakBond, legacyBond, otherDevice, otherAdapter, damagedBond, openDevice, unpaired, lessSecure
    // Data from the device.
    case flooded
    // The services and characteristics of the device.
    case noService, otherService, noSerialService, isKeyboard, noCharacteristic, noNotification, notWritable
    case nothingToRead, takesNothing
    // The handshake of the device.
    case noReply, otherReply
    // Security that the device requires.
    case wantsPairing, wantsNumber
    // The search for the device.
    case notHeard, notHeardInTime, heardElsewhere, severalHeard, notFinished
    // Sending to the device.
    case notConnected, noLink, noOutput, outputNotWritable, tooMuchWaits
    // Commands to the connected device.
    case commandsWait, commandUnanswered, commandNotWritten, commandCut, commandNotSent

    private static let writeProfile = LocalText(
        "if one of these carries its data, write a profile: see `blewedge profiles nordic`",
        "この中にデータを送るサービスがあれば、プロファイルを作成してください(例: `blewedge profiles nordic`)"
    )

    package var said: (cause: LocalText, remedy: LocalText?) {
        switch self {
        case .ended: (LocalText(LinkErrorDescription.ended, "デバイスが接続を終了しました"), nil)
        case .outOfReach: (LocalText(LinkErrorDescription.outOfReach, "デバイスが電波の届く範囲にありません"), nil)
        case .aborted: (LocalText(LinkErrorDescription.aborted, "接続が中断されました"), nil)
        case .refused:
            (LocalText(LinkErrorDescription.refused("{1}", "{2}"), "コントローラが {1} を拒否しました: {2}"), nil)
        case .notInTime: (LocalText(LinkErrorDescription.notInTime("{1}"), "{1}秒以内に接続できませんでした"), nil)
        case .noAnswer:
            (
                LocalText(LinkErrorDescription.noAnswer("{1}"), "デバイスが30秒以内に {1} に応答しませんでした"), nil
            )
        case .protocolBroken:
            (
                LocalText(LinkErrorDescription.protocolBroken("{1}"), "デバイスがアトリビュートプロトコルに違反しました: {1}"), nil
            )
        case .closed: (LocalText(LinkErrorDescription.closed, "デバイスがチャネルを閉じました"), nil)
        case .notSecured:
            (
                LocalText(LinkErrorDescription.notSecured, "ペアリングしたデバイスであることを確認できませんでした"),
                LocalText(
                    "where its keys were removed: `blewedge forget {1}`, and `blewedge pair` again",
                    "デバイス側で鍵が削除された場合: `blewedge forget {1}` の後、`blewedge pair` をやり直してください"
                )
            )
        case .noBond:
            (
                LocalText("{1} is not paired with this adapter", "{1} はこのアダプタとペアリングされていません"),
                LocalText("`blewedge pair {1}`", "`blewedge pair {1}` を実行してください")
            )
        case .weakBond:
            (
                LocalText("the keys of {1} are not authenticated, as is asked for", "{1} の鍵は、要求されている認証済みのものではありません"),
                LocalText(
                    "`blewedge forget {1}`, and `blewedge pair {1} --security authenticated`",
                    "`blewedge forget {1}` の後、`blewedge pair {1} --security authenticated` を実行してください"
                )
            )
        case .otherDevice:
            (
                LocalText("{1} is not the paired device {2}", "{1} は、ペアリングしたデバイス {2} ではありません"),
                LocalText("to use it instead: `blewedge forget {3}`", "代わりに使用する場合: `blewedge forget {3}`")
            )
        case .otherAdapter:
            (
                LocalText("{1} is not paired with this adapter, but with {2}", "{1} はこのアダプタではなく、{2} とペアリングされています"),
                LocalText("use that adapter, or `blewedge pair {1}`", "そのアダプタを使用するか、`blewedge pair {1}` を実行してください")
            )
        case .damagedBond:
            (
                LocalText("the keys of {1} are damaged or lost", "{1} の鍵が壊れているか、失われています"),
                LocalText(
                    "`blewedge forget {1}`, and `blewedge pair {1}`",
                    "`blewedge forget {1}` の後、`blewedge pair {1}` を実行してください"
                )
            )
        case .unpaired:
            (
                LocalText(
                    "{1} is not paired: anyone who copies its name and address can type",
                    "{1} はペアリングされていません。名前とアドレスを真似た機器なら誰のものでも入力できます"
                ),
                LocalText(
                    "`blewedge pair {1}`, or `--security none` if that is meant",
                    "`blewedge pair {1}` を実行するか、承知の上なら `--security none` を付けてください"
                )
            )
        case .legacyBond:
            (
                LocalText(
                    "the keys of {1} are from legacy pairing, which authenticates nobody",
                    "{1} の鍵はレガシーペアリングによるもので、認証になりません"
                ),
                LocalText(
                    "`blewedge forget {1}`, `blewedge pair {1} --security authenticated`; if that is refused, pair and `use` it as encrypted",
                    "`blewedge forget {1}` の後、`blewedge pair {1} --security authenticated` を実行してください。拒否される場合は encrypted でペアリングと `use` をやり直してください"
                )
            )
        case .openDevice:
            (
                LocalText(
                    "{1} is not paired: anyone who copies its name and address can type",
                    "{1} はペアリングされていません。名前とアドレスを真似た機器なら誰のものでも入力できます"
                ),
                LocalText(
                    "`blewedge pair {2}`, or `--security none` if that is meant",
                    "`blewedge pair {2}` を実行するか、承知の上なら `--security none` を付けてください"
                )
            )
        case .lessSecure:
            (
                LocalText(
                    "the security {1} is less than the configuration asks for: {2}",
                    "セキュリティ {1} は、設定が要求する {2} を下回っています"
                ),
                LocalText(
                    "`--security {2}`, or another `security` in the configuration or its profile",
                    "`--security {2}` を指定するか、設定またはプロファイルの `security` を変更してください"
                )
            )
        case .flooded:
            (
                LocalText(
                    "the device sent more than can be typed: {1} bytes found no room",
                    "デバイスの送信量が入力できる量を超えました: {1}バイトを受け取れませんでした"
                ),
                LocalText(
                    "it is connected to again by itself; a faster `pace` types more",
                    "自動的に再接続します。`pace` を速くすると、より多く入力できます"
                )
            )
        case .noService:
            (LocalText("it has no {1}; it offers {2}", "{1} がありません(提供: {2})"), Self.writeProfile)
        case .otherService:
            (
                LocalText("it has no {1}; it offers {2}", "{1} がありません(提供: {2})"),
                LocalText(
                    "use `profile = \"auto\"` in the configuration, or `--profile auto`",
                    "設定の `profile = \"auto\"`、または `--profile auto` を使用してください"
                )
            )
        case .noSerialService:
            (
                LocalText("it has no serial service; it offers {1}", "シリアル通信用のサービスがありません(提供: {1})"), Self.writeProfile
            )
        case .isKeyboard:
            (
                LocalText("it is a Bluetooth keyboard (HID)", "Bluetoothキーボード(HID)です"),
                LocalText(
                    "set it to its serial (UART) mode, if it has one; keyboards are not supported yet",
                    "シリアル(UART)モードがあれば切り替えてください。キーボードにはまだ対応していません"
                )
            )
        case .noCharacteristic: (LocalText("it has no characteristic {1}", "キャラクタリスティック {1} がありません"), nil)
        case .noNotification:
            (
                LocalText("its characteristic {1} does not notify", "キャラクタリスティック {1} が通知に対応していません"),
                nil
            )
        case .notWritable:
            (
                LocalText("its characteristic {1} cannot be written", "キャラクタリスティック {1} に書き込めません"), nil
            )
        case .nothingToRead: (LocalText("no characteristic", "キャラクタリスティックがありません"), nil)
        case .takesNothing: (LocalText("it takes no bytes", "データを受け付けません"), nil)
        case .noReply:
            (
                LocalText(
                    "command {1} of the handshake had no reply within {2}",
                    "ハンドシェイクのコマンド{1}に対する応答が {2} 以内にありませんでした"
                ), nil
            )
        case .otherReply:
            (
                LocalText(
                    "command {1} of the handshake had another reply than expected within {2}: {3} bytes",
                    "ハンドシェイクのコマンド{1}に対して {2} 以内に期待と異なる応答がありました: {3}バイト"
                ), nil
            )
        case .notHeard:
            (
                LocalText(
                    "not heard for {1} s: wake it by its button; is it on and advertising?",
                    "{1}秒間受信がありません。スリープ中ならボタンで起動し、アドバタイズしているか確認して下さい"
                ), nil
            )
        case .notHeardInTime:
            (
                LocalText("{1} was not heard within {2} s", "{2}秒以内に {1} を受信できませんでした"),
                LocalText(
                    "wake it by its button, bring it near, disconnect it elsewhere; `blewedge scan` shows who is heard",
                    "スリープ中ならボタンで起動し、近づけ、ほかとの接続を切ってください。受信中のデバイスは `blewedge scan` で表示できます"
                )
            )
        case .heardElsewhere:
            (
                LocalText(
                    "{1} is on the air at {2}, and not at its address {3}",
                    "{1} は、登録されたアドレス {3} ではなく、{2} で受信しています"
                ),
                LocalText("if its address has changed: `blewedge use {4}`", "アドレスが変わった場合は `blewedge use {4}` を実行してください")
            )
        case .wantsPairing:
            (
                LocalText("the device wants to be paired: {1}", "デバイスがペアリングを要求しています: {1}"),
                LocalText("`blewedge pair {2}`", "`blewedge pair {2}` を実行してください")
            )
        case .wantsNumber:
            (
                LocalText("the device wants a pairing by a number: {1}", "デバイスが番号によるペアリングを要求しています: {1}"),
                LocalText(
                    "`blewedge forget {2}`, and `blewedge pair {2} --security authenticated`",
                    "`blewedge forget {2}` の後、`blewedge pair {2} --security authenticated` を実行してください"
                )
            )
        case .severalHeard:
            (
                LocalText("several devices are called {1}: {2}", "{1} という名前のデバイスが複数あります: {2}"),
                LocalText("name one by its address, such as {3}", "{3} のようにアドレスで指定してください")
            )
        case .notFinished:
            (
                LocalText("the device did not finish within {1} s", "デバイスの準備が{1}秒以内に完了しませんでした"), nil
            )
        case .notConnected:
            (
                LocalText("not connected", "接続していません"),
                LocalText("`blewedge status` says why", "理由は `blewedge status` で確認できます")
            )
        case .noLink: (LocalText("there is no link to send on", "送信できる接続がありません"), nil)
        case .noOutput:
            (
                LocalText(
                    "the device takes no bytes: it has no characteristic for them",
                    "デバイスへ送信できません: 書き込み用のキャラクタリスティックがありません"
                ), nil
            )
        case .outputNotWritable:
            (
                LocalText(
                    "the device takes no bytes: its characteristic for them cannot be written",
                    "デバイスへ送信できません: キャラクタリスティックに書き込めません"
                ), nil
            )
        case .tooMuchWaits:
            (
                LocalText(
                    "{1} of {2} bytes cannot be sent: too many wait already",
                    "{2}バイト中{1}バイトを送信できません: 送信待ちが多すぎます"
                ), nil
            )
        case .commandsWait:
            (
                LocalText("{1} commands to the device wait already", "デバイスへのコマンドがすでに{1}件待っています"),
                LocalText("try again when some have had their reply", "応答があってからもう一度お試しください")
            )
        case .commandUnanswered:
            (
                LocalText("the command had no reply as expected within {1}", "コマンドに対する期待どおりの応答が {1} 以内にありませんでした"), nil
            )
        case .commandNotWritten:
            (
                LocalText(
                    "the command was not written: the device does not take it",
                    "コマンドを書き込めませんでした: デバイスが受け付けません"
                ), nil
            )
        case .commandCut:
            (
                LocalText(
                    "the link ended before the reply came; the command was written",
                    "コマンドは書き込みましたが、応答の前に接続が終了しました"
                ), nil
            )
        case .commandNotSent:
            (
                LocalText("the link ended before the command was written", "コマンドを書き込む前に接続が終了しました"), nil
            )
        }
    }
}
