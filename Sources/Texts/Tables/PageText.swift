// SPDX-License-Identifier: GPL-2.0-or-later

/// Texts on the terminal pages, except the states.
package enum PageText: String, Localized {
    // Names of the pages.
    case devices, check, keypad, snippets, settings, guide, beacons
    // Short descriptions of the keys, shown at the bottom of a page.
    case helpQuit, helpConnect, helpDisconnect, helpPause, helpResume, helpPages, helpRefresh, helpScroll
    case helpFilter, helpHelp, helpHex
    // Descriptions of the keys, shown in the list of all keys.
    case keys, keyPages, keyConnect, keyDisconnect, keyPause, keyQuit, keyHex, keyAlt, keyMove, keyEnter, keyRefresh
    case keyFilter, keyHelp, keySuspend, keyRedraw, keyNote
    // Texts that can occur on every page.
    case since, paused, notTyped, received, noDaemon, startHere, starting, startFailed, startedEnded, attached, gone
    // Texts on the device page.
    case columnKind, kindKeyboard, kindOtherHID, kindBeacon, kindOther, scanning
    case columnName, columnHeard, columnHeardShort, columnSignal, use, forget, notHeard, nothingHeard, listening
    case columnAddress, columnServices, pairing, paired, battery, state, security, mtu, nothingMatches
    case askSwitch, askOpen, askForget, ok, no, asking, chosen, forgotten
    // Texts on the check page.
    case field, lastReceived, noneReceived, adapter, keyboard, typingOpen
    case lastMinute, lastHex
    case serviceStarting, serviceMissing, serviceFailed, serviceRemedy
    // Texts that report the effect of an action.
    case connecting, disconnecting, pausedNow, resumedNow, pressed, typedSnippet, cleared, tooMany
    // Text on the keypad page.
    case keypadHelp
    // Texts on the snippet page.
    case snippetsHelp, snippetsFault, snippetMoves, noSnippets
    // Texts on the settings page.
    case prefix, suffix, pace, notSet, editHelp, chooseHelp
    case statusLine, on, off, language, languageName, profile, layout, table, file, saved, notSaved
    case reload, reloaded
    // Texts on the beacon page.
    case beaconsHindered, nothingWatched, regionsCount, columnRegion, columnPlace, columnSighted, inside, outside, ago,
        never
    case moreRegions, beaconActions, designated, switcher, noneDesignated, ownBeacon, ownBeaconStarting, beaconCounts

    package var texts: LocalText {
        switch self {
        case .devices: LocalText("Devices", "デバイス")
        case .check: LocalText("Check", "動作確認")
        case .keypad: LocalText("Keypad", "キーパッド")
        case .snippets: LocalText("Snippets", "定型文")
        case .settings: LocalText("Settings", "設定")
        case .guide: LocalText("Guide", "ユーザガイド")
        case .beacons: LocalText("Beacons", "ビーコン")
        case .helpQuit: LocalText("F10 Quit", "F10 終了")
        case .helpConnect: LocalText("F7 Connect", "F7 接続")
        case .helpDisconnect: LocalText("F8 Disconnect", "F8 切断")
        case .helpPause: LocalText("F9 Pause", "F9 一時停止")
        case .helpResume: LocalText("F9 Resume", "F9 再開")
        case .helpPages: LocalText("F1-F6 F11 Pages", "F1-F6 F11 画面")
        case .helpRefresh: LocalText("r Refresh", "r 更新")
        case .helpScroll: LocalText("PgUp/PgDn", "PgUp/PgDn")
        case .helpFilter: LocalText("/ Filter", "/ 絞り込み")
        case .helpHelp: LocalText("? Keys", "? キー")
        case .helpHex: LocalText("F12 Hex", "F12 16進")
        case .keys: LocalText("Keys", "キー")
        case .keyPages: LocalText("Show a page", "画面の切り替え")
        case .keyConnect: LocalText("Connect to the selected device", "選択中のデバイスに接続")
        case .keyDisconnect: LocalText("Disconnect from the selected device", "選択中のデバイスから切断")
        case .keyPause: LocalText("Pause or resume typing", "入力の一時停止と再開")
        case .keyQuit: LocalText("Quit; the daemon keeps running", "終了(デーモンは動作を続けます)")
        case .keyHex: LocalText("Check page: show the last received bytes", "動作確認: 最後の受信データを16進で表示")
        case .keyAlt: LocalText("F1 to F10; Alt-B is F11, Alt-X is F12", "F1～F10。Alt-BはF11、Alt-XはF12")
        case .keyMove: LocalText("Move the cursor, or scroll", "カーソルの移動、スクロール")
        case .keyEnter: LocalText("Use or change the line at the cursor", "カーソル行の選択、変更")
        case .keyRefresh: LocalText("Devices page: scan again from the start", "デバイス: 一覧を消去して再スキャン")
        case .keyFilter: LocalText("Devices page: filter by name, address or kind", "デバイス: 名前、アドレス、種類で絞り込み")
        case .keyHelp: LocalText("Show these keys", "このキー一覧を表示")
        case .keySuspend: LocalText("Suspend; `fg` in the shell resumes", "一時中断(シェルの `fg` で再開)")
        case .keyRedraw: LocalText("Redraw the screen", "画面の再描画")
        case .keyNote:
            LocalText(
                "On a page with a text field, characters are typed into the field. The mouse selects pages and lines.",
                "入力欄のある画面では、文字は入力欄に入ります。マウスで画面や行を選択できます。"
            )
        case .columnAddress: LocalText("Address", "アドレス")
        case .columnServices: LocalText("Services", "サービス")
        case .pairing: LocalText("Pairing", "ペアリング")
        case .paired: LocalText("paired", "ペアリング済み")
        case .battery: LocalText("Battery", "電池")
        case .state: LocalText("State", "状態")
        case .security: LocalText("Security", "セキュリティ")
        case .mtu: LocalText("MTU", "MTU")
        case .nothingMatches: LocalText("No other device matches the filter.", "条件に一致するほかのデバイスはありません。")
        case .lastMinute: LocalText("Last minute (bytes)", "直近1分間(バイト)")
        case .lastHex: LocalText("Last received bytes", "最後の受信データ")
        case .prefix: LocalText("Prefix of each barcode", "バーコードの前に付ける文字")
        case .suffix: LocalText("Suffix of each barcode", "バーコードの後に付ける文字")
        case .pace: LocalText("Pace", "入力速度")
        case .notSet: LocalText("not set", "未設定")
        case .editHelp:
            LocalText(
                "Enter saves, Esc cancels. {tab} or {enter} is a key.",
                "Enterで保存、Escで取り消します。{tab} や {enter} はキーです。"
            )
        case .chooseHelp:
            LocalText(
                "Up and Down select, or type a name. Enter saves, Esc cancels.",
                "上下で選ぶか名前を入力します。Enterで保存、Escで取り消します。"
            )
        case .since: LocalText("for {1}", "{1}前から")
        case .paused: LocalText("Paused: received data is discarded.", "一時停止中です。受信データは破棄されます。")
        case .notTyped: LocalText("Typing is off: {1}", "入力しません: {1}")
        case .received: LocalText("received", "受信")
        case .noDaemon: LocalText("No daemon is running.", "デーモンが動いていません。")
        case .startHere:
            LocalText(
                "Press Enter to start one. It keeps running until `blewedge stop`.",
                "Enterで起動します。この画面を閉じても `blewedge stop` まで動作を続けます。"
            )
        case .starting: LocalText("Starting the daemon.", "デーモンを起動しています。")
        case .startFailed: LocalText("Cannot start the daemon: {1}", "デーモンを起動できませんでした: {1}")
        case .startedEnded:
            LocalText("The daemon exited with status {1}: {2}", "デーモンが状態{1}で終了しました: {2}")
        case .attached: LocalText("Connected to the daemon.", "デーモンに接続しました。")
        case .gone: LocalText("Lost the connection to the daemon. Reconnecting.", "デーモンがいなくなりました。探しています。")
        case .columnKind: LocalText("Kind", "種類")
        case .kindKeyboard: LocalText("keyboard", "キーボード")
        case .kindOtherHID: LocalText("HID, no keyboard", "HID(キーなし)")
        case .kindBeacon: LocalText("beacon", "ビーコン")
        case .kindOther: LocalText("no serial service", "シリアル通信なし")
        case .scanning: LocalText("Scanning ...", "スキャン中...")
        case .columnName: LocalText("Name", "名前")
        case .columnHeard: LocalText("Last seen", "最終受信時刻")
        case .columnHeardShort: LocalText("Seen", "受信時刻")
        case .columnSignal: LocalText("RSSI", "RSSI")
        case .use: LocalText("Use", "つかう")
        case .forget: LocalText("Forget", "解除")
        case .notHeard: LocalText("not seen", "受信なし")
        case .nothingHeard:
            LocalText(
                "No devices yet. Press a button on the device to wake it.",
                "まだ何も受信していません。スリープ中のデバイスはボタンで起動してください。"
            )
        case .listening: LocalText("Refreshed.", "更新しました。")
        case .askSwitch:
            LocalText(
                "{1} is already selected. Switch to {2}?",
                "すでに別のデバイス({1})が選択済みです。現在選択したデバイス({2})に切り替えますか?"
            )
        case .askOpen:
            LocalText(
                "{1} is not paired. Anyone can impersonate it and type. Use it anyway?",
                "{1} はペアリングされていません。名前とアドレスを真似た機器なら誰のものでも入力できます。それでも使用しますか?"
            )
        case .askForget: LocalText("Forget {1}?", "{1} の選択を解除しますか?")
        case .ok: LocalText("OK", "OK")
        case .no: LocalText("Cancel", "キャンセル")
        case .asking: LocalText("Searching for {1}.", "{1} を探しています。")
        case .chosen: LocalText("{1} is selected.", "{1} を選択しました。")
        case .forgotten: LocalText("No device is selected now.", "選択を解除しました。")
        case .field: LocalText("Typed text", "入力された文字")
        case .lastReceived: LocalText("Last received: {1} ago, {2} bytes", "最終受信: {1}前、{2}バイト")
        case .noneReceived: LocalText("Nothing received yet.", "まだ受信していません。")
        case .adapter: LocalText("Adapter", "アダプタ")
        case .keyboard: LocalText("Keyboard", "キーボード")
        case .typingOpen: LocalText("Received data is typed.", "受信データを入力します。")
        case .serviceStarting: LocalText("Starting the service.", "サービスを起動しています。")
        case .serviceMissing: LocalText("No service is installed", "サービスがインストールされていません")
        case .serviceFailed: LocalText("Cannot start the service: {1}", "サービスを起動できませんでした: {1}")
        case .serviceRemedy: LocalText("run `{1}` as root", "rootで `{1}` を実行してください")
        case .connecting: LocalText("Connecting.", "接続を始めます。")
        case .disconnecting: LocalText("Disconnecting.", "切断します。")
        case .pausedNow: LocalText("Paused.", "一時停止しました。")
        case .resumedNow: LocalText("Resumed.", "再開しました。")
        case .pressed: LocalText("Pressed: {1}", "押しました: {1}")
        case .typedSnippet: LocalText("Typed: {1}", "入力しました: {1}")
        case .cleared: LocalText("Field cleared.", "入力欄を消去しました。")
        case .tooMany: LocalText("Too many keys at once; some were ignored.", "キーが多すぎるため、一部を無視しました。")
        case .keypadHelp:
            LocalText("The arrows select a key. Enter sends it to the focused window.", "矢印でキーを選び、Enterで入力先へ送ります。")
        case .snippetsHelp:
            LocalText("Enter types the text into the focused window.", "Enterで定型文を入力先へ送ります。")
        case .snippetsFault: LocalText("Cannot use the snippet file: {1}", "定型文のファイルを使用できません: {1}")
        case .noSnippets:
            LocalText(
                "No snippets. Add {\"title\": \"text\"} to snippets.json next to the configuration file, or set `snippets = \"habr\"` for examples.",
                "定型文はありません。設定ファイルと同じ場所のsnippets.jsonに {\"題名\": \"文章\"} と記述してください。設定の `snippets = \"habr\"` で例を使用できます。"
            )
        case .snippetMoves: LocalText("then Left {1} times", "その後、左へ{1}回")
        case .statusLine: LocalText("Show the connection state", "接続状態の表示")
        case .on: LocalText("on", "オン")
        case .off: LocalText("off", "オフ")
        case .language: LocalText("Language of these pages", "画面の言語")
        case .languageName: LocalText("English", "日本語")
        case .profile: LocalText("Profile", "プロファイル")
        case .layout: LocalText("Layout", "配列")
        case .table: LocalText("Table", "変換表")
        case .file: LocalText("Configuration", "設定ファイル")
        case .saved: LocalText("Saved in {1}", "保存しました: {1}")
        case .notSaved: LocalText("Not saved: {1}", "保存できませんでした: {1}")
        case .reload: LocalText("Reload the configuration", "デーモンに設定を読み直させる")
        case .reloaded: LocalText("Configuration reloaded.", "設定を読み直しました。")
        case .beaconsHindered: LocalText("Cannot watch beacons: {1}", "ビーコンを監視できません: {1}")
        case .nothingWatched:
            LocalText(
                "No region is watched. Set beacons.watch, or run `blewedge beacons watch all`.",
                "監視していません。beacons.watch を設定するか、`blewedge beacons watch all` を実行してください。"
            )
        case .regionsCount:
            LocalText("Regions: {1} known, {2} watched, {3} inside", "リージョン: 登録{1}、監視中{2}、圏内{3}")
        case .columnRegion: LocalText("Region", "リージョン")
        case .columnPlace: LocalText("State", "状態")
        case .columnSighted: LocalText("Last seen", "最終検出")
        case .inside: LocalText("inside", "圏内")
        case .outside: LocalText("outside", "圏外")
        case .ago: LocalText("{1} ago", "{1}前")
        case .never: LocalText("never", "なし")
        case .moreRegions: LocalText("and {1} more", "ほか{1}個")
        case .beaconActions: LocalText("Actions: {1}", "動作: {1}")
        case .designated: LocalText("Designated: {1}", "指定ビーコン: {1}")
        case .switcher: LocalText("switcher", "スイッチャー")
        case .noneDesignated: LocalText("No designated beacons.", "指定ビーコンはありません。")
        case .ownBeacon: LocalText("Own beacon: {1}", "自身のビーコン: {1}")
        case .ownBeaconStarting: LocalText("Own beacon, starting: {1}", "自身のビーコン(準備中): {1}")
        case .beaconCounts:
            LocalText(
                "Advertising reports: {1} ({2} from beacons, {3} from other devices), malformed events: {4}",
                "アドバタイズ: {1}、うちビーコン{2}、その他{3}、不正なイベント{4}"
            )
        }
    }
}

