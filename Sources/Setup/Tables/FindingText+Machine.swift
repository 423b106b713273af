// SPDX-License-Identifier: GPL-2.0-or-later

import Devices
import Texts

// The texts of findings about the kernel's Bluetooth, the selected adapter, and other programs that use it.

extension FindingText {
    static let kernelWithoutBluetooth = FindingText(
        what: AdapterFaultText.noBluetooth.texts,
        why: LocalText("no adapter can be used, whatever is plugged in", "何を接続しても、アダプタを使用できません"),
        remedy: LocalText(
            "load the module; where there is none, use a kernel built with CONFIG_BT and CONFIG_BT_LE",
            "モジュールを読み込んでください。ない場合は、CONFIG_BTとCONFIG_BT_LEを有効にしたカーネルを使用してください"
        )
    )

    static let bluetoothRefused = FindingText(
        "the kernel refuses Bluetooth sockets to this process: {1}",
        "カーネルがこのプロセスにBluetoothソケットを許可しません: {1}",
        why: "without them no adapter can be used",
        "ソケットがなければ、アダプタを使用できません",
        fix:
            "permit AF_BLUETOOTH in the service's RestrictAddressFamilies= and in the container's or security module's policy",
        "サービスのRestrictAddressFamilies=と、コンテナまたはセキュリティモジュールのポリシーでAF_BLUETOOTHを許可してください"
    )

    static let adapterUnreadable = FindingText(
        "the kernel does not say which adapters there are: {1}",
        "カーネルからアダプタの一覧を取得できません: {1}",
        why: "no adapter can be used of which nothing is known",
        "情報が得られないアダプタは使用できません",
        fix: "unplug the adapter and plug it in again; the kernel's log may say more",
        "アダプタを抜き差ししてください。カーネルのログに詳細があるかもしれません"
    )

    static let adapterNotFound = FindingText(
        "there is no adapter {1}; there is {2}",
        "アダプタ {1} はありません。あるのは {2} です",
        why: "no other adapter is used than the one that is named",
        "指定されたもの以外のアダプタは使用しません",
        fix: "name one of these, or none: `adapter` in the configuration, `--adapter` on the command line",
        "この中の一つを指定するか、指定をやめてください: 設定ファイルの `adapter`、コマンドラインの `--adapter`"
    )

    static let adapterTaken = FindingText(
        "another program has {1} to itself, or it waits for its configuration",
        "別のプログラムが {1} を占有しているか、{1} が設定待ちです",
        why: "the kernel lets nobody else use an adapter that is taken as a whole (HCI user channel)",
        "占有されたアダプタ(HCIユーザチャネル)は、ほかのプログラムから使用できません",
        fix: "end the program that has it: one of those that hold Bluetooth sockets",
        "占有しているプログラムを終了してください。Bluetoothソケットを持つプログラムのいずれかです"
    )

    static let noAdapter = FindingText(
        what: AdapterFaultText.noAdapter.texts,
        why: LocalText("nothing can be heard without one", "アダプタがなければ、何も受信できません"),
        remedy: LocalText(
            "plug one in; the kernel's log tells of one that did not start, mostly for want of its firmware file",
            "アダプタを接続してください。起動に失敗したものはカーネルのログで分かります。多くはファームウェアのファイルがないためです"
        )
    )

    static let uartNotAttached = FindingText(
        "the Bluetooth controller behind the serial port {1} ({2}) {3}",
        "シリアルポート {1} ({2})のBluetoothコントローラ{3}",
        why: "a controller on a UART is no adapter until a driver has attached it",
        "UART接続のコントローラは、ドライバが接続するまでアダプタになりません",
        fix: "look in the kernel's log for a firmware file that is missing, and install it",
        "不足しているファームウェアのファイルをカーネルのログで調べ、インストールしてください"
    )

    static let adapterWithoutLowEnergy = FindingText(
        "{1} has no Bluetooth Low Energy, or the kernel was built without it",
        "{1} またはカーネルがBluetooth Low Energyに対応していません",
        why: "the device speaks Low Energy only",
        "デバイスはLow Energyだけで通信します",
        fix: "use an adapter of Bluetooth 4.0 or later, and name it where there are several: `--adapter`",
        "Bluetooth 4.0以降のアダプタを使用し、複数ある場合は指定してください: `--adapter`"
    )

    static let rfkillHard = FindingText(
        what: AdapterFaultText.hardBlocked.texts,
        why: LocalText("the radio is silent, and no software can change that", "無線が停止しており、ソフトウェアからは変更できません"),
        remedy: AdapterFaultText.switchOn
    )

