// SPDX-License-Identifier: GPL-2.0-or-later

import Devices
import Texts

// The texts of findings about the kernel's Bluetooth, the selected adapter, and other programs that use it.

extension FindingText {
    static let kernelWithoutBluetooth = FindingText(
        what: AdapterFaultText.noBluetooth.texts,
        why: LocalText(
            "no adapter can be used, whatever is plugged in",
            "何を接続しても、アダプタを使用できません"
        ),
        remedy: LocalText(
            "load the module; where there is none, use a kernel built with CONFIG_BT and CONFIG_BT_LE",
            "モジュールを読み込んでください。ない場合は、CONFIG_BTとCONFIG_BT_LEを有効にしたカーネルを使用してください"
        )
    )

    static let bluetoothRefused = FindingText(
        what: LocalText(
            "the kernel refuses Bluetooth sockets to this process: {1}",
            "カーネルがこのプロセスにBluetoothソケットを許可しません: {1}"
        ),
        why: LocalText("without them no adapter can be used", "ソケットがなければ、アダプタを使用できません"),
        remedy: LocalText(
            "permit AF_BLUETOOTH in the service's RestrictAddressFamilies= and in the container's or security module's policy",
            "サービスのRestrictAddressFamilies=と、コンテナまたはセキュリティモジュールのポリシーでAF_BLUETOOTHを許可してください"
        )
    )

    static let adapterUnreadable = FindingText(
        what: LocalText(
            "the kernel does not say which adapters there are: {1}",
            "カーネルからアダプタの一覧を取得できません: {1}"
        ),
        why: LocalText(
            "no adapter can be used of which nothing is known",
            "情報が得られないアダプタは使用できません"
        ),
        remedy: LocalText(
            "unplug the adapter and plug it in again; the kernel's log may say more",
            "アダプタを抜き差ししてください。カーネルのログに詳細があるかもしれません"
        )
    )

    static let adapterNotFound = FindingText(
        what: LocalText("there is no adapter {1}; there is {2}", "アダプタ {1} はありません。あるのは {2} です"),
        why: LocalText(
            "no other adapter is used than the one that is named",
            "指定されたもの以外のアダプタは使用しません"
        ),
        remedy: LocalText(
            "name one of these, or none: `adapter` in the configuration, `--adapter` on the command line",
            "この中の一つを指定するか、指定をやめてください: 設定ファイルの `adapter`、コマンドラインの `--adapter`"
        )
    )

    static let adapterTaken = FindingText(
        what: LocalText(
            "another program has {1} to itself, or it waits for its configuration",
            "別のプログラムが {1} を占有しているか、{1} が設定待ちです"
        ),
        why: LocalText(
            "the kernel lets nobody else use an adapter that is taken as a whole (HCI user channel)",
            "占有されたアダプタ(HCIユーザチャネル)は、ほかのプログラムから使用できません"
        ),
        remedy: LocalText(
            "end the program that has it: one of those that hold Bluetooth sockets",
            "占有しているプログラムを終了してください。Bluetoothソケットを持つプログラムのいずれかです"
        )
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
        what: LocalText(
            "the Bluetooth controller behind the serial port {1} ({2}) {3}",
            "シリアルポート {1} ({2})のBluetoothコントローラ{3}"
        ),
        why: LocalText(
            "a controller on a UART is no adapter until a driver has attached it",
            "UART接続のコントローラは、ドライバが接続するまでアダプタになりません"
        ),
        remedy: LocalText(
            "look in the kernel's log for a firmware file that is missing, and install it",
            "不足しているファームウェアのファイルをカーネルのログで調べ、インストールしてください"
        )
    )

    static let adapterWithoutLowEnergy = FindingText(
        what: LocalText(
            "{1} has no Bluetooth Low Energy, or the kernel was built without it",
            "{1} またはカーネルがBluetooth Low Energyに対応していません"
        ),
        why: LocalText("the device speaks Low Energy only", "デバイスはLow Energyだけで通信します"),
        remedy: LocalText(
            "use an adapter of Bluetooth 4.0 or later, and name it where there are several: `--adapter`",
            "Bluetooth 4.0以降のアダプタを使用し、複数ある場合は指定してください: `--adapter`"
        )
    )

    static let rfkillHard = FindingText(
        what: AdapterFaultText.hardBlocked.texts,
        why: LocalText(
            "the radio is silent, and no software can change that",
            "無線が停止しており、ソフトウェアからは変更できません"
        ),
        remedy: AdapterFaultText.switchOn
    )

    static let rfkillSoft = FindingText(
        what: AdapterFaultText.softBlocked.texts,
        why: LocalText(
            "the kernel does not switch on an adapter that is blocked",
            "無効にされたアダプタの電源を、カーネルは入れません"
        ),
        remedy: LocalText(
            "unblock it; systemd-rfkill keeps that over a restart",
            "有効にしてください。再起動後もsystemd-rfkillが維持します"
        )
    )

    static let adapterDown = FindingText(
        what: LocalText(
            "{1} is switched off although the daemon runs",
            "デーモンが動いているのに、{1} の電源が切れています"
        ),
        why: LocalText(
            "the daemon switches it on again every few seconds; somebody else switches it off",
            "デーモンは数秒ごとに電源を入れますが、ほかの何かが切っています"
        ),
        remedy: LocalText(
            "look who does: a power manager, a script with `hciconfig` or `btmgmt`, a network manager",
            "何が切っているか調べてください: 電源管理、`hciconfig` や `btmgmt` を使うスクリプト、ネットワーク管理など"
        )
    )

    static let otherBluetoothService = FindingText(
        what: LocalText("{1} runs beside (process {2})", "{1} も動いています(プロセス{2})"),
        why: LocalText(
            "it scans, connects and switches the same adapter, and may take connections that are meant for others",
            "同じアダプタでスキャン、接続、電源の切り替えを行い、ほかのための接続を奪うことがあります"
        ),
        remedy: LocalText(
            "stop it where nothing else needs it, or give it another adapter",
            "ほかで必要がなければ停止するか、別のアダプタを割り当ててください"
        )
    )

    static let capabilitiesMissing = FindingText(
        what: LocalText("this process lacks {1}", "このプロセスには{1}がありません"),
        why: LocalText(
            "CAP_NET_ADMIN switches the adapter on, CAP_NET_RAW scans",
            "アダプタの電源を入れるにはCAP_NET_ADMIN、スキャンにはCAP_NET_RAWが必要です"
        ),
        remedy: LocalText(
            "run as root, or install the service with `blewedge setup`",
            "rootで実行するか、`blewedge setup` でサービスをインストールしてください"
        )
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
}
