// SPDX-License-Identifier: GPL-2.0-or-later

/// Failures of commands, except those that concern the keyboard, the daemon and the files.
package enum CommandFaultText: String, FaultText {
    // Errors in the command line.
    case noCommand, noCommandBut, useWantsDevice, deviceWanted, incomplete, outputTaken, gateRange, endWanted,
        rawWantsEnd, tooManyEnds, optionWantsScan
    case optionFault, stall, noHook, nameTooLong, nameDoesNotFit, pagesWantTerminal
    // Failures to select a device.
    case chosenAlready, notChosen, notConnected
    // Failures of the operating system or its configuration.
    case noUser, userWantsRoot, userNotTaken, systemCall, noLoop, noOutput, unreadable, noHelp, noProc, searchEnded
    // Failures of traffic captures.
    case captureNotPermitted, noCapture, captureIsLink, captureNotMade, noMonitor, captureFull, captureNotWritten
    case captureCut
    // Failures to read or write a device's attributes.
    case wantsPairing, wantsNoResponse, ambiguous, missing, tooFewValues, procedure
    // Failures of the demo, of the simulation and of the measurement.
    case demoName, demoTime, demoWrong, simulation, oneProcessor, measurement, unlike, noKeyboard, nodeNotHeld
    case keyboardFailed

    package var said: (cause: LocalText, remedy: LocalText?) {
        switch self {
        case .noCommand:
            cause(
                "unknown command {1}",
                "コマンド {1} はありません",
                fix: "`{2} --help` lists the commands",
                "一覧は `{2} --help` で確認できます"
            )
        case .noCommandBut:
            cause(
                "unknown command {1}; did you mean `{2} {3}`?",
                "コマンド {1} はありません。`{2} {3}` のことですか?",
                fix: "`{2} --help` lists the commands",
                "一覧は `{2} --help` で確認できます"
            )
        case .useWantsDevice: cause("use requires a name or an address", "useには名前またはアドレスが必要です")
        case .deviceWanted: cause("--device requires a name or an address", "--deviceには名前またはアドレスが必要です")
        case .incomplete: cause("the command line is incomplete", "コマンドラインが不完全です")
        case .outputTaken:
            cause(
                "standard output carries the received data: omit --json and --events",
                "標準出力には受信データが流れます: --jsonと--eventsは指定しないでください"
            )
        case .gateRange: cause("--gate-vt requires a number from 1 to 63", "--gate-vtには1から63までの数が必要です")
        case .endWanted: cause("--to requires {1}, with an absolute path", "--toには {1} のいずれかが必要です(パスは/から指定します)")
        case .tooManyEnds:
            cause("--to accepts at most {1} outputs, each once", "--toに指定できる接続先は重複なしで{1}個までです")
        case .rawWantsEnd:
            cause(
                "raw bytes require an output other than the keyboard, such as --to stdout",
                "データをそのまま渡すには、--to stdoutのようにキーボード以外の接続先が必要です"
            )
        case .optionWantsScan: cause("{1} requires --scan", "{1} には--scanが必要です")
        case .optionFault: cause("{1}: {2}", "{1}: {2}")
        case .stall: cause("--stall, with --pace {1}: {2}", "--stall(--pace {1} の場合): {2}")
        case .noHook:
            cause(
                "{1} {2} is not an executable program",
                "{1} {2} は実行できるプログラムではありません",
                fix: "specify one executable file; to pass arguments, use a two-line script",
                "実行可能なファイルを一つ指定してください。引数が必要なら2行のスクリプトを使用します"
            )
        case .nameTooLong: cause("the name is too long", "名前が長すぎます", fix: Self.shorterName)
        case .nameDoesNotFit: cause("{1}", "名前が収まりません: {1}", fix: Self.shorterName)
        case .pagesWantTerminal:
            cause(
                "the pages require a terminal: {1}",
                "画面の表示には端末が必要です: {1}",
                fix: "programs can use `blewedge status --json` and `blewedge events`",
                "プログラムからは `blewedge status --json` と `blewedge events` を使用してください"
            )
        case .chosenAlready:
            cause(
                "{1} is already selected",
                "すでに {1} が選択済みです",
                fix: "add `--yes` to replace it, or run `blewedge forget` first",
                "切り替えるには `--yes` を付けるか、先に `blewedge forget` で選択を解除してください"
            )
        case .notChosen: cause("cancelled: nothing was changed", "変更しませんでした")
        case .notConnected: cause("cancelled: not connected", "接続しませんでした")
        case .noUser:
            cause(
                "there is no user {1}",
                "ユーザ {1} はいません",
                fix: "`sudo blewedge setup` creates the user blewedge",
                "`sudo blewedge setup` がユーザblewedgeを作成します"
            )
        case .userWantsRoot:
            cause(
                "only root can switch to user {1}",
                "別のユーザ {1} になれるのはrootだけです",
                fix: "start it as root, or without --user",
                "rootとして実行するか、--userを外してください"
            )
        case .userNotTaken: cause("cannot run as user {1}: {2}", "ユーザ {1} として動作できません: {2}")
        case .systemCall: cause("a system call failed: {1}", "システムコールに失敗しました: {1}")
        case .noLoop:
            cause(
                "cannot create an event loop: {1}",
                "イベントループを作成できません: {1}",
                fix: "raise the open file limit (`ulimit -n`), or use a kernel built with CONFIG_EPOLL",
                "開けるファイル数の上限(`ulimit -n`)を上げるか、CONFIG_EPOLLを有効にしたカーネルを使用してください"
            )
        case .noOutput: cause("cannot write to standard output: {1}", "標準出力に書き込めません: {1}")
        case .unreadable: cause("cannot read {1}: {2}", "{1} を読み取れません: {2}")
        case .noHelp: cause("cannot read the help: {1}", "ヘルプを読み取れません: {1}")
        case .noProc:
            cause(
                "/proc is not mounted",
                "/procがマウントされていません",
                fix: "`mount -t proc proc /proc`",
                "`mount -t proc proc /proc` を実行してください"
            )
        case .searchEnded: cause("the search ended without a result", "デバイスの探索が結果なしで終了しました")
        case .captureNotPermitted:
            cause(
                "not permitted to create {1}",
                "{1} の作成が許可されていません",
                fix: "specify a file in a directory that you own",
                "自分のフォルダの中のファイルを指定してください"
            )
        case .noCapture:
            cause(
                "{1} already exists and is not a capture",
                "{1} はすでにあり、キャプチャファイルではありません",
                fix: "specify another file",
                "別のファイルを指定してください"
            )
        case .captureIsLink:
            cause("{1} is a symbolic link", "{1} はシンボリックリンクです", fix: "specify the file itself", "ファイルそのものを指定してください")
        case .captureNotMade: cause("cannot create {1}: {2}", "{1} を作成できません: {2}")
        case .noMonitor: cause("cannot listen to the kernel's Bluetooth monitor: {1}", "カーネルのBluetoothモニタを受信できません: {1}")
        case .captureFull: cause("{1} has reached its maximum size", "{1} が最大の長さに達しました")
        case .captureNotWritten: cause("cannot write to {1}: {2}", "{1} に書き込めません: {2}")
        case .captureCut: cause("{1} is not a complete capture: {2}", "{1} は完全なキャプチャファイルではありません: {2}")
        case .wantsPairing:
            cause(
                "{1}",
                "デバイスが拒否しました: {1}",
                fix: "the device may require pairing: `blewedge pair`, then try again",
                "ペアリングが必要なデバイスかもしれません。`blewedge pair` の後、もう一度お試しください"
            )
        case .wantsNoResponse:
            cause(
                "{1}",
                "デバイスが拒否しました: {1}",
                fix: "the characteristic may support only --no-response",
                "キャラクタリスティックが--no-responseだけに対応している可能性があります"
            )
        case .ambiguous:
            cause(
                "the device has several attributes {1}: {2}",
                "デバイスにアトリビュート {1} が複数あります: {2}",
                fix: "specify one by its handle",
                "ハンドルで指定してください"
            )
        case .missing:
            cause(
                "the device has no attribute {1}",
                "デバイスにアトリビュート {1} がありません",
                fix: "`blewedge gatt` without an action lists all attributes",
                "操作を指定せずに `blewedge gatt` を実行すると一覧を表示します"
            )
        case .tooFewValues: cause("only {1} values were received in time", "時間内に受信した値は{1}個でした")
        case .procedure: cause("{1}", "失敗しました: {1}")
        case .demoName: cause("the demo's own name is invalid", "デモの名前が正しくありません")
        case .demoTime: cause("the demo did not end within {1} s", "デモが{1}秒以内に終わりませんでした")
        case .demoWrong:
            cause(
                "a barcode was not typed correctly, or the byte counts do not add up",
                "正しく入力されなかったバーコードがあるか、バイト数の合計が一致しません"
            )
        case .simulation: cause("{1}", "シミュレーションに失敗しました: {1}")
        case .oneProcessor:
            cause(
                "two processors are required, but this process can use only one",
                "プロセッサが2個必要ですが、このプロセスが使用できるのは1個だけです"
            )
        case .measurement: cause("{1}", "測定に失敗しました: {1}")
        case .unlike:
            cause("the output differs from that of the C version: nothing was measured", "C版と入力結果が異なるため、測定しませんでした")
        case .noKeyboard:
            cause(
                "cannot create a keyboard: {1}: {2}",
                "キーボードを作成できませんでした: {1}: {2}",
                fix: "load the module (modprobe uinput), and run as a user with write permission",
                "モジュールを読み込み(modprobe uinput)、書き込みが許可されたユーザとして実行してください"
            )
        case .nodeNotHeld:
            cause(
                "cannot grab the keyboard's event node {1}: {2}; nothing was typed",
                "キーボードのイベントノード {1} を占有できません: {2}。何も入力していません",
                fix: "run as root, or as a member of the input group",
                "rootまたはinputグループのメンバーとして実行してください"
            )
        case .keyboardFailed: cause("the keyboard failed: {1}", "キーボードに障害が発生しました: {1}")
        }
    }

    private static let shorterName = LocalText("choose a shorter --name", "より短い--nameを指定してください")
}
