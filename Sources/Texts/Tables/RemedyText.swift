// SPDX-License-Identifier: GPL-2.0-or-later

/// Remedies for particular causes of a fault, such as a missing permission or a full disk.
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
        case .makeRoom: LocalText("free some space on that disk", "ディスクの空きを増やしてください")
        case .makeWritable: LocalText("make that disk writable", "ディスクを書き込み可能にしてください")
        case .otherPath:
            LocalText("use another path, or remove the existing file", "別のパスを指定するか、そこにあるものを削除してください")
        case .daemonMayRead:
            LocalText("make it readable by the daemon's user", "デーモンのユーザが読み取れるようにしてください")
        case .userMayRead:
            LocalText("make it readable by this user, or run as root", "このユーザが読み取れるようにするか、rootで実行してください")
        case .rootOrTTY:
            LocalText(
                "run as root, or as a member of the tty group on its own terminal",
                "rootで実行するか、ttyグループのメンバーとして自分の端末で実行してください"
            )
        case .nameConsole:
            LocalText("specify a virtual terminal, such as console:tty1", "console:tty1のように仮想端末を指定してください")
        case .installRule:
            LocalText(
                "run as root, or install the udev rule with `sudo blewedge setup`",
                "rootで実行するか、`sudo blewedge setup` でudevのルールをインストールしてください"
            )
        }
    }
}

/// Reasons for those states of the keyboard that occur in normal operation.
package enum ReasonText: String, Localized {
    case paused, gateClosed, otherTerminal, noTerminal, closingEarlier, heard, typedAgain, nothingTyped, unanswered
    case pairing

    package var texts: LocalText {
        switch self {
        case .paused: LocalText("paused", "一時停止中")
        case .gateClosed: LocalText("the gate is closed", "入力が停止されています")
        case .otherTerminal:
            LocalText("virtual terminal {1} is in the foreground, not {2}", "前面の仮想端末は{1}で、{2}ではありません")
        case .noTerminal:
            LocalText("no virtual terminal is in the foreground; {1} is required", "前面に仮想端末がありません(必要なのは{1}です)")
        case .closingEarlier:
            LocalText("closing the link to the previous device", "前回のデバイスとの接続を切断しています")
        case .pairing:
            LocalText("waiting for a pairing to finish", "ペアリングの終了を待っています")
        case .heard: LocalText("found {1}, connecting", "{1} を受信し、接続しています")
        case .typedAgain: LocalText("typing resumed", "受信データの入力を再開しました")
        case .nothingTyped: LocalText("not typing: {1}", "入力しません: {1}")
        case .unanswered: LocalText("not serving clients: {1}", "クライアントに応答しません: {1}")
        }
    }
}

/// Messages that setup prints while it works.
///
/// The steps of setup are shown as shell commands, which need no translation, except those that write a file or change
/// its lines.
package enum SetupText: String, Localized {
    case nothingToDo, next, noManager, packaged, shadowing, packageStays
    case write, writeAnew, addLines, removeLines, toWrite, toRemove, toMake, toGiveBack, exited, killed

    package var texts: LocalText {
        switch self {
        case .nothingToDo: LocalText("nothing to do", "変更の必要はありません")
        case .next: LocalText("next: {1}", "次の手順: {1}")
        case .noManager:
            LocalText(
                "no known service manager (systemd, OpenRC, runit, /etc/inittab) was found: start `blewedge run --user blewedge` as root at boot",
                "systemd、OpenRC、runit、/etc/inittabを読むinitのいずれもありません。サービスを起動する仕組みから、rootとして `blewedge run --user blewedge` を起動するようにしてください"
            )
        case .packaged:
            LocalText(
                "the service was installed by a package, which also provides its files, user and manual",
                "サービスはパッケージでインストールされています。ファイル、ユーザー、マニュアルはパッケージのものを使います"
            )
        case .shadowing:
            LocalText(
                "files from an earlier setup override those of the package: `sudo blewedge setup --remove` removes them",
                "以前のsetupのファイルがパッケージより優先されています。`sudo blewedge setup --remove` で削除できます"
            )
        case .packageStays:
            LocalText(
                "the package itself is kept: `apt remove blewedge` removes it",
                "パッケージでインストールしたものはそのままです。`apt remove blewedge` で削除できます"
            )
        case .write: LocalText("write {1}", "書き込み {1}")
        case .writeAnew: LocalText("rewrite {1}", "書き直し {1}")
        case .addLines: LocalText("add to {1}:", "{1} に追加:")
        case .removeLines: LocalText("remove blewedge's lines from {1}", "{1} からblewedgeの行を取り除く")
        case .toWrite: LocalText("write", "書き込み")
        case .toRemove: LocalText("remove", "削除")
        case .toMake: LocalText("create", "作成")
        case .toGiveBack: LocalText("restore", "返却")
        case .exited: LocalText("exited with status {1}", "が終了コード{1}で終了しました")
        case .killed: LocalText("was killed by signal {1}", "がシグナル{1}で終了しました")
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
                "setup changes the system, which requires root",
                "setupはシステムを変更しますが、このプロセスには許可されていません",
                fix: "run `sudo blewedge setup`, or preview the changes with `blewedge setup --dry-run`",
                "`sudo blewedge setup` を実行するか、先に `blewedge setup --dry-run` で確認してください"
            )
        case .noProgram: cause("cannot read {1}: {2}", "{1} を読み取れません: {2}")
        case .notRun: cause("cannot run `{1}`: {2}", "`{1}` を実行できません: {2}")
        case .failed:
            cause(
                "`{1}` {2}",
                "`{1}` {2}",
                fix: "earlier changes are kept; fix the cause, then run setup again",
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
