// SPDX-License-Identifier: GPL-2.0-or-later

/// Remedies for particular causes of a fault only, such as a missing permission or a full disk.
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
            LocalText("run as root, or set XDG_RUNTIME_DIR", "rootで実行するか、XDG_RUNTIME_DIRを設定してください")
        case .makeRoom: LocalText("make room on that disk", "ディスクの空きを増やしてください")
        case .makeWritable: LocalText("make that disk writable", "ディスクを書き込み可能にしてください")
        case .otherPath:
            LocalText("name another path, or remove what is there", "別のパスを指定するか、そこにあるものを削除してください")
        case .daemonMayRead:
            LocalText("let the daemon's user read it", "デーモンのユーザが読み取れるようにしてください")
        case .userMayRead:
            LocalText("let this user read it, or run as root", "このユーザが読み取れるようにするか、rootで実行してください")
        case .rootOrTTY:
            LocalText(
                "run as root, or as a member of the group tty on a terminal of its own",
                "rootで実行するか、ttyグループのメンバーとして自分の端末で実行してください"
            )
        case .nameConsole:
            LocalText("name a virtual terminal, such as console:tty1", "console:tty1のように仮想端末を指定してください")
        case .installRule:
            LocalText(
                "run as root, or let `sudo blewedge setup` install the udev rule",
                "rootで実行するか、`sudo blewedge setup` でudevのルールをインストールしてください"
            )
        }
    }
}

/// Reasons for the keyboard's state in normal operation.
package enum ReasonText: String, Localized {
    case paused, gateClosed, otherTerminal, noTerminal, closingEarlier, heard, typedAgain, nothingTyped, unanswered
    case pairing

    package var texts: LocalText {
        switch self {
        case .paused: LocalText("paused", "一時停止中")
        case .gateClosed: LocalText("the gate is closed", "入力が停止されています")
        case .otherTerminal:
            LocalText("virtual terminal {1} is in front, not {2}", "前面の仮想端末は{1}で、{2}ではありません")
        case .noTerminal:
            LocalText("no virtual terminal is in front, not {1}", "前面に仮想端末がありません(必要なのは{1}です)")
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

/// Messages of setup during its work.
///
/// Its steps are shown as shell commands, which need no translation, except for those that write a file or change its
/// lines.
package enum SetupText: String, Localized {
    case nothingToDo, next, noManager, packaged, shadowing, packageStays
    case write, writeAnew, addLines, removeLines, toWrite, toRemove, toMake, toGiveBack, exited, killed

    package var texts: LocalText {
        switch self {
        case .nothingToDo: LocalText("nothing to do", "変更の必要はありません")
        case .next: LocalText("next: {1}", "次の手順: {1}")
        case .noManager:
            LocalText(
                "here is neither systemd, OpenRC nor runit, nor an init that reads /etc/inittab: have `blewedge run --user blewedge` started, as root, by what starts services",
                "systemd、OpenRC、runit、/etc/inittabを読むinitのいずれもありません。サービスを起動する仕組みから、rootとして `blewedge run --user blewedge` を起動するようにしてください"
            )
        case .packaged:
            LocalText(
                "a package has installed the service: its files, its user and its help are the package's",
                "サービスはパッケージでインストールされています。ファイル、ユーザー、マニュアルはパッケージのものを使います"
            )
        case .shadowing:
            LocalText(
                "files of an earlier setup come before the package's: `sudo blewedge setup --remove` removes them",
                "以前のsetupのファイルがパッケージより優先されています。`sudo blewedge setup --remove` で削除できます"
            )
        case .packageStays:
            LocalText(
                "what the package has installed stays: `apt remove blewedge` removes it",
                "パッケージでインストールしたものはそのままです。`apt remove blewedge` で削除できます"
            )
        case .write: LocalText("write {1}", "書き込み {1}")
        case .writeAnew: LocalText("write {1} anew", "書き直し {1}")
        case .addLines: LocalText("add to {1}:", "{1} に追加:")
        case .removeLines: LocalText("take blewedge's lines out of {1}", "{1} からblewedgeの行を取り除く")
        case .toWrite: LocalText("write", "書き込み")
        case .toRemove: LocalText("remove", "削除")
        case .toMake: LocalText("make", "作成")
        case .toGiveBack: LocalText("give back", "返却")
        case .exited: LocalText("ended with {1}", "が終了コード{1}で終了しました")
        case .killed: LocalText("was ended by signal {1}", "がシグナル{1}で終了しました")
        }
    }
}

/// Reasons why setup fails.
package enum SetupFaultText: String, FaultText {
    case notPermitted, noProgram, notRun, failed, denied, readOnly, error

    package var said: (cause: LocalText, remedy: LocalText?) {
        switch self {
        case .notPermitted:
            cause(
                "setup changes the system, and this process may not",
                "setupはシステムを変更しますが、このプロセスには許可されていません",
                fix: "`sudo blewedge setup`, or look first with `blewedge setup --dry-run`",
                "`sudo blewedge setup` を実行するか、先に `blewedge setup --dry-run` で確認してください"
            )
        case .noProgram: cause("cannot read {1}: {2}", "{1} を読み取れません: {2}")
        case .notRun: cause("cannot run `{1}`: {2}", "`{1}` を実行できません: {2}")
        case .failed:
            cause(
                "`{1}` {2}",
                "`{1}` {2}",
                fix: "what was done before it stays; mend its cause, then run setup again",
                "それまでの変更はそのままです。原因を取り除いて、もう一度setupを実行してください"
            )
        case .denied:
            cause(
                "not permitted to {1} {2}",
                "{2} の{1}が許可されていません",
                fix: "run it as root: `sudo blewedge setup`",
                "rootで実行してください: `sudo blewedge setup`"
            )
        case .readOnly:
            cause(
                "cannot {1} {2}: the disk is read-only",
                "{2} の{1}に失敗しました: ディスクが読み取り専用です",
                fix: "make it writable",
                "書き込み可能にしてください"
            )
        case .error: cause("cannot {1} {2}: {3}", "{2} の{1}に失敗しました: {3}")
        }
    }
}
