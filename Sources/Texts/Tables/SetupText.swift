// SPDX-License-Identifier: GPL-2.0-or-later

/// The messages of setup during its work.
///
/// Its steps are shown as shell commands, which need no language, apart from those that write a file or change its lines.
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

/// The reasons for which setup fails.
package enum SetupFaultText: String, FaultText {
    case notPermitted, noProgram, notRun, failed, denied, readOnly, error

    package var said: (cause: LocalText, remedy: LocalText?) {
        switch self {
        case .notPermitted:
            (
                LocalText(
                    "setup changes the system, and this process may not",
                    "setupはシステムを変更しますが、このプロセスには許可されていません"
                ),
                LocalText(
                    "`sudo blewedge setup`, or look first with `blewedge setup --dry-run`",
                    "`sudo blewedge setup` を実行するか、先に `blewedge setup --dry-run` で確認してください"
                )
            )
        case .noProgram: (LocalText("cannot read {1}: {2}", "{1} を読み取れません: {2}"), nil)
        case .notRun: (LocalText("cannot run `{1}`: {2}", "`{1}` を実行できません: {2}"), nil)
        case .failed:
            (
                LocalText("`{1}` {2}", "`{1}` {2}"),
                LocalText(
                    "what was done before it stays; mend its cause, then run setup again",
                    "それまでの変更はそのままです。原因を取り除いて、もう一度setupを実行してください"
                )
            )
        case .denied:
            (
                LocalText("not permitted to {1} {2}", "{2} の{1}が許可されていません"),
                LocalText("run it as root: `sudo blewedge setup`", "rootで実行してください: `sudo blewedge setup`")
            )
        case .readOnly:
            (
                LocalText("cannot {1} {2}: the disk is read-only", "{2} の{1}に失敗しました: ディスクが読み取り専用です"),
                LocalText("make it writable", "書き込み可能にしてください")
            )
        case .error: (LocalText("cannot {1} {2}: {3}", "{2} の{1}に失敗しました: {3}"), nil)
        }
    }
}