/// Durations in words; `{1}` is the number.
package enum TimeLabelText: String, Localized {
    case seconds, minutes, hours, days

    package var texts: LocalText {
        switch self {
        case .seconds: LocalText("{1} s", "{1}秒")
        case .minutes: LocalText("{1} min", "{1}分")
        case .hours: LocalText("{1} h", "{1}時間")
        case .days: LocalText("{1} d", "{1}日")
        }
    }

    /// Formats a number of seconds in the largest unit of which there is at least one.
    package static func text(seconds: Int64, _ language: Language) -> String {
        let seconds = max(0, seconds)
        let (label, count): (TimeLabelText, Int64) =
            switch seconds {
            case ..<60: (.seconds, seconds)
            case ..<3600: (.minutes, seconds / 60)
            case ..<86_400: (.hours, seconds / 3600)
            default: (.days, seconds / 86_400)
            }
        return label.text(language, "\(count)")
    }
}

/// The user guide (LK-12): the steps from an unprepared machine to the first typed character.
package enum GuideText: String, Localized {
    case title, intro
    // The steps, and the remedy for each of them.
    case machine, machineFault, byCommand, daemon, daemonOpen, choose, chooseOpen, connect, connectOpen, attempt,
        attemptOpen
    // Marks shown before a step.
    case done, next, later
    // Texts that explain what the access rights are needed for.
    case accessTitle, access, privacy
    // Texts that describe how the program uses the network.
    case networkNone, networkServer, networkController, networkUnread
    case further, keys
    // Text for users who do not use the terminal pages.
    case commands

    package var texts: LocalText {
        switch self {
        case .title: LocalText("How to add the keyboard", "キーボードの追加方法")
        case .intro:
            LocalText(
                "blewedge types the data of a Bluetooth LE device, such as a barcode reader, into the focused window.",
                "blewedgeは、バーコードリーダなどのBluetooth LEデバイスから受信したデータを、フォーカスのある入力欄へ入力します。"
            )
        case .machine:
            LocalText("Adapter found, virtual keyboard permitted", "アダプタがあり、キーボードを作成できる")
        case .machineFault: LocalText("{1}. Fix: {2}", "{1}。対処: {2}")
        case .byCommand: LocalText("{1}: `{2}`", "{1}: `{2}`")
        case .daemon: LocalText("Daemon running", "デーモンが動いている")
        case .daemonOpen:
            LocalText("Press Enter to start it, or run `{1}` in a shell.", "Enterで起動します。シェルでは: `{1}`")
        case .choose: LocalText("Device selected", "デバイスを選択している")
        case .chooseOpen:
            LocalText(
                "Press Enter to list the devices, then select yours with the arrows and Enter.",
                "Enterでデバイス画面を開き、矢印とEnterで選択します。"
            )
        case .connect: LocalText("Device connected", "デバイスと接続している")
        case .connectOpen:
            LocalText("Switch the device on and move it closer. {1}", "デバイスの電源を入れ、近づけてください。{1}")
        case .attempt: LocalText("Received data shown below", "受信データがここに表示される")
        case .attemptOpen:
            LocalText(
                "Scan a barcode, for example. It appears in the field below.",
                "コードを読み取るなどして送信すると、下の入力欄に表示されます。"
            )
        case .done: LocalText("[ok]", "[済]")
        case .next: LocalText("[->]", "[次]")
        case .later: LocalText("[  ]", "[  ]")
        case .accessTitle: LocalText("Purpose of the permissions", "アクセスの使用目的")
        case .access:
            LocalText(
                "Bluetooth and the virtual keyboard are used only to receive data and to type it.",
                "Bluetoothと仮想キーボードへのアクセスの使用目的は、BLE通信と入力のみです。"
            )
        case .privacy:
            LocalText(
                "No personal data and no typed text is collected, stored or sent.",
                "本ソフトウェアがユーザの個人情報や入力内容を収集、利用することはありません。"
            )
        case .networkNone: LocalText("No network connection is used.", "ネットワークは使用しません。")
        case .networkServer:
            LocalText(
                "Network: {1} receives beacon tracks, test logs and queries, never typed text.",
                "ネットワーク: ビーコンの記録、テストログ、問い合わせを {1} へ送信します。入力内容は送信しません。"
            )
        case .networkController:
            LocalText(
                "Network: the Bluetooth controller is at the TCP address {1}.",
                "ネットワーク: BluetoothコントローラにTCPで接続します: {1}"
            )
        case .networkUnread:
            LocalText("Network: unknown, because {1} cannot be read.", "ネットワーク: {1} を読み取れないため不明です。")
        case .commands:
            LocalText(
                "From a new machine to the first typed character ({1} is the name or address of your device):",
                "新しいマシンで最初の文字を入力するまで({1}はデバイスの名前またはアドレス):"
            )
        case .keys:
            LocalText(
                "Without function keys, press Alt with a digit, Alt-B for F11 and Alt-X for F12.",
                "ファンクションキーがない場合は、Altと数字で代用できます。F11はAltとb、F12はAltとxです。"
            )
        case .further:
            LocalText(
                "If nothing is typed, run `blewedge doctor` to find the cause.",
                "入力されないときは、`blewedge doctor` で原因を調べられます。"
            )
        }
    }
}
