// SPDX-License-Identifier: GPL-2.0-or-later

import Texts

// The texts of findings about the daemon.

extension FindingText {
    static let daemonNotAskable = FindingText(
        what: LocalText(
            "a daemon runs, and this process may not ask it what it does",
            "デーモンは動いていますが、このプロセスには状態の問い合わせが許可されていません"
        ),
        why: LocalText(
            "what only the daemon knows is not looked at",
            "デーモンだけが知っている事柄は確認できません"
        ),
        remedy: LocalText(
            "run it as root, or as a member of the daemon's group",
            "rootまたはデーモンのグループのメンバーとして実行してください"
        )
    )

    static let daemonNotRunning = FindingText(
        what: LocalText("no daemon runs", "デーモンが動いていません"),
        why: LocalText("it is the daemon that connects and types", "接続と入力はデーモンが行います"),
        remedy: LocalText(
            "run it by hand with `blewedge run`, or install it as a service",
            "`blewedge run` で実行するか、サービスとしてインストールしてください"
        )
    )

    static let daemonSilent = FindingText(
        what: LocalText(
            "the daemon{1} is there, and does not answer",
            "デーモン{1}は存在しますが、応答しません"
        ),
        why: LocalText(
            "one process owns an adapter, and this one does nothing that could be seen",
            "アダプタは一つのプロセスが占有しますが、そのプロセスが動作していないようです"
        ),
        remedy: LocalText(
            "end it; as a service it starts again by itself",
            "終了させてください。サービスの場合は自動的に再起動します"
        )
    )

    static let paused = FindingText(
        what: LocalText("typing is paused: {1}", "入力が停止されています: {1}"),
        why: LocalText(
            "what is received meanwhile is discarded and counted, and never typed later",
            "その間の受信データは破棄されて数えられ、後から入力されることはありません"
        ),
        remedy: LocalText(
            "resume it, or bring the terminal to the front that `gate.vt` names",
            "再開するか、`gate.vt` で指定した端末を前面に出してください"
        )
    )

    static let bytesLost = FindingText(
        what: LocalText("{1} of {2} bytes were lost", "{2}バイト中{1}バイトが失われました"),
        why: LocalText(
            "the device sends faster than is typed, or the machine stalled for longer than is provided for",
            "デバイスの送信が入力より速いか、マシンが想定より長く停止しました"
        ),
        remedy: LocalText(
            "state a shorter stall or another pace, and see `blewedge status` for where they were lost",
            "stallを短くするかpaceを変えてください。どこで失われたかは `blewedge status` で分かります"
        )
    )

    static let allDiscarded = FindingText(
        what: LocalText(
            "all {1} bytes received were discarded or rejected",
            "受信した{1}バイトがすべて破棄または拒否されました"
        ),
        why: LocalText(
            "the table types none of what the device sends",
            "変換表が、デバイスの送信データを一つも入力の対象としていません"
        ),
        remedy: LocalText(
            "choose a table that does, or the device's own format; see what each byte does",
            "対象とする変換表か、デバイス側の形式を選んでください。各バイトの扱いは表示して確認できます"
        )
    )

    static let linkLost = FindingText(
        what: LocalText("the link to {1} was lost{2}", "{1} との接続が切れました{2}"),
        why: LocalText(
            "nothing is received until it is there again; it is tried for ever",
            "再び接続するまで何も受信できません。再接続は続けて試みています"
        ),
        remedy: LocalText(
            "bring the device nearer, and see that it is on",
            "デバイスを近づけ、電源が入っていることを確認して下さい"
        )
    )

    static let disconnectedByUser = FindingText(
        what: LocalText("{1} was disconnected by command", "{1} はコマンドで切断されています"),
        why: LocalText("only a command connects it again", "再接続するにはコマンドが必要です"),
        remedy: LocalText("connect", "接続してください")
    )

    static let deviceNotReached = FindingText(
        what: LocalText("{1} cannot be reached{2}", "{1} と接続できませんでした{2}"),
        why: LocalText(
            "nothing is received until it is connected; it is tried for ever",
            "接続するまで何も受信できません。接続は続けて試みています"
        ),
        remedy: LocalText(
            "see that it is on, near, advertising, and connected to nobody else",
            "電源が入り、近くにあり、アドバタイズしていて、ほかと接続していないことを確認して下さい"
        )
    )

    static let deviceUnsupported = FindingText(
        what: LocalText(
            "{1} is not supported{2}",
            "{1} は未対応の機器です{2}"
        ),
        why: LocalText(
            "nothing of it is typed; it is tried again after 3 s, then ever less often, down to once a minute",
            "何も入力されません。3秒後に、その後は間隔を倍にして（最長1分）確認し直します"
        ),
        remedy: LocalText(
            "choose another device or profile",
            "別のデバイスまたはプロファイルを選択してください"
        )
    )

    static let daemonOff = FindingText(
        what: LocalText(
            "the daemon says that Bluetooth is off{1}",
            "デーモンがBluetoothを使用できません{1}"
        ),
        why: LocalText(
            "it tries again by itself every few seconds",
            "デーモンは数秒ごとに自動的に試し直します"
        ),
        remedy: LocalText(
            "see what the kernel says of the adapter, and restart the daemon if it stays so",
            "アダプタについてのカーネルのログを確認し、続く場合はデーモンを再起動してください"
        )
    )

    static let daemonUnauthorized = FindingText(
        what: LocalText("the daemon lacks a permission{1}", "デーモンに必要な権限がありません{1}"),
        why: LocalText(
            "it can neither scan nor type without",
            "権限がなければ、スキャンも入力もできません"
        ),
        remedy: LocalText(
            "run it as root, or as the service that `blewedge setup` installs",
            "rootで実行するか、`blewedge setup` でインストールされるサービスとして実行してください"
        )
    )

    static let keysBeyondText = FindingText(
        what: LocalText(
            "the keyboard may press more than text: {1}",
            "キーボードは文字以外のキーも押せます: {1}"
        ),
        why: LocalText(
            "by such keys an application is left or commanded",
            "このようなキーは、アプリケーションの終了や操作に使われます"
        ),
        remedy: LocalText(
            "where nothing needs them, take a table without them, or set `keys` or `udev-keyboard` to false",
            "不要であれば、それらを含まない変換表を使うか、`keys` または `udev-keyboard` をfalseにしてください"
        )
    )
}
