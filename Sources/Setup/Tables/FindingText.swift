// SPDX-License-Identifier: GPL-2.0-or-later

package import Texts

package struct FindingText: Sendable {
    /// Fault, in one sentence.
    package let what: LocalText
    /// Effect of the fault, in one sentence.
    package let why: LocalText
    /// Remedy, in one sentence.
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
        case .deviceNotPaired: .deviceNotPaired
        case .keyboardSilent: .keyboardSilent
        case .keyboardRefusesKeys: .keyboardRefusesKeys
        case .linkLost: .linkLost
        case .disconnectedByUser: .disconnectedByUser
        case .paused: .paused
        case .allDiscarded: .allDiscarded
        case .bytesLost: .bytesLost
        case .valuesBeforeEncryption: .valuesBeforeEncryption
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

/// Names of the severities; each finding's text begins with one of them.
extension Finding.Severity: Localized {
    package var texts: LocalText {
        switch self {
        case .blocks: LocalText("blocks", "入力不可")
        case .hinders: LocalText("hinders", "要注意")
        case .note: LocalText("note", "参考")
        }
    }
}

/// Phrases that complete the text of a finding, depending on its details.
package enum FindingPartText: String, Localized {
    // Phrases for findings about a controller on a serial port.
    case notStarted, withoutDriver, loadSerialDriver
    // Phrases for findings about /dev/uinput.
    case withoutModule, makeNode
    // Phrases for findings about the daemon.
    case startService, process, because
    // Phrases for findings about values that arrived before the encryption.
    case earlyBy, otherAdapter
    // Phrases for findings about the console.
    case off, raw, gives, givesNothing, more

    package var texts: LocalText {
        switch self {
        case .notStarted: LocalText("did not start", "が起動しませんでした")
        case .withoutDriver: LocalText("has no driver", "にはドライバがありません")
        case .loadSerialDriver:
            LocalText(
                "load the driver; if the kernel does not attach the port itself, run BlueZ's `btattach`",
                "ドライバを読み込んでください。カーネルが自動で扱わないポートでは、BlueZの `btattach` を実行します"
            )
        case .withoutModule:
            LocalText(
                "use a kernel built with CONFIG_INPUT_UINPUT: this one has no `uinput` module",
                "CONFIG_INPUT_UINPUTを有効にしたカーネルを使用してください。このカーネルにはモジュール `uinput` がありません"
            )
        case .makeNode:
            LocalText(
                "create the device node: the kernel supports it, but devtmpfs or udev is missing",
                "ノードを作成してください。カーネルの機能はありますが、devtmpfsまたはudevがありません"
            )
        case .startService:
            LocalText(
                "start the service; the system log (`journalctl -u blewedge -b`) shows why it stopped",
                "サービスを起動してください。終了した理由はシステムのログ(`journalctl -u blewedge -b`)で分かります"
            )
        case .process: LocalText(" (process {1})", "(プロセス{1})")
        case .because: LocalText(": {1}", ": {1}")
        case .earlyBy: LocalText(", at most {1} ms before", "(最大{1}ミリ秒前)")
        case .otherAdapter:
            LocalText(
                "use another adapter: these values came too long before the encryption to be allowed",
                "別のアダプタを使用してください。暗号化より早すぎるため、許可できる範囲を超えています"
            )
        case .off: LocalText("off", "オフ")
        case .raw: LocalText("in raw mode", "rawモード")
        case .gives: LocalText("{1} produces {2}", "{1} が {2} になります")
        case .givesNothing: LocalText("{1} produces nothing", "{1} は何も入力されません")
        case .more: LocalText(", and {1} more", "、ほか{1}件")
        }
    }
}

// Texts of findings about absent kernel features.

extension FindingText {
    static let kernelUnfit = FindingText(
        "this kernel lacks {1}",
        "このカーネルには{1}がありません",
        why: "without it, {2}",
        "これがないと、次のようになります: {2}",
        fix: "use a kernel that has it ({3})",
        "これを備えたカーネルを使用してください({3})"
    )

    static let kernelLacks = FindingText(
        "this kernel lacks {1}",
        "このカーネルには{1}がありません",
        why: "without it, {2}",
        "これがないと、次のようになります: {2}",
        fix: "use a kernel that has it ({3}); `doctor --json` shows the whole table",
        "これを備えたカーネル({3})なら解消します。一覧は `doctor --json` にあります"
    )

    // Texts of findings about beacons.

    static let beaconsWithoutRegions = FindingText(
        "beacons are configured, but no region is watched",
        "ビーコンが設定されていますが、監視するリージョンがありません",
        why: "region entries and exits are not reported",
        "リージョンの出入りは通知されません",
        fix: "add regions to the beacons.regions file, fetch them, or designate beacons",
        "beacons.regions のファイルに記述するか、サーバから取得するか、ビーコンを指定してください"
    )

    static let beaconsUnavailable = FindingText(
        "cannot receive beacons: {1}",
        "ビーコンを受信できません: {1}",
        why: "region entries and exits are not detected",
        "リージョンの出入りを検知できません",
        fix: "remove the cause, then test beacon reception",
        "原因を取り除き、受信できることを確認してください"
    )

    static let beaconNotAdvertised = FindingText(
        "this machine is not advertising as a beacon: {1}",
        "ビーコンを発信していません: {1}",
        why: "other devices cannot detect the configured beacon",
        "設定したビーコンはほかの機器から検知できません",
        fix: "use an adapter that can advertise, or unset beacons.advertise",
        "発信できるアダプタを使用するか、beacons.advertise の設定を外してください"
    )

    static let noBeaconNear = FindingText(
        "the gate is closed: no beacon that opens it is nearby",
        "ゲートを開くビーコンが近くにありません",
        why: "received data is discarded and counted, and is not typed later",
        "受信データは破棄されて数えられ、後から入力されることはありません",
        fix: "move the beacon closer, and check its battery and region",
        "ビーコンを近づけ、電池とリージョンの設定を確認してください"
    )

    // Texts of findings about the daemon.

    static let daemonNotAskable = FindingText(
        "a daemon is running, but this process is not permitted to query its status",
        "デーモンは動いていますが、このプロセスには状態の問い合わせが許可されていません",
        why: "information that only the daemon has was not checked",
        "デーモンだけが知っている事柄は確認できません",
        fix: "run as root, or as a member of the daemon's group",
        "rootまたはデーモンのグループのメンバーとして実行してください"
    )

    static let daemonNotRunning = FindingText(
        "no daemon is running",
        "デーモンが動いていません",
        why: "the daemon is needed to connect and type",
        "接続と入力はデーモンが行います",
        fix: "start it with `blewedge run`, or install it as a service",
        "`blewedge run` で実行するか、サービスとしてインストールしてください"
    )

    static let daemonSilent = FindingText(
        "the daemon{1} exists but does not respond",
        "デーモン{1}は存在しますが、応答しません",
        why: "only one process can use an adapter, and this one appears to be stuck",
        "アダプタは一つのプロセスが占有しますが、そのプロセスが動作していないようです",
        fix: "stop it; as a service, it restarts automatically",
        "終了させてください。サービスの場合は自動的に再起動します"
    )

    static let paused = FindingText(
        "typing is paused: {1}",
        "入力が停止されています: {1}",
        why: "data received meanwhile is discarded and counted, and is not typed later",
        "その間の受信データは破棄されて数えられ、後から入力されることはありません",
        fix: "resume it, or switch to the terminal set by `gate.vt`",
        "再開するか、`gate.vt` で指定した端末を前面に出してください"
    )

    static let bytesLost = FindingText(
        "{1} of {2} bytes were lost",
        "{2}バイト中{1}バイトが失われました",
        why: "the device sends faster than text is typed, or the machine stalled longer than expected",
        "デバイスの送信が入力より速いか、マシンが想定より長く停止しました",
        fix: "set a shorter stall or another pace; `blewedge status` shows where they were lost",
        "stallを短くするかpaceを変えてください。どこで失われたかは `blewedge status` で分かります"
    )

    static let allDiscarded = FindingText(
        "all {1} bytes received were discarded or rejected",
        "受信した{1}バイトがすべて破棄または拒否されました",
        why: "the table does not type anything that the device sends",
        "変換表が、デバイスの送信データを一つも入力の対象としていません",
        fix: "choose another table or device format; show what each byte does",
        "対象とする変換表か、デバイス側の形式を選んでください。各バイトの扱いは表示して確認できます"
    )

    static let linkLost = FindingText(
        "the link to {1} was lost{2}",
        "{1} との接続が切れました{2}",
        why: "no data is received until it reconnects; blewedge keeps retrying",
        "再び接続するまで何も受信できません。再接続は続けて試みています",
        fix: "move the device closer, and check that it is on",
        "デバイスを近づけ、電源が入っていることを確認して下さい"
    )

    static let disconnectedByUser = FindingText(
        "{1} was disconnected by a command",
        "{1} はコマンドで切断されています",
        why: "reconnecting requires a command",
        "再接続するにはコマンドが必要です",
        fix: "reconnect",
        "接続してください"
    )

    static let valuesBeforeEncryption = FindingText(
        "adapter {1}: {2} values arrived before the link was encrypted{3}, and were refused",
        "アダプタ {1}: 接続の暗号化より前に{2}個の値が届いたため{3}、拒否しました",
        why: "characters may be missing: the adapter delivers data before events, or someone sends in clear",
        "文字が抜けることがあります。アダプタがイベントより先にデータを渡しているか、暗号化せずに送信している者がいます",
        fix: "if an adapter on USB is the cause, use another, or set `early-reports = \"{4}ms\"`; "
            + "then an attacker in range can add keys during that time",
        "USBアダプタが原因なら、別のアダプタを使用するか `early-reports = \"{4}ms\"` を設定してください。"
            + "設定すると、その時間内は電波の届く攻撃者がキーを紛れ込ませられます"
    )

    static let deviceNotPaired = FindingText(
        "{1} is not paired with this adapter",
        "{1} はこのアダプタとペアリングされていません",
        why: "nothing is typed: a keyboard scanner, or the required security, needs a pairing",
        "何も入力されません。キーボード型のリーダや要求されているセキュリティには、ペアリングが必要です",
        fix: "put it into pairing mode, and pair with it",
        "ペアリングモードにして、ペアリングしてください"
    )

    static let keyboardSilent = FindingText(
        "the paired keyboard scanner {1} is not heard",
        "ペアリング済みのキーボード型リーダ {1} を受信できません",
        why: "it is asleep, off or out of range, or it answers only another host: this adapter hears no difference",
        "スリープ中、電源オフ、圏外のいずれか、または別のホストだけに応答しています。このアダプタからは区別できません",
        fix: "scan a barcode to wake it; if that does not help, remove it from other hosts, and pair with it again",
        "バーコードを読み取って起動してください。それでも駄目なら、ほかのホストから登録を削除し、ペアリングをやり直してください"
    )

    static let keyboardRefusesKeys = FindingText(
        "the keyboard scanner {1} answers, but did not encrypt the link with the saved keys",
        "キーボード型リーダ {1} は応答しますが、保存した鍵で接続を暗号化しませんでした",
        why: "it was reset, was paired with another host, or another device has its address",
        "リセットされたか、別のホストとペアリングされたか、または別の機器が同じアドレスを使用しています",
        fix: "delete the saved keys, put it into pairing mode, and pair with it again",
        "保存した鍵を削除し、ペアリングモードにしてからペアリングをやり直してください"
    )

    static let deviceNotReached = FindingText(
        "{1} cannot be reached{2}",
        "{1} と接続できませんでした{2}",
        why: "no data is received until it is connected; blewedge keeps retrying",
        "接続するまで何も受信できません。接続は続けて試みています",
        fix: "check that it is on, nearby, advertising and not connected elsewhere",
        "電源が入り、近くにあり、アドバタイズしていて、ほかと接続していないことを確認して下さい"
    )

    static let deviceUnsupported = FindingText(
        "{1} is not supported{2}",
        "{1} は未対応の機器です{2}",
        why: "no data is typed; blewedge retries after 3 s, then less and less often, down to once a minute",
        "何も入力されません。3秒後に、その後は間隔を倍にして（最長1分）確認し直します",
        fix: "select another device or profile",
        "別のデバイスまたはプロファイルを選択してください"
    )

    static let daemonOff = FindingText(
        "the daemon reports that Bluetooth is off{1}",
        "デーモンがBluetoothを使用できません{1}",
        why: "the daemon retries automatically every few seconds",
        "デーモンは数秒ごとに自動的に試し直します",
        fix: "check the kernel log for the adapter; if this persists, restart the daemon",
        "アダプタについてのカーネルのログを確認し、続く場合はデーモンを再起動してください"
    )

    static let daemonUnauthorized = FindingText(
        "the daemon lacks a permission{1}",
        "デーモンに必要な権限がありません{1}",
        why: "without it, the daemon can neither scan nor type",
        "権限がなければ、スキャンも入力もできません",
        fix: "run it as root, or as the service that `blewedge setup` installs",
        "rootで実行するか、`blewedge setup` でインストールされるサービスとして実行してください"
    )

    static let keysBeyondText = FindingText(
        "the keyboard can press keys other than text: {1}",
        "キーボードは文字以外のキーも押せます: {1}",
        why: "such keys can quit or control an application",
        "このようなキーは、アプリケーションの終了や操作に使われます",
        fix: "if they are not needed, use a table without them, or set `keys` or `udev-keyboard` to false",
        "不要であれば、それらを含まない変換表を使うか、`keys` または `udev-keyboard` をfalseにしてください"
    )
}
