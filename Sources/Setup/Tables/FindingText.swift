// SPDX-License-Identifier: GPL-2.0-or-later

package import Texts

package struct FindingText: Sendable {
    /// The fault, in one sentence.
    package let what: LocalText
    /// Effect of the fault, in one sentence.
    package let why: LocalText
    /// The remedy, in one sentence.
    package let remedy: LocalText
}

extension FindingText {
    init(_ what: String, _ what2: String, why: String, _ why2: String, fix: String, _ fix2: String) {
        self.init(what: LocalText(what, what2), why: LocalText(why, why2), remedy: LocalText(fix, fix2))
    }
}

extension Finding.Cause {
    package var text: FindingText {
        switch self {
        case .kernelWithoutBluetooth: .kernelWithoutBluetooth
        case .bluetoothRefused: .bluetoothRefused
        case .noAdapter: .noAdapter
        case .uartNotAttached: .uartNotAttached
        case .adapterTaken: .adapterTaken
        case .adapterNotFound: .adapterNotFound
        case .adapterWithoutLowEnergy: .adapterWithoutLowEnergy
        case .rfkillHard: .rfkillHard
        case .rfkillSoft: .rfkillSoft
        case .adapterDown: .adapterDown
        case .adapterUnreadable: .adapterUnreadable
        case .otherBluetoothService: .otherBluetoothService
        case .capabilitiesMissing: .capabilitiesMissing
        case .uinputMissing: .uinputMissing
        case .uinputNotPermitted: .uinputNotPermitted
        case .uinputRefused: .uinputRefused
        case .evdevMissing: .evdevMissing
        case .eventNodeNotReadable: .eventNodeNotReadable
        case .oldInputDriver: .oldInputDriver
        case .configurationWrong: .configurationWrong
        case .selectionUnreadable: .selectionUnreadable
        case .nothingSelected: .nothingSelected
        case .legacyBond: .legacyBond
        case .daemonSilent: .daemonSilent
        case .daemonNotAskable: .daemonNotAskable
        case .daemonNotRunning: .daemonNotRunning
        case .daemonOff: .daemonOff
        case .daemonUnauthorized: .daemonUnauthorized
        case .deviceUnsupported: .deviceUnsupported
        case .deviceNotReached: .deviceNotReached
        case .linkLost: .linkLost
        case .disconnectedByUser: .disconnectedByUser
        case .paused: .paused
        case .allDiscarded: .allDiscarded
        case .bytesLost: .bytesLost
        case .keysBeyondText: .keysBeyondText
        case .beaconsWithoutRegions: .beaconsWithoutRegions
        case .beaconsUnavailable: .beaconsUnavailable
        case .beaconNotAdvertised: .beaconNotAdvertised
        case .noBeaconNear: .noBeaconNear
        case .consoleIgnoresKeys: .consoleIgnoresKeys
        case .consoleLeaksKeys: .consoleLeaksKeys
        case .loginPromptInFront: .loginPromptInFront
        case .layoutDiffers: .layoutDiffers
        case .kernelUnfit: .kernelUnfit
        case .kernelLacks: .kernelLacks
        case .kernelQuirk: .kernelQuirk
        case .kernelQuirkPossible: .kernelQuirkPossible
        }
    }
}

/// The words for the severities, which begin a finding.
extension Finding.Severity: Localized {
    package var texts: LocalText {
        switch self {
        case .blocks: LocalText("blocks", "入力不可")
        case .hinders: LocalText("hinders", "要注意")
        case .note: LocalText("note", "参考")
        }
    }
}

