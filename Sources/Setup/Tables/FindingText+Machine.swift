// SPDX-License-Identifier: GPL-2.0-or-later

import Devices
import Texts

// Texts of findings about the kernel's Bluetooth, the selected adapter, and other programs that use the adapter.

extension FindingText {
    static let kernelWithoutBluetooth = FindingText(
        what: AdapterFaultText.noBluetooth.texts,
        why: LocalText("no adapter can be used", "何を接続しても、アダプタを使用できません"),
        remedy: LocalText(
            "load the module, or use a kernel built with CONFIG_BT and CONFIG_BT_LE",
            "モジュールを読み込んでください。ない場合は、CONFIG_BTとCONFIG_BT_LEを有効にしたカーネルを使用してください"
        )
    )

    static let bluetoothRefused = FindingText(
        "the kernel denies Bluetooth sockets to this process: {1}",
        "カーネルがこのプロセスにBluetoothソケットを許可しません: {1}",
        why: "no adapter can be used",
        "ソケットがなければ、アダプタを使用できません",
        fix:
            "allow AF_BLUETOOTH in the service's RestrictAddressFamilies= and in the container's or security module's policy",
        "サービスのRestrictAddressFamilies=と、コンテナまたはセキュリティモジュールのポリシーでAF_BLUETOOTHを許可してください"
    )

    static let adapterUnreadable = FindingText(
        "cannot get the list of adapters from the kernel: {1}",
        "カーネルからアダプタの一覧を取得できません: {1}",
        why: "no adapter can be used without this information",
        "情報が得られないアダプタは使用できません",
        fix: "unplug the adapter and plug it in again; the kernel log may show the cause",
        "アダプタを抜き差ししてください。カーネルのログに詳細があるかもしれません"
    )

    static let adapterNotFound = FindingText(
        "there is no adapter {1}; available: {2}",
        "アダプタ {1} はありません。あるのは {2} です",
        why: "only the specified adapter is used",
        "指定されたもの以外のアダプタは使用しません",
        fix: "specify one of these, or none: `adapter` in the configuration, `--adapter` on the command line",
        "この中の一つを指定するか、指定をやめてください: 設定ファイルの `adapter`、コマンドラインの `--adapter`"
    )

    static let adapterTaken = FindingText(
        "another program is using {1} exclusively, or {1} is not configured yet",
        "別のプログラムが {1} を占有しているか、{1} が設定待ちです",
        why: "other programs cannot use an adapter that is opened exclusively (HCI user channel)",
        "占有されたアダプタ(HCIユーザチャネル)は、ほかのプログラムから使用できません",
        fix: "stop the program that uses it: one of those with open Bluetooth sockets",
        "占有しているプログラムを終了してください。Bluetoothソケットを持つプログラムのいずれかです"
    )

    static let noAdapter = FindingText(
        what: AdapterFaultText.noAdapter.texts,
        why: LocalText("nothing can be received without an adapter", "アダプタがなければ、何も受信できません"),
        remedy: LocalText(
            "plug in an adapter; the kernel log shows any that failed to start, often because of missing firmware",
            "アダプタを接続してください。起動に失敗したものはカーネルのログで分かります。多くはファームウェアのファイルがないためです"
        )
    )

    static let uartNotAttached = FindingText(
        "the Bluetooth controller at serial port {1} ({2}) {3}",
        "シリアルポート {1} ({2})のBluetoothコントローラ{3}",
        why: "a UART controller becomes an adapter only when a driver has attached it",
        "UART接続のコントローラは、ドライバが接続するまでアダプタになりません",
        fix: "check the kernel log for a missing firmware file, and install it",
        "不足しているファームウェアのファイルをカーネルのログで調べ、インストールしてください"
    )

    static let adapterWithoutLowEnergy = FindingText(
        "{1} or the kernel does not support Bluetooth Low Energy",
        "{1} またはカーネルがBluetooth Low Energyに対応していません",
        why: "the device supports only Low Energy",
        "デバイスはLow Energyだけで通信します",
        fix: "use a Bluetooth 4.0 or later adapter; if there are several, select it with `--adapter`",
        "Bluetooth 4.0以降のアダプタを使用し、複数ある場合は指定してください: `--adapter`"
    )

    static let rfkillHard = FindingText(
        what: AdapterFaultText.hardBlocked.texts,
        why: LocalText("the radio is off, and software cannot turn it on", "無線が停止しており、ソフトウェアからは変更できません"),
        remedy: AdapterFaultText.switchOn
    )

    static let rfkillSoft = FindingText(
        what: AdapterFaultText.softBlocked.texts,
        why: LocalText("the kernel does not power on a blocked adapter", "無効にされたアダプタの電源を、カーネルは入れません"),
        remedy: LocalText(
            "unblock it; systemd-rfkill keeps the setting across reboots",
            "有効にしてください。再起動後もsystemd-rfkillが維持します"
        )
    )

