// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
package import Texts

/// Texts for the reasons why the link to a device ended, was not established, or cannot be used.
package enum LinkFaultText: String, FaultText {
    // Texts about the link; the English ones come from BluetoothAdapters.
    case ended, outOfReach, aborted, refused, notInTime, noAnswer, protocolBroken, closed, notSecured
    // Texts about the bond with the device.
    case noBond, weakBond, legacyBond, otherDevice, otherAdapter, damagedBond, openDevice, unpaired, lessSecure
    // Texts about a keyboard, which must be paired.
    case unpairedKeyboard, keyboardNotHeard, keyboardRefusesKeys
    // Texts about the data that the device sends.
    case flooded, advertisesOpenly, noValue
    // Texts about the services and characteristics of the device.
    case noService, otherService, noSerialService, isKeyboard, noCharacteristic, noNotification, notWritable
    case nothingToRead, takesNothing, noReports, noMap, noKeyboard, incompleteMap, shortMap
    // Texts about the device's replies during the handshake.
    case noReply, otherReply
    // Texts about the security that the device requires.
    case wantsPairing, wantsNumber
    // Texts about the search for the device.
    case notHeard, notHeardInTime, heardElsewhere, severalHeard, notFinished
    // Texts about sending to the device.
    case notConnected, noLink, noOutput, outputNotWritable, tooMuchWaits
    // Texts about commands to the connected device.
    case commandsWait, commandUnanswered, commandNotWritten, commandCut, commandNotSent

    private static let writeProfile = LocalText(
        "if one of these carries the data, write a profile; example: `blewedge profiles nordic`",
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
                    "if the device deleted its keys: `blewedge forget {1}`, then `blewedge pair` again",
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
                LocalText(
                    "the keys of {1} are not authenticated, but authentication is required",
                    "{1} の鍵は、要求されている認証済みのものではありません"
                ),
                LocalText(
                    "`blewedge forget {1}`, then `blewedge pair {1} --security authenticated`",
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
                    "`blewedge forget {1}`, then `blewedge pair {1}`",
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
                    "`blewedge pair {1}`, or `--security none` to accept the risk",
                    "`blewedge pair {1}` を実行するか、承知の上なら `--security none` を付けてください"
                )
            )
        case .legacyBond:
            (
                LocalText(
                    "the keys of {1} are from legacy pairing, which provides no authentication",
                    "{1} の鍵はレガシーペアリングによるもので、認証になりません"
                ),
                LocalText(
                    "`blewedge forget {1}`, then `blewedge pair {1} --security authenticated`; if refused, pair and `use` it as encrypted",
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
                    "`blewedge pair {2}`, or `--security none` to accept the risk",
                    "`blewedge pair {2}` を実行するか、承知の上なら `--security none` を付けてください"
                )
            )
        case .unpairedKeyboard:
            (
                LocalText(
                    "{1} is a keyboard that is not paired: a keyboard is used only after pairing",
                    "{1} はペアリングされていないキーボードです。キーボードは、ペアリングしてから使用します"
                ),
                LocalText(
                    "put it into pairing mode, then `blewedge pair {2}`",
                    "ペアリングモードにして、`blewedge pair {2}` を実行してください"
                )
            )
        case .keyboardNotHeard:
            (
                LocalText(
                    "no signal from the paired keyboard for {1} s: it sleeps, is off, or answers only another host",
                    "ペアリング済みのキーボードを{1}秒間受信していません。スリープ中か電源オフか、別のホストだけに応答しています"
                ),
                LocalText(
                    "scan a barcode to wake it; if that does not help: `blewedge forget {2}`, then `blewedge pair {2}`",
                    "バーコードを読み取って起動してください。それでも駄目なら `blewedge forget {2}` の後、`blewedge pair {2}` を実行してください"
                )
            )
        case .keyboardRefusesKeys:
            (
                LocalText(
                    "the paired keyboard could not be verified: it did not encrypt the link with the saved keys",
                    "ペアリングしたキーボードであることを確認できませんでした。保存した鍵で接続が暗号化されません"
                ),
                LocalText(
                    "if it was reset or paired with another host: `blewedge forget {1}`, then `blewedge pair {1}`",
                    "リセットや別のホストとのペアリングをした場合: `blewedge forget {1}` の後、`blewedge pair {1}` を実行してください"
                )
            )
        case .lessSecure:
            (
                LocalText(
                    "security level {1} is below the configured minimum: {2}",
                    "セキュリティ {1} は、設定が要求する {2} を下回っています"
                ),
                LocalText(
                    "use `--security {2}`, or change `security` in the configuration or profile",
                    "`--security {2}` を指定するか、設定またはプロファイルの `security` を変更してください"
                )
            )
        case .flooded:
            (
                LocalText(
                    "the device sends faster than text can be typed: {1} bytes did not fit in the buffer",
                    "デバイスの送信量が入力できる量を超えました: {1}バイトを受け取れませんでした"
                ),
                LocalText(
                    "blewedge reconnects automatically; a faster `pace` increases the typing speed",
                    "自動的に再接続します。`pace` を速くすると、より多く入力できます"
                )
            )
        case .noService:
            (LocalText("it has no {1}; it offers {2}", "{1} がありません(提供: {2})"), Self.writeProfile)
        case .otherService:
            (
                LocalText("it has no {1}; it offers {2}", "{1} がありません(提供: {2})"),
                LocalText(
                    "set `profile = \"auto\"` in the configuration, or use `--profile auto`",
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
                    "set `profile = \"auto\"` in the configuration, or use `--profile auto`",
                    "設定の `profile = \"auto\"`、または `--profile auto` を使用してください"
                )
            )
        case .noCharacteristic: (LocalText("it has no characteristic {1}", "キャラクタリスティック {1} がありません"), nil)
        case .noNotification:
            (
                LocalText("its characteristic {1} does not support notifications", "キャラクタリスティック {1} が通知に対応していません"),
                nil
            )
        case .notWritable:
            (
                LocalText("its characteristic {1} is not writable", "キャラクタリスティック {1} に書き込めません"), nil
            )
        case .nothingToRead: (LocalText("no characteristic", "キャラクタリスティックがありません"), nil)
        case .takesNothing: (LocalText("it does not accept data", "データを受け付けません"), nil)
        case .noReports: (LocalText("its HID service has no input reports", "HIDサービスに入力レポートがありません"), nil)
        case .noMap: (LocalText("its HID service has no report map", "HIDサービスにレポートマップがありません"), nil)
        case .shortMap: (LocalText("its report map ends too early", "レポートマップが途中で終わっています"), nil)
        case .noKeyboard:
            (
                LocalText("it is a HID device without keys: {1}", "キーのないHID機器です: {1}"),
                LocalText(
                    "select the scanner itself; `blewedge scan` lists devices in range",
                    "リーダ本体を選択してください。受信中のデバイスは `blewedge scan` で表示できます"
                )
            )
        case .incompleteMap:
            (LocalText("its report map could not be read completely: {1}", "レポートマップを最後まで読めませんでした: {1}"), nil)
        case .noReply:
            (
                LocalText(
                    "no reply to handshake command {1} within {2}",
                    "ハンドシェイクのコマンド{1}に対する応答が {2} 以内にありませんでした"
                ), nil
            )
        case .otherReply:
            (
                LocalText(
                    "unexpected reply to handshake command {1} within {2}: {3} bytes",
                    "ハンドシェイクのコマンド{1}に対して {2} 以内に期待と異なる応答がありました: {3}バイト"
                ), nil
            )
        case .notHeard:
            (
                LocalText(
                    "no signal for {1} s: press its button, and check that it is on and advertising",
                    "{1}秒間受信がありません。スリープ中ならボタンで起動し、アドバタイズしているか確認して下さい"
                ), nil
            )
        case .notHeardInTime:
            (
                LocalText("{1} was not found within {2} s", "{2}秒以内に {1} を受信できませんでした"),
                LocalText(
                    "press its button, move it closer, disconnect it elsewhere; `blewedge scan` lists devices in range",
                    "スリープ中ならボタンで起動し、近づけ、ほかとの接続を切ってください。受信中のデバイスは `blewedge scan` で表示できます"
                )
            )
        case .heardElsewhere:
            (
                LocalText(
                    "{1} is advertising from {2}, not from its known address {3}",
                    "{1} は、登録されたアドレス {3} ではなく、{2} で受信しています"
                ),
                LocalText("if its address has changed: `blewedge use {4}`", "アドレスが変わった場合は `blewedge use {4}` を実行してください")
            )
        case .wantsPairing:
            (
                LocalText("the device requires pairing: {1}", "デバイスがペアリングを要求しています: {1}"),
                LocalText("`blewedge pair {2}`", "`blewedge pair {2}` を実行してください")
            )
        case .wantsNumber:
            (
                LocalText("the device requires authenticated pairing: {1}", "デバイスが番号によるペアリングを要求しています: {1}"),
                LocalText(
                    "`blewedge forget {2}`, then `blewedge pair {2} --security authenticated`",
                    "`blewedge forget {2}` の後、`blewedge pair {2} --security authenticated` を実行してください"
                )
            )
        case .severalHeard:
            (
                LocalText("several devices are named {1}: {2}", "{1} という名前のデバイスが複数あります: {2}"),
                LocalText("specify one by its address, such as {3}", "{3} のようにアドレスで指定してください")
            )
        case .notFinished:
            (
                LocalText("the device was not ready within {1} s", "デバイスの準備が{1}秒以内に完了しませんでした"), nil
            )
        case .notConnected:
            (
                LocalText("not connected", "接続していません"),
                LocalText("`blewedge status` shows why", "理由は `blewedge status` で確認できます")
            )
        case .noLink: (LocalText("cannot send: no connection", "送信できる接続がありません"), nil)
        case .noOutput:
            (
                LocalText(
                    "cannot send to the device: it has no characteristic for writing",
                    "デバイスへ送信できません: 書き込み用のキャラクタリスティックがありません"
                ), nil
            )
        case .outputNotWritable:
            (
                LocalText(
                    "cannot send to the device: its characteristic is not writable",
                    "デバイスへ送信できません: キャラクタリスティックに書き込めません"
                ), nil
            )
        case .tooMuchWaits:
            (
                LocalText(
                    "cannot send {1} of {2} bytes: the send queue is full",
                    "{2}バイト中{1}バイトを送信できません: 送信待ちが多すぎます"
                ), nil
            )
        case .commandsWait:
            (
                LocalText("{1} commands to the device are already pending", "デバイスへのコマンドがすでに{1}件待っています"),
                LocalText("try again when some have completed", "応答があってからもう一度お試しください")
            )
        case .commandUnanswered:
            (
                LocalText(
                    "the command did not receive the expected reply within {1}",
                    "コマンドに対する期待どおりの応答が {1} 以内にありませんでした"
                ), nil
            )
        case .commandNotWritten:
            (
                LocalText(
                    "the command was not written: the device does not accept it",
                    "コマンドを書き込めませんでした: デバイスが受け付けません"
                ), nil
            )
        case .commandCut:
            (
                LocalText(
                    "the command was written, but the link ended before the reply",
                    "コマンドは書き込みましたが、応答の前に接続が終了しました"
                ), nil
            )
        case .advertisesOpenly:
            (
                LocalText(
                    "{1} only advertises its values, which anyone can imitate, but more security is required",
                    "{1} は値をアドバタイズするだけなので誰でも偽装できますが、より高いセキュリティが要求されています"
                ),
                LocalText(
                    "to use it anyway: remove `security` from the configuration, and `blewedge use {1} --security none`",
                    "それでも使用する場合: 設定から`security`を削除し、`blewedge use {1} --security none` を実行してください"
                )
            )
        case .noValue:
            (
                LocalText("no value waits for a request", "要求を待っている値はありません"),
                LocalText(
                    "set `type = \"request\"` in the profile, and wait until the device has sent a value",
                    "プロファイルに`type = \"request\"`を設定し、デバイスが値を送るのを待ってください"
                )
            )
        case .commandNotSent:
            (
                LocalText("the link ended before the command was written", "コマンドを書き込む前に接続が終了しました"), nil
            )
        }
    }
}
