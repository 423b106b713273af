// SPDX-License-Identifier: GPL-2.0-or-later

/// Failures in the communication between the daemon and its clients, and requests that the daemon refuses.
package enum ControlFaultText: String, FaultText {
    // Failures of the daemon.
    case taken, takenBy, noDirectory, notPermittedToMake, pathTooLong, notMade, tooManyClients, ending
    case readingOnly, faultyRequest, fixedDevice, nothingChosen, noConfiguration, noRuntimeDirectory
    case deviceWanted, unknownDevice, usedByOther, fixedInTable
    // Failures of a client.
    case noDaemon, notPermittedToOpen, noMoreClients, noPath, unreachable, tooLong, closed, otherVersion
    case noJSON, answerTooLong, cannotWait, ended, cannotRead, cannotAsk, noAnswer, refusedWithoutWord, unknownState
    // Failures that another instance of the program causes.
    case noInstance, sameInstance, otherRefuses, gateStaysClosed

    package var said: (cause: LocalText, remedy: LocalText?) {
        switch self {
        case .taken:
            cause(
                "a daemon is already listening at {1}, or it is not a socket",
                "{1} ではすでにデーモンが応答しているか、そこにあるものがソケットではありません",
                fix: "use it (`blewedge status`), stop it (`blewedge stop`), or remove the file",
                "それを使用するか(`blewedge status`)、終了するか(`blewedge stop`)、ファイルを削除してください"
            )
        case .takenBy:
            cause(
                "a daemon is already running: process {2} is listening at {1}",
                "デーモンはすでに動いています: プロセス{2}が {1} で応答しています",
                fix: "use it (`blewedge status`), or stop it (`blewedge stop`)",
                "それを使用するか(`blewedge status`)、終了してください(`blewedge stop`)"
            )
        case .noDirectory:
            cause(
                "the directory for the control socket {1} does not exist",
                "制御ソケット {1} のディレクトリがありません",
                fix: "create it: `mkdir -p {2}`",
                "作成してください: `mkdir -p {2}`"
            )
        case .notPermittedToMake:
            cause(
                "not permitted to create the control socket {1}",
                "制御ソケット {1} の作成が許可されていません",
                fix: "run as the owner of {2}",
                "{2} の所有者として実行してください"
            )
        case .pathTooLong:
            cause(
                "{1} is too long for a socket path: at most 107 bytes",
                "{1} はソケットのアドレスとして長すぎます: 107バイトまでです",
                fix: "choose a shorter runtime directory",
                "より短い実行時ディレクトリを選んでください"
            )
        case .notMade: cause("cannot create the control socket {1}: {2}", "制御ソケット {1} を作成できません: {2}")
        case .tooManyClients:
            cause(
                "too many clients are connected: {1}",
                "接続しているクライアントが多すぎます: {1}",
                fix: "close a client that follows events, or try again in 10 s",
                "イベントを受信中のものを終了するか、10秒後にもう一度お試しください"
            )
        case .ending: cause("the daemon is shutting down", "デーモンは終了処理中です")
        case .readingOnly:
            cause(
                "user {1} has read-only access",
                "ユーザ {1} に許可されているのは読み取りだけで、変更はできません",
                fix: "run as root, or as user {2}, who runs the daemon",
                "rootまたはデーモンを実行しているユーザ {2} として実行してください"
            )
        case .faultyRequest: cause("{1}", "要求に誤りがあります: {1}")
        case .fixedDevice:
            cause(
                "this daemon was started for {1} with --device",
                "このデーモンは--deviceで {1} 専用に起動されています",
                fix: "start it without --device to follow `blewedge use`",
                "指定せずに起動すると `blewedge use` に従います"
            )
        case .nothingChosen:
            cause(
                "no device selected",
                "デバイスが選択されていません",
                fix: "`blewedge use DEVICE`",
                "`blewedge use DEVICE` で選択してください"
            )
        case .deviceWanted:
            cause(
                "there are several devices: {1}",
                "複数のデバイスがあります: {1}",
                fix: "add `--device NAME`, or `--as NAME` with `use`",
                "`--device NAME` を付けるか、`--as NAME` を `use` に付けてください"
            )
        case .unknownDevice:
            cause(
                "no device {1} in the configuration; configured devices: {2}",
                "設定に {1} という名前のデバイスはありません。あるもの: {2}",
                fix: "add a table `[[device]]` with this name to the configuration",
                "この名前の表 `[[device]]` を設定に追加してください"
            )
        case .fixedInTable:
            cause(
                "the configuration fixes device {2} to {1}",
                "設定で {2} は {1} に固定されています",
                fix: "remove `device` from its table to select it with `blewedge use`",
                "表から `device` を削除すると `blewedge use` で選択できます"
            )
        case .usedByOther:
            cause(
                "{1} is already selected as {2}",
                "{1} はすでに {2} として選択されています",
                fix: "select another device",
                "別のデバイスを選択してください"
            )
        case .noConfiguration: cause("this daemon has no configuration to reload", "このデーモンには読み直す設定がありません")
        case .noRuntimeDirectory: cause("cannot create {1}: {2}", "{1} を作成できません: {2}")
        case .noDaemon:
            cause(
                "no daemon is running",
                "デーモンが動いていません",
                fix:
                    "if it is a service: `systemctl start blewedge`; otherwise `sudo blewedge setup` or `blewedge run`",
                "サービスの場合は `systemctl start blewedge`、それ以外は `sudo blewedge setup` か `blewedge run` を実行してください"
            )
        case .notPermittedToOpen:
            cause(
                "not permitted to open {1}",
                "{1} を開くことが許可されていません",
                fix: "run as root, or join the socket's group: `usermod -aG blewedge $USER`, then log in again",
                "rootで実行するか、ソケットのグループに加わり(`usermod -aG blewedge $USER`)、ログインし直してください"
            )
        case .noMoreClients:
            cause(
                "the daemon at {1} accepts no more clients",
                "{1} のデーモンはこれ以上クライアントを受け付けません",
                fix: "try again; if this persists, the daemon is stuck: see `blewedge doctor`",
                "もう一度お試しください。続く場合はデーモンが停止しています。`blewedge doctor` で確認してください"
            )
        case .noPath: cause("{1} is not a socket path: 1 to 107 bytes", "{1} はソケットのパスではありません: 1〜107バイトです")
        case .unreachable: cause("cannot reach the daemon at {1}: {2}", "{1} のデーモンに接続できません: {2}")
        case .tooLong: cause("the request is longer than {1} bytes", "要求が{1}バイトを超えています")
        case .closed:
            cause(
                "the daemon closed the connection",
                "デーモンが接続を閉じました",
                fix: "check whether it is running: `blewedge status`",
                "動いているか `blewedge status` で確認してください"
            )
        case .otherVersion:
            cause(
                "the daemon and this command have different versions",
                "デーモンとこのコマンドのバージョンが異なります",
                fix: "restart the daemon: `blewedge doctor` shows how",
                "デーモンを再起動してください。方法は `blewedge doctor` で分かります"
            )
        case .noJSON: cause("the daemon's response is not JSON: {1}", "デーモンの応答がJSONではありません: {1}")
        case .answerTooLong: cause("the daemon's response is longer than {1} bytes", "デーモンの応答が{1}バイトを超えています")
        case .cannotWait: cause("cannot wait for the daemon: {1}", "デーモンの応答を待てません: {1}")
        case .ended:
            cause(
                "the daemon stopped",
                "デーモンが終了しました",
                fix: "`blewedge doctor` shows how to start it",
                "起動するコマンドは `blewedge doctor` で分かります"
            )
        case .cannotRead: cause("cannot read the daemon's response: {1}", "デーモンの応答を読み取れません: {1}")
        case .cannotAsk: cause("cannot send the request to the daemon: {1}", "デーモンに要求を送れません: {1}")
        case .noAnswer:
            cause(
                "the daemon does not respond",
                "デーモンが応答しません",
                fix: "if this persists, the daemon is stuck: see `blewedge doctor`",
                "続く場合はデーモンが停止しています。`blewedge doctor` で確認してください"
            )
        case .refusedWithoutWord: cause("the daemon refused without giving a reason", "デーモンが拒否しました。理由は示されていません")
        case .unknownState: cause("unknown daemon state: {1}", "不明な状態です: {1}")
        case .noInstance:
            cause(
                "instance {1} is not running: no response at {2}",
                "インスタンス {1} が動いていません: {2} から応答がありません",
                fix: "an instance is named after its runtime directory",
                "実行時ディレクトリの名前がインスタンスの名前です"
            )
        case .sameInstance:
            cause(
                "{1} is this instance itself",
                "{1} はこのインスタンス自身です",
                fix: "specify another instance",
                "別のインスタンスを指定してください"
            )
        case .otherRefuses: cause("the instance {1} refused: {2}", "インスタンス {1} が拒否しました: {2}")
        case .gateStaysClosed: cause("the gate of {1} stays closed: {2}", "{1} のゲートは閉じたままです: {2}")
        }
    }
}