/// Parts of the findings' texts, chosen by the details.
package enum FindingPartText: String, Localized {
    // The controller on a serial port.
    case notStarted, withoutDriver, loadSerialDriver
    // /dev/uinput.
    case withoutModule, makeNode
    // The daemon.
    case startService, process, because
    // The console.
    case off, raw, gives, givesNothing, more

    package var texts: LocalText {
        switch self {
        case .notStarted: LocalText("did not start", "が起動しませんでした")
        case .withoutDriver: LocalText("has no driver", "にはドライバがありません")
        case .loadSerialDriver:
            LocalText(
                "load the driver; for a port that the kernel does not drive by itself, run `btattach` of BlueZ",
                "ドライバを読み込んでください。カーネルが自動で扱わないポートでは、BlueZの `btattach` を実行します"
            )
        case .withoutModule:
            LocalText(
                "use a kernel built with CONFIG_INPUT_UINPUT: this one has no module `uinput`",
                "CONFIG_INPUT_UINPUTを有効にしたカーネルを使用してください。このカーネルにはモジュール `uinput` がありません"
            )
        case .makeNode:
            LocalText(
                "make the node: the kernel's part is there, but devtmpfs or udev is not",
                "ノードを作成してください。カーネルの機能はありますが、devtmpfsまたはudevがありません"
            )
        case .startService:
            LocalText(
                "start the service; the system's log (`journalctl -u blewedge -b`) says why it ended",
                "サービスを起動してください。終了した理由はシステムのログ(`journalctl -u blewedge -b`)で分かります"
            )
        case .process: LocalText(" (process {1})", "(プロセス{1})")
        case .because: LocalText(": {1}", ": {1}")
        case .off: LocalText("off", "オフ")
        case .raw: LocalText("in raw mode", "rawモード")
        case .gives: LocalText("{1} gives {2}", "{1} が {2} になります")
        case .givesNothing: LocalText("{1} gives nothing", "{1} は何も入力されません")
        case .more: LocalText(", and {1} more", "、ほか{1}件")
        }
    }
}

// Texts of findings about absent kernel features.

extension FindingText {
    static let kernelUnfit = FindingText(
        "this kernel lacks {1}",
        "このカーネルには{1}がありません",
        why: "without it {2}",
        "これがないと、次のようになります: {2}",
        fix: "use a kernel that has it ({3})",
        "これを備えたカーネルを使用してください({3})"
    )

    static let kernelLacks = FindingText(
        "this kernel lacks {1}",
        "このカーネルには{1}がありません",
        why: "without it {2}",
        "これがないと、次のようになります: {2}",
        fix: "a kernel that has it ({3}) would mend that; `doctor --json` has the whole table",
        "これを備えたカーネル({3})なら解消します。一覧は `doctor --json` にあります"
    )

    // The texts of findings about beacons.

    static let beaconsWithoutRegions = FindingText(
        "beacons are configured, and no region is watched",
        "ビーコンが設定されていますが、監視するリージョンがありません",
        why: "no entry and no exit is ever reported",
        "リージョンの出入りは通知されません",
        fix: "name regions in the file of beacons.regions, fetch them, or designate beacons",
        "beacons.regions のファイルに記述するか、サーバから取得するか、ビーコンを指定してください"
    )

    static let beaconsUnavailable = FindingText(
        "beacons cannot be heard: {1}",
        "ビーコンを受信できません: {1}",
        why: "regions are neither entered nor left",
        "リージョンの出入りを検知できません",
        fix: "remove the cause, then test whether beacons can be heard",
        "原因を取り除き、受信できることを確認してください"
    )

    static let beaconNotAdvertised = FindingText(
        "this machine is no beacon: {1}",
        "ビーコンを発信していません: {1}",
        why: "no other device detects the configured beacon",
        "設定したビーコンはほかの機器から検知できません",
        fix: "use an adapter that can advertise, or unset beacons.advertise",
        "発信できるアダプタを使用するか、beacons.advertise の設定を外してください"
    )

    static let noBeaconNear = FindingText(
        "the gate is closed: no beacon that opens it is near",
        "ゲートを開くビーコンが近くにありません",
        why: "received data is discarded and counted, and never typed later",
        "受信データは破棄されて数えられ、後から入力されることはありません",
        fix: "bring the beacon nearer, and check its battery and its region",
        "ビーコンを近づけ、電池とリージョンの設定を確認してください"
    )

    // The texts of findings about the daemon.

    static let daemonNotAskable = FindingText(
        "a daemon runs, and this process may not ask it what it does",
        "デーモンは動いていますが、このプロセスには状態の問い合わせが許可されていません",
        why: "what only the daemon knows is not looked at",
        "デーモンだけが知っている事柄は確認できません",
        fix: "run it as root, or as a member of the daemon's group",
        "rootまたはデーモンのグループのメンバーとして実行してください"
    )

    static let daemonNotRunning = FindingText(
        "no daemon runs",
        "デーモンが動いていません",
        why: "it is the daemon that connects and types",
        "接続と入力はデーモンが行います",
        fix: "run it by hand with `blewedge run`, or install it as a service",
        "`blewedge run` で実行するか、サービスとしてインストールしてください"
    )

