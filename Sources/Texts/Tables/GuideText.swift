// SPDX-License-Identifier: GPL-2.0-or-later

/// The user guide (LK-12): the way from an unprepared machine to the first typed character.
package enum GuideText: String, Localized {
    case title, intro
    // The steps, and the remedy for each.
    case machine, machineFault, byCommand, daemon, daemonOpen, choose, chooseOpen, connect, connectOpen, attempt,
        attemptOpen
    // Marks before a step.
    case done, next, later
    // The purposes of the access rights.
    case accessTitle, access, privacy
    // The use of a network.
    case networkNone, networkServer, networkController, networkUnread
    case further, keys
    // The guide for use without the terminal pages.
    case commands

    package var texts: LocalText {
        switch self {
        case .title: LocalText("How to add the keyboard", "キーボードの追加方法")
        case .intro:
            LocalText(
                "blewedge types what a Bluetooth LE device sends, a barcode reader for instance, into whatever has the focus.",
                "blewedgeは、バーコードリーダなどのBluetooth LEデバイスから受信したデータを、フォーカスのある入力欄へ入力します。"
            )
        case .machine:
            LocalText("The machine has an adapter and lets a keyboard be made", "アダプタがあり、キーボードを作成できる")
        case .machineFault: LocalText("{1}. To mend it: {2}", "{1}。対処: {2}")
        case .byCommand: LocalText("{1}: `{2}`", "{1}: `{2}`")
        case .daemon: LocalText("The daemon runs", "デーモンが動いている")
        case .daemonOpen:
            LocalText(
                "Enter starts it; in a shell: `{1}`",
                "Enterで起動します。シェルでは: `{1}`"
            )
        case .choose: LocalText("A device is chosen", "デバイスを選択している")
        case .chooseOpen:
            LocalText(
                "Enter opens the devices: choose yours with the arrows and Enter.",
                "Enterでデバイス画面を開き、矢印とEnterで選択します。"
            )
        case .connect: LocalText("The device is connected", "デバイスと接続している")
        case .connectOpen:
            LocalText("Switch it on and bring it near. {1}", "デバイスの電源を入れ、近づけてください。{1}")
        case .attempt: LocalText("What it sends appears here", "受信データがここに表示される")
        case .attemptOpen:
            LocalText(
                "Send something, scan a code for instance: it appears in the field below.",
                "コードを読み取るなどして送信すると、下の入力欄に表示されます。"
            )
        case .done: LocalText("[ok]", "[済]")
        case .next: LocalText("[->]", "[次]")
        case .later: LocalText("[  ]", "[  ]")
        case .accessTitle: LocalText("What the access is used for", "アクセスの使用目的")
        case .access:
            LocalText(
                "The rights to Bluetooth and to the virtual keyboard are used for BLE and for typing only.",
                "Bluetoothと仮想キーボードへのアクセスの使用目的は、BLE通信と入力のみです。"
            )
        case .privacy:
            LocalText(
                "Neither personal data nor what is typed is collected, kept or sent anywhere.",
                "本ソフトウェアがユーザの個人情報や入力内容を収集、利用することはありません。"
            )
        case .networkNone: LocalText("No network is used.", "ネットワークは使用しません。")
        case .networkServer:
            LocalText(
                "Network: {1} receives tracks of beacons, test logs and queries, never typed text.",
                "ネットワーク: ビーコンの記録、テストログ、問い合わせを {1} へ送信します。入力内容は送信しません。"
            )
        case .networkController:
            LocalText(
                "Network: the Bluetooth controller is reached by TCP, at {1}.",
                "ネットワーク: BluetoothコントローラにTCPで接続します: {1}"
            )
        case .networkUnread:
            LocalText(
                "Network: unknown, because {1} cannot be read.",
                "ネットワーク: {1} を読み取れないため不明です。"
            )
        case .commands:
            LocalText(
                "From a new machine to the first typed character ({1} is your device's name or address):",
                "新しいマシンで最初の文字を入力するまで({1}はデバイスの名前またはアドレス):"
            )
        case .keys:
            LocalText(
                "A keyboard without function keys has Alt with a digit for them, and Alt with b for F11.",
                "ファンクションキーがない場合は、Altと数字で代用できます。F11はAltとbです。"
            )
        case .further:
            LocalText(
                "If nothing is typed, `blewedge doctor` finds out why.",
                "入力されないときは、`blewedge doctor` で原因を調べられます。"
            )
        }
    }
}
