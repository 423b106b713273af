// SPDX-License-Identifier: GPL-2.0-or-later

import Control
import Daemon
package import Texts

/// Effects of the feature's absence from the kernel.
extension KernelFeature: Localized {
    package var texts: LocalText {
        switch self {
        case .bluetooth: LocalText("no adapter can be used", "アダプタを使用できません")
        case .management: LocalText("no adapter can be switched on", "アダプタの電源を入れられません")
        case .stopDiscovery:
            LocalText("a scan is ended by the controller's own command", "コントローラのコマンドでスキャンを終了します")
        case .connectionParameters:
            LocalText(
                "connections have the kernel's own timing, which gives a weak link up sooner",
                "接続はカーネル既定のタイミングになり、弱い接続は早めに切断されます"
            )
        case .connectionInformation:
            LocalText("the signal strength of a connected device is not shown", "接続中のデバイスの電波強度は表示されません")
        case .connections:
            LocalText(
                "an adapter that no longer connects is not switched off and on by itself",
                "接続できなくなったアダプタの電源を自動では入れ直しません"
            )
        case .pairing:
            LocalText("no device can be paired; links without security work", "ペアリングはできません。保護のない接続は使用できます")
        case .resume:
            LocalText(
                "after the machine has slept, a scan is begun again once nothing was heard for 30 s",
                "スリープ復帰後は、30秒間何も受信しなければスキャンを再開します"
            )
        case .socketDrops:
            LocalText("`status` does not count what the kernel has dropped", "`status` は、カーネルが破棄したパケットを数えません")
        case .packetDrops:
            LocalText(
                "what the kernel has dropped is counted, and not noticed where it is missing in a line",
                "カーネルが破棄したパケットは数えますが、行のどこで欠けたかは検出できません"
            )
        case .packetTimes:
            LocalText("a capture has the times at which packets were read", "キャプチャの時刻は、パケットを読み取った時刻になります")
        case .epoll: LocalText("no command that waits can run", "待機を伴うコマンドは実行できません")
        case .timerfd: LocalText("epoll_wait's time-out keeps the time", "epoll_waitのタイムアウトで時間を計ります")
        case .eventfd: LocalText("threads wake each other by a pipe", "スレッドはパイプで互いを起こします")
        case .signalfd: LocalText("a handler passes signals on by a pipe", "シグナルはハンドラがパイプで渡します")
        case .inotify:
            LocalText("the file of the choice is looked at every 2 s", "選択のファイルを2秒ごとに確認します")
        case .pidfd:
            LocalText("a thread waits for the end of each program that is started", "起動したプログラムの終了は、スレッドが待ちます")
        case .systemCallFilter:
            LocalText("the keyboard refuses itself no system calls", "キーボードのシステムコールは制限されません")
        case .uinput: LocalText("no keyboard can be made", "キーボードを作成できません")
        case .evdev:
            LocalText(
                "only text consoles get the keys, and `verify` has nothing to read",
                "テキストコンソールにだけ入力され、`verify` は照合できません"
            )
        case .virtualTerminals:
            LocalText("`gate.vt` and the layout `console` are refused", "`gate.vt` とレイアウト `console` は使用できません")
        case .rfkill:
            LocalText(
                "a switch that silences the radio cannot be told from an adapter that fails",
                "無線を止めるスイッチと、アダプタの障害を区別できません"
            )
        }
    }
}

extension TextTable {
    /// The table of all texts of the program.
    package static let whole =
        daemon + TextTable([FindingPartText.self, Finding.Severity.self, KernelFeature.self])
        + TextTable(
            "Finding.Cause",
            Finding.Cause.allCases.map { cause in
                let text = cause.text
                return Entry(
                    id: "Finding.\(cause)",
                    texts: [("what", text.what), ("why", text.why), ("remedy", text.remedy)].map {
                        ("Finding.\(cause).\($0)", $1)
                    }
                )
            }
        )
}