    static let daemonSilent = FindingText(
        "the daemon{1} is there, and does not answer",
        "デーモン{1}は存在しますが、応答しません",
        why: "one process owns an adapter, and this one does nothing that could be seen",
        "アダプタは一つのプロセスが占有しますが、そのプロセスが動作していないようです",
        fix: "end it; as a service it starts again by itself",
        "終了させてください。サービスの場合は自動的に再起動します"
    )

    static let paused = FindingText(
        "typing is paused: {1}",
        "入力が停止されています: {1}",
        why: "what is received meanwhile is discarded and counted, and never typed later",
        "その間の受信データは破棄されて数えられ、後から入力されることはありません",
        fix: "resume it, or bring the terminal to the front that `gate.vt` names",
        "再開するか、`gate.vt` で指定した端末を前面に出してください"
    )

    static let bytesLost = FindingText(
        "{1} of {2} bytes were lost",
        "{2}バイト中{1}バイトが失われました",
        why: "the device sends faster than is typed, or the machine stalled for longer than is provided for",
        "デバイスの送信が入力より速いか、マシンが想定より長く停止しました",
        fix: "state a shorter stall or another pace, and see `blewedge status` for where they were lost",
        "stallを短くするかpaceを変えてください。どこで失われたかは `blewedge status` で分かります"
    )

    static let allDiscarded = FindingText(
        "all {1} bytes received were discarded or rejected",
        "受信した{1}バイトがすべて破棄または拒否されました",
        why: "the table types none of what the device sends",
        "変換表が、デバイスの送信データを一つも入力の対象としていません",
        fix: "choose a table that does, or the device's own format; see what each byte does",
        "対象とする変換表か、デバイス側の形式を選んでください。各バイトの扱いは表示して確認できます"
    )

    static let linkLost = FindingText(
        "the link to {1} was lost{2}",
        "{1} との接続が切れました{2}",
        why: "nothing is received until it is there again; it is tried for ever",
        "再び接続するまで何も受信できません。再接続は続けて試みています",
        fix: "bring the device nearer, and see that it is on",
        "デバイスを近づけ、電源が入っていることを確認して下さい"
    )

    static let disconnectedByUser = FindingText(
        "{1} was disconnected by command",
        "{1} はコマンドで切断されています",
        why: "only a command connects it again",
        "再接続するにはコマンドが必要です",
        fix: "connect",
        "接続してください"
    )

    static let deviceNotReached = FindingText(
        "{1} cannot be reached{2}",
        "{1} と接続できませんでした{2}",
        why: "nothing is received until it is connected; it is tried for ever",
        "接続するまで何も受信できません。接続は続けて試みています",
        fix: "see that it is on, near, advertising, and connected to nobody else",
        "電源が入り、近くにあり、アドバタイズしていて、ほかと接続していないことを確認して下さい"
    )

    static let deviceUnsupported = FindingText(
        "{1} is not supported{2}",
        "{1} は未対応の機器です{2}",
        why: "nothing of it is typed; it is tried again after 3 s, then ever less often, down to once a minute",
        "何も入力されません。3秒後に、その後は間隔を倍にして（最長1分）確認し直します",
        fix: "choose another device or profile",
        "別のデバイスまたはプロファイルを選択してください"
    )

    static let daemonOff = FindingText(
        "the daemon says that Bluetooth is off{1}",
        "デーモンがBluetoothを使用できません{1}",
        why: "it tries again by itself every few seconds",
        "デーモンは数秒ごとに自動的に試し直します",
        fix: "see what the kernel says of the adapter, and restart the daemon if it stays so",
        "アダプタについてのカーネルのログを確認し、続く場合はデーモンを再起動してください"
    )

    static let daemonUnauthorized = FindingText(
        "the daemon lacks a permission{1}",
        "デーモンに必要な権限がありません{1}",
        why: "it can neither scan nor type without",
        "権限がなければ、スキャンも入力もできません",
        fix: "run it as root, or as the service that `blewedge setup` installs",
        "rootで実行するか、`blewedge setup` でインストールされるサービスとして実行してください"
    )

    static let keysBeyondText = FindingText(
        "the keyboard may press more than text: {1}",
        "キーボードは文字以外のキーも押せます: {1}",
        why: "by such keys an application is left or commanded",
        "このようなキーは、アプリケーションの終了や操作に使われます",
        fix: "where nothing needs them, take a table without them, or set `keys` or `udev-keyboard` to false",
        "不要であれば、それらを含まない変換表を使うか、`keys` または `udev-keyboard` をfalseにしてください"
    )
}
