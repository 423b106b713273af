// SPDX-License-Identifier: GPL-2.0-or-later

/// Messages in which commands report on their work, as opposed to the data that they output.
package enum LogText: String, Localized {
    // Words that introduce another text.
    case toMend, why, nothingWrong, linkedIn
    // Reports of changes that the daemon has made.
    case chosen, chosenForRun, chosenUnkept, choiceRaised, choiceGarbled, replaceChoice, forgotten, connects,
        disconnected, paused, resumed
    case reloaded, ends, commandWritten, given, useOpenDevice, pairKeyboard, noFilter
    // Messages about scanning.
    case daemonScans, devicesLeftOut, reportsDropped, nothingHeard, noDaemonListening, solicited
    case columnKnown, columnConnected, isChosen, isPaired, connectedOn, isConnected, noKnownDevices
    case columnName, columnAddress, columnSignal, columnHeard, columnServices
    // Messages of a keyboard that runs in the foreground.
    case goesTo, standardOutput, standardInput, keyboardIs, keyboardWithoutNode, captureStopped, linesMissing
    // Messages about a device's attributes, a simulated device, captures, tables and configurations.
    case subscribed, advertising, connected, disconnectedFrom, wanted, unwanted, linesSent, simulated, packetsLeftOut
    case lights, untyped
    case tableCorrect, configurationCorrect, configurationMissing
    // Results of the benchmark.
    case keysPerSecond, memory, disturbed

    package var texts: LocalText {
        switch self {
        case .toMend: LocalText("  fix: {1}", "  対処: {1}")
        case .why: LocalText("  effect: {1}", "  影響: {1}")
        case .nothingWrong: LocalText("no problems found", "問題はありません")
        case .linkedIn:
            LocalText(
                "mbedTLS {1} is statically linked: after its security updates, install a newer blewedge or rebuild it",
                "mbedTLS {1} を静的にリンクしています。セキュリティ更新の後は、新しいblewedgeを導入するか再ビルドしてください"
            )
        case .chosen: LocalText("{1} is selected", "{1} を選択しました")
        case .chosenForRun:
            LocalText("{1} is selected: `blewedge run` connects to it", "{1} を選択しました: `blewedge run` で接続します")
        case .chosenUnkept:
            LocalText("{1} is selected for this run only: {2}", "{1} を今回の実行に限り選択しました: {2}")
        case .choiceRaised:
            LocalText(
                "{1} is the selected device: its links must be {2} from now on",
                "選択中のデバイス {1} には、今後 {2} の接続が必要です"
            )
        case .choiceGarbled:
            LocalText("{1} cannot be parsed; it will be overwritten", "{1} の内容を解釈できないため、書き直します")
        case .replaceChoice:
            LocalText("{1}. Use {2} instead? [y/N] ", "{1}。{2} に切り替えますか? [y/N] ")
        case .noFilter:
            LocalText(
                "this kernel cannot filter system calls: continuing without a filter",
                "このカーネルはシステムコールを制限できません。制限なしで続行します"
            )
        case .useOpenDevice:
            LocalText("{1}. Use it anyway? [y/N] ", "{1}。それでも使用しますか? [y/N] ")
        case .pairKeyboard:
            LocalText("{1}. Pair with it now? [y/N] ", "{1}。今すぐペアリングしますか? [y/N] ")
        case .forgotten:
            LocalText("no device selected: `blewedge use DEVICE`", "選択を解除しました。選択するには: `blewedge use DEVICE`")
        case .connects:
            LocalText(
                "the daemon is connecting: `blewedge status` shows the progress",
                "接続を始めます。状態は `blewedge status` で確認できます"
            )
        case .disconnected:
            LocalText("disconnected: `blewedge connect` reconnects", "切断しました。接続するには: `blewedge connect`")
        case .paused:
            LocalText(
                "paused: received data is discarded until `blewedge resume`",
                "一時停止しました。`blewedge resume` まで受信データは破棄されます"
            )
        case .resumed: LocalText("resumed: received data is typed again", "これ以降の受信データを入力します")
        case .reloaded: LocalText("configuration reloaded", "設定を読み直しました")
        case .ends: LocalText("the daemon is shutting down", "デーモンを終了します")
        case .commandWritten: LocalText("command written", "コマンドを書き込みました")
        case .given:
            LocalText(
                "{1} is typing now; this instance is paused until `blewedge resume`",
                "これからは {1} が入力します。このインスタンスは `blewedge resume` まで一時停止します"
            )
        case .daemonScans:
            LocalText("scanning through the daemon, which is using the adapter", "アダプタを使用しているデーモンがスキャンします")
        case .devicesLeftOut:
            LocalText("{1} devices are not listed: the response was full", "デバイス{1}台は一覧に入りきらないため省略しました")
        case .reportsDropped:
            LocalText(
                "{1} advertising reports were dropped: this machine was too busy",
                "アドバタイズの通知{1}件を取りこぼしました: このマシンの負荷が高すぎます"
            )
        case .solicited: LocalText("{1} (solicited)", "{1} (要求)")
        case .nothingHeard: LocalText("(nothing received yet)", "(まだ何も受信していません)")
        case .keysPerSecond: LocalText("{1}: {2} keys per second", "{1}: 毎秒{2}キー")
        case .memory:
            LocalText("process memory: {1} MB (Pss), peak {2} MB", "このプロセスのメモリ: {1} MB (Pss)、最大 {2} MB")
        case .disturbed:
            LocalText(
                "disturbed: other programs ran during {1} of {2} repetitions; repeat on an idle machine",
                "{2}回の測定のうち{1}回でほかのプログラムが動いていました。空いているときに測定し直してください"
            )
        case .noDaemonListening:
            LocalText("no daemon is running: scanning for {1}", "デーモンが動いていないため、{1} を直接探しています")
        case .columnName: LocalText("NAME", "名前")
        case .columnAddress: LocalText("ADDRESS", "アドレス")
        case .columnKnown: LocalText("KNOWN", "記録")
        case .columnConnected: LocalText("CONNECTED", "接続中")
        case .isChosen: LocalText("selected", "選択中")
        case .isPaired: LocalText("paired", "ペアリング済み")
        case .connectedOn: LocalText("last connected on {1}", "最終接続日 {1}")
        case .isConnected: LocalText("yes", "はい")
        case .noKnownDevices:
            LocalText(
                "no known devices: none was selected, paired or connected",
                "まだ記録がありません。選択、ペアリング、接続のいずれかを行ったデバイスはありません"
            )
        case .columnSignal: LocalText("RSSI", "RSSI")
        case .columnHeard: LocalText("LAST HEARD", "最終受信時刻")
        case .columnServices: LocalText("SERVICES", "サービス")
        case .goesTo: LocalText("received data goes to {1}", "受信データの出力先: {1}")
        case .standardOutput: LocalText("standard output", "標準出力")
        case .standardInput: LocalText("standard input", "標準入力")
        case .keyboardIs: LocalText("the keyboard is {1}", "キーボード: {1}")
        case .keyboardWithoutNode:
            LocalText(
                "keyboard created, but the kernel has no evdev: `modprobe evdev`",
                "キーボードを作成しましたが、カーネルにevdevがありません: `modprobe evdev`"
            )
        case .captureStopped: LocalText("the capture stopped: {1}", "キャプチャを停止しました: {1}")
        case .linesMissing:
            LocalText("{1} lines omitted here: the output was read too slowly", "ここで{1}行を省略しました: 読み取りが間に合いませんでした")
        case .subscribed: LocalText("subscribed to {1}", "{1} の通知を有効にしました")
        case .advertising: LocalText("advertising as {1} on {2}", "{2} で {1} としてアドバタイズしています")
        case .connected: LocalText("connected to {1}", "{1} と接続しました")
        case .disconnectedFrom: LocalText("{1} disconnected: {2}", "{1} が切断しました: {2}")
        case .wanted: LocalText("notifications enabled", "通知が有効になりました")
        case .unwanted: LocalText("notifications disabled", "通知が無効になりました")
        case .linesSent: LocalText("all lines sent; press Ctrl-C to quit", "すべての行を送信しました。Ctrl-Cで終了します")
        case .simulated:
            LocalText(
                "sent {1} lines, {2} bytes in {3} notifications; received {4} bytes in {5} writes",
                "送信: {1}行、{2}バイト(通知{3}回)、受信: {4}バイト(書き込み{5}回)"
            )
        case .lights: LocalText("LEDs: {1}", "キーボードのLED: {1}")
        case .untyped:
            LocalText(
                "{1} characters were omitted, because a US keyboard has no keys for them",
                "USキーボードにキーがない{1}文字を除きました"
            )
        case .packetsLeftOut:
            LocalText("{1} malformed packets were skipped", "解釈できないパケット{1}個を除きました")
        case .tableCorrect:
            LocalText(
                "{1}: valid; of 256 byte values, {2} are typed, {3} rejected, {4} discarded with layout {5}",
                "{1}: 正常です。256バイト中、入力{2}、拒否{3}、破棄{4}(配列 {5})"
            )
        case .configurationCorrect:
            LocalText("{1}: valid; profile {2}, layout {3}, pace {4}", "{1}: 正常です。プロファイル {2}、配列 {3}、入力間隔 {4}")
        case .configurationMissing:
            LocalText(
                "{1}: not found, using defaults; profile {2}, layout {3}, pace {4}",
                "{1}: ファイルがないため、すべて既定値です。プロファイル {2}、配列 {3}、入力間隔 {4}"
            )
        }
    }
}

package enum HookText: String, Localized {
    case failed, notRun, tooLong, exited, killed, unread

    package var texts: LocalText {
        switch self {
        case .failed:
            LocalText("the hook {1} {2}; further failures of this kind are not reported", "フック {1} {2}。同様の問題は以後報告しません")
        case .notRun: LocalText("cannot be run: {1}", "を実行できません: {1}")
        case .tooLong: LocalText("was stopped after {1} s", "を{1}秒後に終了させました")
        case .exited: LocalText("exited with status {1}", "が終了コード{1}で終了しました")
        case .unread:
            LocalText("left {1} barcodes on standard input unread", "が標準入力からバーコード{1}件を読み取りませんでした")
        case .killed: LocalText("was killed by signal {1}", "がシグナル{1}で終了しました")
        }
    }
}