    static let rfkillSoft = FindingText(
        what: AdapterFaultText.softBlocked.texts,
        why: LocalText("the kernel does not switch on an adapter that is blocked", "無効にされたアダプタの電源を、カーネルは入れません"),
        remedy: LocalText("unblock it; systemd-rfkill keeps that over a restart", "有効にしてください。再起動後もsystemd-rfkillが維持します")
    )

    static let adapterDown = FindingText(
        "{1} is switched off although the daemon runs",
        "デーモンが動いているのに、{1} の電源が切れています",
        why: "the daemon switches it on again every few seconds; somebody else switches it off",
        "デーモンは数秒ごとに電源を入れますが、ほかの何かが切っています",
        fix: "look who does: a power manager, a script with `hciconfig` or `btmgmt`, a network manager",
        "何が切っているか調べてください: 電源管理、`hciconfig` や `btmgmt` を使うスクリプト、ネットワーク管理など"
    )

    static let otherBluetoothService = FindingText(
        "{1} runs beside (process {2})",
        "{1} も動いています(プロセス{2})",
        why: "it scans, connects and switches the same adapter, and may take connections that are meant for others",
        "同じアダプタでスキャン、接続、電源の切り替えを行い、ほかのための接続を奪うことがあります",
        fix: "stop it where nothing else needs it, or give it another adapter",
        "ほかで必要がなければ停止するか、別のアダプタを割り当ててください"
    )

