// SPDX-License-Identifier: GPL-2.0-or-later

import Control
import Daemon
package import Texts

/// Texts that describe how the lack of a kernel feature affects the user.
extension KernelFeature: Localized {
    package var texts: LocalText {
        switch self {
        case .bluetooth: LocalText("no adapter can be used", "アダプタを使用できません")
        case .management: LocalText("no adapter can be powered on", "アダプタの電源を入れられません")
        case .stopDiscovery:
            LocalText("scans are stopped with the controller's own command", "コントローラのコマンドでスキャンを終了します")
        case .connectionParameters:
            LocalText(
                "connections use the kernel's default timing, which drops weak links sooner",
                "接続はカーネル既定のタイミングになり、弱い接続は早めに切断されます"
            )
        case .connectionInformation:
            LocalText("the signal strength of a connected device is not shown", "接続中のデバイスの電波強度は表示されません")
        case .connections:
            LocalText(
                "an adapter that stops connecting is not restarted automatically",
                "接続できなくなったアダプタの電源を自動では入れ直しません"
            )
        case .pairing:
            LocalText("no device can be paired; unsecured links still work", "ペアリングはできません。保護のない接続は使用できます")
        case .resume:
            LocalText(
                "after sleep, the scan restarts only when nothing has been received for 30 s",
                "スリープ復帰後は、30秒間何も受信しなければスキャンを再開します"
            )
        case .socketDrops:
            LocalText("`status` does not count packets dropped by the kernel", "`status` は、カーネルが破棄したパケットを数えません")
        case .packetDrops:
            LocalText(
                "packets dropped by the kernel are counted, but their place in a line is unknown",
                "カーネルが破棄したパケットは数えますが、行のどこで欠けたかは検出できません"
            )
        case .packetTimes:
            LocalText("captures contain the times at which packets were read", "キャプチャの時刻は、パケットを読み取った時刻になります")
        case .epoll: LocalText("commands that use Bluetooth or wait for events cannot run", "待機を伴うコマンドは実行できません")
        case .timerfd: LocalText("timers use the time-out of epoll_wait", "epoll_waitのタイムアウトで時間を計ります")
        case .eventfd: LocalText("threads wake each other through a pipe", "スレッドはパイプで互いを起こします")
        case .signalfd: LocalText("a handler passes signals on through a pipe", "シグナルはハンドラがパイプで渡します")
        case .inotify:
            LocalText("the file of the selected device is checked every 2 s", "選択のファイルを2秒ごとに確認します")
        case .pidfd:
            LocalText("a thread waits for each started program to exit", "起動したプログラムの終了は、スレッドが待ちます")
        case .systemCallFilter:
            LocalText("the keyboard's system calls are not restricted", "キーボードのシステムコールは制限されません")
        case .uinput: LocalText("no keyboard can be created", "キーボードを作成できません")
        case .evdev:
            LocalText(
                "only text consoles receive the keys, and `verify` cannot be used",
                "テキストコンソールにだけ入力され、`verify` は照合できません"
            )
        case .virtualTerminals:
            LocalText("`gate.vt` and the layout `console` cannot be used", "`gate.vt` とレイアウト `console` は使用できません")
        case .rfkill:
            LocalText(
                "a radio switch that is off cannot be distinguished from a failing adapter",
                "無線を止めるスイッチと、アダプタの障害を区別できません"
            )
        }
    }
}

extension TextTable {
    /// The table of all texts in the program.
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