    static let adapterDown = FindingText(
        "{1} is powered off although the daemon is running",
        "デーモンが動いているのに、{1} の電源が切れています",
        why: "the daemon powers it on every few seconds, but another program powers it off",
        "デーモンは数秒ごとに電源を入れますが、ほかの何かが切っています",
        fix: "find the program: a power manager, a script with `hciconfig` or `btmgmt`, a network manager",
        "何が切っているか調べてください: 電源管理、`hciconfig` や `btmgmt` を使うスクリプト、ネットワーク管理など"
    )

    static let otherBluetoothService = FindingText(
        "{1} is also running (process {2})",
        "{1} も動いています(プロセス{2})",
        why: "it scans, connects and powers the same adapter, and may take over connections",
        "同じアダプタでスキャン、接続、電源の切り替えを行い、ほかのための接続を奪うことがあります",
        fix: "stop it if nothing else needs it, or assign it another adapter",
        "ほかで必要がなければ停止するか、別のアダプタを割り当ててください"
    )

    static let capabilitiesMissing = FindingText(
        "this process lacks {1}",
        "このプロセスには{1}がありません",
        why: "powering on the adapter requires CAP_NET_ADMIN; scanning requires CAP_NET_RAW",
        "アダプタの電源を入れるにはCAP_NET_ADMIN、スキャンにはCAP_NET_RAWが必要です",
        fix: "run as root, or install the service with `blewedge setup`",
        "rootで実行するか、`blewedge setup` でサービスをインストールしてください"
    )

    static let kernelQuirk = FindingText(
        what: LocalText(
            "Linux {1} frees a Bluetooth channel twice when a link ends early (hci_chan_del)",
            "Linux {1} は、接続が早く切れるとBluetoothのチャネルを二重に解放します(hci_chan_del)"
        ),
        why: kernelQuirkEffect,
        remedy: LocalText(
            "boot Linux 6.1.190 or older in that series, or 6.12; or set `adapter = \"user:hci0\"`, which avoids that code",
            "同じ系列の6.1.190以前、または6.12で起動するか、その処理を使わない `adapter = \"user:hci0\"` を設定してください"
        )
    )

    static let kernelQuirkPossible = FindingText(
        what: LocalText(
            "Linux {1} may free a Bluetooth channel twice, as 6.1.191 and 6.1.192 do (hci_chan_del)",
            "Linux {1} は、6.1.191、6.1.192と同じくBluetoothのチャネルを二重に解放する可能性があります(hci_chan_del)"
        ),
        why: kernelQuirkEffect,
        remedy: LocalText(
            "if the kernel log shows hci_chan_del, boot Linux 6.12, or set `adapter = \"user:hci0\"`",
            "カーネルのログにhci_chan_delがあれば、Linux 6.12で起動するか、`adapter = \"user:hci0\"` を設定してください"
        )
    )

    private static let kernelQuirkEffect = LocalText(
        "if a device disconnects before its first packet, blewedge and Bluetooth hang until a reboot",
        "デバイスが最初のパケットより前に切断すると、再起動するまでblewedgeとBluetoothが停止します"
    )

    // Texts of findings about the virtual keyboard, the applications that read it, and the configuration.

    static let uinputMissing = FindingText(
        "{1} does not exist, or its module is missing",
        "{1} がないか、対応するモジュールがありません",
        why: "it is needed to create the keyboard",
        "キーボードはそこで作成します",
        fix: "load the module; `blewedge setup` loads it at every boot",
        "モジュールを読み込んでください。`blewedge setup` で起動のたびに読み込まれるようになります"
    )

    static let uinputNotPermitted = FindingText(
        "this process is not permitted to open {1}",
        "このプロセスは {1} を開くことを許可されていません",
        why: "it is needed to create the keyboard",
        "キーボードはそこで作成します",
        fix: "run as root, or use the service that `blewedge setup` installs: other users cannot create keyboards",
        "rootで実行するか、`blewedge setup` でインストールするサービスに任せてください。ほかのユーザはキーボードを作成できません"
    )

    static let uinputRefused = FindingText(
        "cannot open {1}: {2}",
        "{1} を開けません: {2}",
        why: "it is needed to create the keyboard",
        "キーボードはそこで作成します",
        fix: "allow it in the service's DeviceAllow= and in the container's or security module's policy",
        "サービスのDeviceAllow=と、コンテナまたはセキュリティモジュールのポリシーで許可してください"
    )

    static let evdevMissing = FindingText(
        "the kernel does not create event nodes for keyboards (no evdev)",
        "カーネルがキーボードのイベントノードを作成しません(evdevがありません)",
        why: "text consoles receive the keys, but desktops and other programs do not",
        "テキストコンソールには入力されますが、デスクトップやほかのプログラムからは読み取れません",
        fix: "load the module; `blewedge setup` loads it at every boot",
        "モジュールを読み込んでください。`blewedge setup` で起動のたびに読み込まれるようになります"
    )