    static let capabilitiesMissing = FindingText(
        "this process lacks {1}",
        "このプロセスには{1}がありません",
        why: "CAP_NET_ADMIN switches the adapter on, CAP_NET_RAW scans",
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
            "boot Linux 6.1.190 or older of that series, or 6.12; or write `adapter = \"user:hci0\"`, which avoids that code",
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
            "if the kernel's log shows hci_chan_del, boot Linux 6.12, or write `adapter = \"user:hci0\"`",
            "カーネルのログにhci_chan_delがあれば、Linux 6.12で起動するか、`adapter = \"user:hci0\"` を設定してください"
        )
    )

    private static let kernelQuirkEffect = LocalText(
        "a device that disconnects before its first packet hangs blewedge and Bluetooth until a reboot",
        "デバイスが最初のパケットより前に切断すると、再起動するまでblewedgeとBluetoothが停止します"
    )

    // Texts of findings about the virtual keyboard, the applications that read it, and the configuration.

    static let uinputMissing = FindingText(
        "there is no {1}, or no module behind it",
        "{1} がないか、対応するモジュールがありません",
        why: "the keyboard is made there",
        "キーボードはそこで作成します",
        fix: "load the module; `blewedge setup` has it loaded at every start",
        "モジュールを読み込んでください。`blewedge setup` で起動のたびに読み込まれるようになります"
    )

    static let uinputNotPermitted = FindingText(
        "this process may not open {1}",
        "このプロセスは {1} を開くことを許可されていません",
        why: "the keyboard is made there",
        "キーボードはそこで作成します",
        fix: "run as root, or leave it to the service that `blewedge setup` installs: nobody else makes keyboards",
        "rootで実行するか、`blewedge setup` でインストールするサービスに任せてください。ほかのユーザはキーボードを作成できません"
    )

    static let uinputRefused = FindingText(
        "{1} cannot be opened: {2}",
        "{1} を開けません: {2}",
        why: "the keyboard is made there",
        "キーボードはそこで作成します",
        fix: "permit it in the service's DeviceAllow= and in the container's or security module's policy",
        "サービスのDeviceAllow=と、コンテナまたはセキュリティモジュールのポリシーで許可してください"
    )

    static let evdevMissing = FindingText(
        "the kernel makes no event nodes for keyboards (no evdev)",
        "カーネルがキーボードのイベントノードを作成しません(evdevがありません)",
        why: "text consoles get the keys, but no desktop and no other program can read them",
        "テキストコンソールには入力されますが、デスクトップやほかのプログラムからは読み取れません",
        fix: "load the module; `blewedge setup` has it loaded at every start",
        "モジュールを読み込んでください。`blewedge setup` で起動のたびに読み込まれるようになります"
    )

    static let eventNodeNotReadable = FindingText(
        "the keyboard's own event node {1} cannot be read",
        "キーボードのイベントノード {1} を読み取れません",
        why: "`verify` compares what arrives there with what was meant",
        "`verify` は、そこに届いたものを入力するはずのものと照合します",
        fix: "install the rule for it with `blewedge setup`, run as root, or do without `verify`",
        "`blewedge setup` で規則をインストールするか、rootで実行するか、`verify` を使わないでください"
    )

    static let oldInputDriver = FindingText(
        "Xorg reads keyboards with its old driver evdev, or is likely to: {1}",
        "Xorgが古いドライバevdevでキーボードを読み取っているか、その可能性があります: {1}",
        why: "with a queue of 256 events the keyboard declares axes, and this driver takes them for a pointer's",
        "イベント256個のキューのためにキーボードは軸を宣言しますが、このドライバはそれをポインタのものとみなします",
        fix: "set `queue = 64` in the configuration or `--queue 64` for `run`, or use Xorg's driver libinput",
        "設定ファイルで `queue = 64` とするか、`--queue 64` を付けて `run` を実行するか、Xorgのドライバlibinputを使ってください"
    )

    static let configurationWrong = FindingText(
        "the configuration {1} is wrong: {2}",
        "設定ファイル {1} に誤りがあります: {2}",
        why: "the daemon does not start with it, and one that runs keeps what it read before",
        "このままではデーモンは起動できません。動作中のデーモンは以前の設定のままです",
        fix: "mend the line, then check it",
        "その行を直してから、確認してください"
    )

    static let selectionUnreadable = FindingText(
        "the choice in {1} cannot be read: {2}",
        "{1} の選択を読み取れません: {2}",
        why: "after a restart nobody knows which device is meant",
        "再起動後、どのデバイスを使うのか分からなくなります",
        fix: "choose the device again, which writes the file anew",
        "デバイスを選択し直してください。ファイルが書き直されます"
    )

    static let nothingSelected = FindingText(
        "no device is chosen",
        "デバイスが選択されていません",
        why: "nothing is connected to that nobody chose",
        "選択されていないデバイスとは接続しません",
        fix: "look for the device with `blewedge scan`, then choose it by its name or address",
        "`blewedge scan` でデバイスを探し、名前またはアドレスで選択してください"
    )

    static let legacyBond = FindingText(
        "authenticated keys are demanded, and those of {1} are from legacy pairing",
        "認証済みの鍵が要求されていますが、{1} の鍵はレガシーペアリングによるものです",
        why: "a legacy passkey authenticates nobody; nothing of the device is typed",
        "レガシーペアリングの番号では認証にならないため、このデバイスからは入力されません",
        fix: "remove the keys and pair as authenticated; if that is refused, pair and `use` it as encrypted",
        "鍵を削除し、authenticated でペアリングし直してください。拒否される場合は encrypted でペアリングし、`use` し直してください"
    )

    static let consoleIgnoresKeys = FindingText(
        "{1} shows text, and its keyboard is {2}",
        "{1} はテキスト表示ですが、キーボードの状態が{2}です",
        why: "programs on it get no text of what is typed; often a graphical program has ended without tidying up",
        "その端末のプログラムには文字が入力されません。多くは、グラフィカルなプログラムが後始末をせずに終了したためです",
        fix: "set its keyboard to Unicode",
        "キーボードをUnicodeモードに設定してください"
    )

    static let consoleLeaksKeys = FindingText(
        "a program draws on {1}, and the console beneath it takes keys, too",
        "{1} ではプログラムが画面を描画していますが、その下のコンソールもキーを受け取っています",
        why: "what is typed goes to a shell or login prompt that nobody sees",
        "見えないシェルやログインプロンプトにも入力されます",
        fix: "let the program mute the console (K_OFF), or give it a terminal where nothing else runs",
        "プログラムでコンソールのキー入力を止めるか(K_OFF)、ほかに何も動いていない端末を割り当ててください"
    )

    static let loginPromptInFront = FindingText(
        "{1} (process {2}) asks for a login on {3}, which is in front",
        "前面の {3} で {1} (プロセス{2})がログインを待っています",
        why: "what is typed is taken for a name or a password",
        "受信データが名前やパスワードとして入力されます",
        fix: "log in there, bring the program's terminal to the front, or turn the prompt off",
        "そこでログインするか、使いたいプログラムの端末を前面に出すか、プロンプトを無効にしてください"
    )

    static let layoutDiffers = FindingText(
        "layout {1} is not that of {2}: {3}{4}",
        "配列 {1} は {2} の配列と異なります: {3}{4}",
        why: "other characters come out than the device sent",
        "デバイスが送信したものと異なる文字が入力されます",
        fix:
            "type with the console's own map: `layout = \"console\"` in the configuration, `--layout console` for `run`",
        "コンソールのキーマップで入力してください: 設定ファイルでは `layout = \"console\"`、`--layout console` は `run` の場合です"
    )
}
