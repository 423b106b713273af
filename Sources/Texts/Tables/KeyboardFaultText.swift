// SPDX-License-Identifier: GPL-2.0-or-later

/// Reasons why there is no virtual keyboard, or why nothing is typed on it.
package enum KeyboardFaultText: String, FaultText {
    // Failures to create the keyboard.
    case notPermitted, missing, tooOld, notMade, keysForbidden, noEventNode, eventsUnreadable, noScreen, noDataPath
    case ringTaken
    // Failures to write events to the keyboard.
    case gone, malformed, forbidden, takesNoMore
    // Reasons why keys that a client requested are not typed.
    case tooManyWait, noKeysForOthers, nothingTypedNow, keysOff, notDeclared, noSnippet, notTypable, tooManyKeys
    case keyMissing, layoutLacks
    // Failure to enforce `gate.vt`, which allows typing only while a certain virtual terminal is in the foreground.
    case gateNotKept

    package var said: (cause: LocalText, remedy: LocalText?) {
        switch self {
        case .notPermitted:
            cause(
                "not permitted to open {1}",
                "{1} を開くことが許可されていません",
                fix: "run as root, or as the service that `blewedge setup` installs",
                "rootで実行するか、`blewedge setup` でインストールしたサービスとして実行してください"
            )
        case .missing:
            cause(
                "{1} does not exist",
                "{1} がありません",
                fix:
                    "load the module with `modprobe uinput`; `sudo blewedge setup` loads it at every boot; without a keyboard, try `--to stdout`",
                "`modprobe uinput` でモジュールを読み込んでください。起動のたびに読み込むには `sudo blewedge setup` を実行します。キーボードなしで試すには `--to stdout` を使います"
            )
        case .tooOld:
            cause(
                "the kernel rejected the keyboard (EINVAL): it does not support UI_DEV_SETUP or some of the keys",
                "カーネルがキーボードを拒否しました(EINVAL): UI_DEV_SETUPまたは一部のキーに対応していません",
                fix: "use Linux 4.5 or later",
                "Linux 4.5以降を使用してください"
            )
        case .notMade: cause("cannot create a virtual keyboard through {1}: {2}", "{1} で仮想キーボードを作成できません: {2}")
        case .keysForbidden:
            cause(
                "the table, the prefix or the suffix uses keys that are not allowed: {1}",
                "変換表、接頭辞または接尾辞に、このキーボードで使用できないキーがあります: {1}"
            )
        case .noEventNode:
            cause(
                "the keyboard has no event node",
                "キーボードのイベントノードがありません",
                fix: "`modprobe evdev`",
                "`modprobe evdev` を実行してください"
            )
        case .eventsUnreadable:
            cause("cannot read the keyboard's events from {1}: {2}", "キーボードのイベントを {1} から読み取れません: {2}")
        case .noScreen: cause("cannot create a keyboard without the kernel: {1}", "カーネルを使わないキーボードを作成できません: {1}")
        case .noDataPath: cause("cannot set up the data path: {1}", "データの経路を用意できません: {1}")
        case .ringTaken: cause("the ring buffer is already in use", "バッファはすでに使用中です")
        case .gone:
            cause(
                "the virtual keyboard was removed (ENODEV)",
                "仮想キーボードがなくなりました(ENODEV)",
                fix: "blewedge creates a new one automatically; `dmesg` shows the cause",
                "自動的に作り直します。原因は `dmesg` で分かります"
            )
        case .malformed:
            cause(
                "the kernel rejected the events as malformed (EINVAL)",
                "カーネルがイベントを不正な形式として拒否しました(EINVAL)",
                fix:
                    "use a build for this kernel: the word size and time format differ",
                "このカーネルに合ったビルドを使用してください。ワードサイズと時刻の形式が異なります"
            )
        case .forbidden:
            cause(
                "the kernel forbids writing to the virtual keyboard ({1})",
                "カーネルが仮想キーボードへの書き込みを禁止しました({1})",
                fix: "allow {2} in the service's DeviceAllow= and in the security module's policy",
                "サービスのDeviceAllow=とセキュリティモジュールのポリシーで {2} を許可してください"
            )
        case .takesNoMore:
            cause(
                "cannot write keys to the virtual keyboard: {1}",
                "仮想キーボードにキーを書き込めなくなりました: {1}",
                fix: "restart blewedge; `dmesg` may show the cause",
                "再起動してください。理由は `dmesg` で分かるかもしれません"
            )
        case .tooManyWait:
            cause(
                "earlier key requests are still pending",
                "先に要求されたキーが入力待ちです",
                fix: "try again in a few seconds",
                "数秒後にもう一度お試しください"
            )
        case .noKeysForOthers:
            cause(
                "key requests from clients are disabled",
                "このキーボードはほかからのキー入力を受け付けません",
                fix: "set `keys = true` in the configuration, and run the daemon without --device",
                "設定ファイルで `keys = true` とし、--deviceなしでデーモンを実行してください"
            )
        case .nothingTypedNow: cause("not typing now: {1}", "現在は入力しません: {1}")
        case .keysOff:
            cause(
                "keys, snippets and clear are disabled",
                "キー、定型文、全消去は無効になっています",
                fix: "set `keys = true` in the configuration, then `blewedge reload`",
                "設定ファイルで `keys = true` とし、`blewedge reload` を実行してください"
            )
        case .notDeclared:
            cause("cannot register the keys for `key` and `snippet`: {1}", "`key` と `snippet` のキーを登録できません: {1}")
        case .noSnippet:
            cause(
                "unknown snippet {1}",
                "定型文 {1} はありません",
                fix: "available: {2}; add new ones to snippets.json",
                "使用できるもの: {2}。追加はsnippets.jsonに記述してください"
            )
        case .notTypable:
            cause(
                "{1} cannot be typed: {2}",
                "{1} は入力できません: {2}",
                fix: "use another layout or table, or remove it",
                "別の配列または変換表を選ぶか、その文字を除いてください"
            )
        case .tooManyKeys: cause("there are more than 256 different keys and characters", "キーと文字の種類が256を超えています")
        case .keyMissing: cause("one of its keys is not registered", "登録されていないキーがあります")
        case .layoutLacks: cause("layout {1} cannot type \"{2}\"", "配列 {1} では \"{2}\" を入力できません")
        case .gateNotKept:
            cause(
                "cannot enforce gate.vt = {1}: {2}: {3}",
                "gate.vt = {1} を守れません: {2}: {3}",
                fix: "remove gate.vt on systems without virtual terminals",
                "仮想端末がない環境ではgate.vtを指定しないでください"
            )
        }
    }
}