    static let eventNodeNotReadable = FindingText(
        "cannot read the keyboard's event node {1}",
        "キーボードのイベントノード {1} を読み取れません",
        why: "`verify` compares the events on this node with the expected ones",
        "`verify` は、そこに届いたものを入力するはずのものと照合します",
        fix: "install the udev rule with `blewedge setup`, run as root, or do not use `verify`",
        "`blewedge setup` で規則をインストールするか、rootで実行するか、`verify` を使わないでください"
    )

    static let oldInputDriver = FindingText(
        "Xorg reads keyboards with its old evdev driver, or probably does: {1}",
        "Xorgが古いドライバevdevでキーボードを読み取っているか、その可能性があります: {1}",
        why: "with a queue of 256 events, the keyboard declares axes, and this driver treats it as a pointer",
        "イベント256個のキューのためにキーボードは軸を宣言しますが、このドライバはそれをポインタのものとみなします",
        fix: "set `queue = 64` in the configuration or `--queue 64` for `run`, or use Xorg's libinput driver",
        "設定ファイルで `queue = 64` とするか、`--queue 64` を付けて `run` を実行するか、Xorgのドライバlibinputを使ってください"
    )

    static let configurationWrong = FindingText(
        "the configuration {1} is invalid: {2}",
        "設定ファイル {1} に誤りがあります: {2}",
        why: "the daemon cannot start; a running daemon keeps its previous configuration",
        "このままではデーモンは起動できません。動作中のデーモンは以前の設定のままです",
        fix: "correct the line, then check the file",
        "その行を直してから、確認してください"
    )

    static let selectionUnreadable = FindingText(
        "cannot read the selected device from {1}: {2}",
        "{1} の選択を読み取れません: {2}",
        why: "after a restart, the daemon does not know which device to use",
        "再起動後、どのデバイスを使うのか分からなくなります",
        fix: "select the device again, which rewrites the file",
        "デバイスを選択し直してください。ファイルが書き直されます"
    )

    static let nothingSelected = FindingText(
        "no device selected",
        "デバイスが選択されていません",
        why: "the daemon connects only to a selected device",
        "選択されていないデバイスとは接続しません",
        fix: "find the device with `blewedge scan`, then select it by its name or address",
        "`blewedge scan` でデバイスを探し、名前またはアドレスで選択してください"
    )

    static let legacyBond = FindingText(
        "authenticated keys are required, but those of {1} are from legacy pairing",
        "認証済みの鍵が要求されていますが、{1} の鍵はレガシーペアリングによるものです",
        why: "a legacy passkey does not authenticate, so no data from the device is typed",
        "レガシーペアリングの番号では認証にならないため、このデバイスからは入力されません",
        fix: "remove the keys and pair as authenticated; if refused, pair and `use` it as encrypted",
        "鍵を削除し、authenticated でペアリングし直してください。拒否される場合は encrypted でペアリングし、`use` し直してください"
    )

    static let consoleIgnoresKeys = FindingText(
        "{1} is in text mode, but its keyboard is {2}",
        "{1} はテキスト表示ですが、キーボードの状態が{2}です",
        why: "programs on it receive no typed text; often a graphical program exited without cleaning up",
        "その端末のプログラムには文字が入力されません。多くは、グラフィカルなプログラムが後始末をせずに終了したためです",
        fix: "set its keyboard to Unicode mode",
        "キーボードをUnicodeモードに設定してください"
    )

    static let consoleLeaksKeys = FindingText(
        "a program draws on {1}, but the console behind it also receives keys",
        "{1} ではプログラムが画面を描画していますが、その下のコンソールもキーを受け取っています",
        why: "typed text also goes to a hidden shell or login prompt",
        "見えないシェルやログインプロンプトにも入力されます",
        fix: "make the program mute the console (K_OFF), or give it a terminal of its own",
        "プログラムでコンソールのキー入力を止めるか(K_OFF)、ほかに何も動いていない端末を割り当ててください"
    )

    static let loginPromptInFront = FindingText(
        "{1} (process {2}) shows a login prompt on the foreground terminal {3}",
        "前面の {3} で {1} (プロセス{2})がログインを待っています",
        why: "typed text is entered as a user name or password",
        "受信データが名前やパスワードとして入力されます",
        fix: "log in there, switch to the application's terminal, or disable the prompt",
        "そこでログインするか、使いたいプログラムの端末を前面に出すか、プロンプトを無効にしてください"
    )

    static let layoutDiffers = FindingText(
        "layout {1} differs from the layout of {2}: {3}{4}",
        "配列 {1} は {2} の配列と異なります: {3}{4}",
        why: "the typed characters differ from those that the device sent",
        "デバイスが送信したものと異なる文字が入力されます",
        fix:
            "use the console's keymap: `layout = \"console\"` in the configuration, `--layout console` for `run`",
        "コンソールのキーマップで入力してください: 設定ファイルでは `layout = \"console\"`、`--layout console` は `run` の場合です"
    )
}
