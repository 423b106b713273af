// SPDX-License-Identifier: GPL-2.0-or-later

/// Remedies that apply in some cases of a fault only, such as a missing permission or a full disk.
package enum RemedyText: String, Localized {
    case resume, bringToFront, ownerOf, rootOrOwnerOf, setRuntimeDirectory, makeRoom, makeWritable, otherPath
    case daemonMayRead, userMayRead, rootOrTTY, nameConsole, installRule

    package var texts: LocalText {
        switch self {
        case .resume: LocalText("`blewedge resume`", "`blewedge resume` で再開します")
        case .bringToFront:
            LocalText(
                "`chvt {1}`, or change gate.vt in the configuration",
                "`chvt {1}` で切り替えるか、設定ファイルのgate.vtを変更してください"
            )
        case .ownerOf: LocalText("run as the owner of {1}", "{1} の所有者として実行してください")
        case .rootOrOwnerOf:
            LocalText("run as root, or as the owner of {1}", "rootまたは {1} の所有者として実行してください")
        case .setRuntimeDirectory:
            LocalText(
                "run as root, or set XDG_RUNTIME_DIR",
                "rootで実行するか、XDG_RUNTIME_DIRを設定してください"
            )
        case .makeRoom: LocalText("make room on that disk", "ディスクの空きを増やしてください")
        case .makeWritable: LocalText("make that disk writable", "ディスクを書き込み可能にしてください")
        case .otherPath:
            LocalText(
                "name another path, or remove what is there",
                "別のパスを指定するか、そこにあるものを削除してください"
            )
        case .daemonMayRead:
            LocalText("let the daemon's user read it", "デーモンのユーザが読み取れるようにしてください")
        case .userMayRead:
            LocalText(
                "let this user read it, or run as root",
                "このユーザが読み取れるようにするか、rootで実行してください"
            )
        case .rootOrTTY:
            LocalText(
                "run as root, or as a member of the group tty on a terminal of its own",
                "rootで実行するか、ttyグループのメンバーとして自分の端末で実行してください"
            )
        case .nameConsole:
            LocalText(
                "name a virtual terminal, such as console:tty1",
                "console:tty1のように仮想端末を指定してください"
            )
        case .installRule:
            LocalText(
                "run as root, or let `sudo blewedge setup` install the udev rule",
                "rootで実行するか、`sudo blewedge setup` でudevのルールをインストールしてください"
            )
        }
    }
}

/// The reasons for the keyboard's state while nothing is wrong.
package enum ReasonText: String, Localized {
    case paused, gateClosed, otherTerminal, noTerminal, closingEarlier, heard, typedAgain, nothingTyped, unanswered
    case pairing

    package var texts: LocalText {
        switch self {
        case .paused: LocalText("paused", "一時停止中")
        case .gateClosed: LocalText("the gate is closed", "入力が停止されています")
        case .otherTerminal:
            LocalText(
                "virtual terminal {1} is in front, not {2}",
                "前面の仮想端末は{1}で、{2}ではありません"
            )
        case .noTerminal:
            LocalText(
                "no virtual terminal is in front, not {1}",
                "前面に仮想端末がありません(必要なのは{1}です)"
            )
        case .closingEarlier:
            LocalText("closing the link to the earlier device", "前回のデバイスとの接続を切断しています")
        case .pairing:
            LocalText("waiting for the end of a pairing", "ペアリングの終了を待っています")
        case .heard: LocalText("heard {1}, connecting", "{1} を受信し、接続しています")
        case .typedAgain: LocalText("what comes is typed again", "受信データの入力を再開しました")
        case .nothingTyped: LocalText("nothing is typed: {1}", "入力しません: {1}")
        case .unanswered: LocalText("no clients are answered: {1}", "クライアントに応答しません: {1}")
        }
    }
}
