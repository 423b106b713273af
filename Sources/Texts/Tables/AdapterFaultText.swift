// SPDX-License-Identifier: GPL-2.0-or-later

/// The reasons for which Bluetooth cannot be used, or a scan fails.
///
/// Where BluetoothLE has a text for the same fault, the English is the same.
package enum AdapterFaultText: String, FaultText {
    // The adapter.
    case noBluetooth, noAdapter, notFound, noLowEnergy, softBlocked, hardBlocked, refusedByKernel, missingRights
    case refused, silent, system, noAddress, noLine, stream, streamNotPermitted, streamNotListening, controller
    // Scanning.
    case listening, scanRefused, scanWithoutRights, scanUnsupported, scanFailed, gone, nothingToListenWith
    case scannedAlready, busy
    // Other programs that use the adapter.
    case used, usedBy, noLock

    package var said: (cause: LocalText, remedy: LocalText?) {
        let rights = LocalText(
            "run as root, or grant it with `setcap cap_net_admin,cap_net_raw+ep` on the blewedge binary",
            "rootで実行するか、blewedgeの実行ファイルに `setcap cap_net_admin,cap_net_raw+ep` で権限を与えてください"
        )
        let soon = LocalText("try again in a few seconds", "数秒後にもう一度お試しください")
        let others = LocalText(
            "work through it (`blewedge status`), end it (`blewedge stop`), or name another adapter",
            "それを通して使うか(`blewedge status`)、終了するか(`blewedge stop`)、別のアダプタを指定してください"
        )
        return switch self {
        case .noBluetooth:
            (
                LocalText(
                    "this kernel has no Bluetooth (AF_BLUETOOTH is unknown)",
                    "このカーネルにはBluetooth機能がありません(AF_BLUETOOTHが未知です)"
                ),
                LocalText(
                    "load it with `modprobe bluetooth`, or use a kernel built with CONFIG_BT and CONFIG_BT_LE",
                    "`modprobe bluetooth` で読み込むか、CONFIG_BTとCONFIG_BT_LEを有効にしたカーネルを使用してください"
                )
            )
        case .noAdapter:
            (
                LocalText("no Bluetooth adapter", "Bluetoothアダプタがありません"),
                LocalText(
                    "plug one in; `dmesg | grep -i bluetooth` tells of one that did not start, and a UART controller needs `btattach`",
                    "アダプタを接続してください。起動に失敗したものは `dmesg | grep -i bluetooth` で分かります。UART接続のコントローラには `btattach` が必要です"
                )
            )
        case .notFound:
            (
                LocalText("no adapter {1}; there is {2}", "アダプタ {1} はありません。あるのは {2} です"),
                LocalText("name one of these with --adapter", "--adapterでこの中の一つを指定してください")
            )
        case .noLowEnergy:
            (
                LocalText("{1} has no Bluetooth Low Energy", "{1} はBluetooth Low Energyに対応していません"),
                LocalText(
                    "use an adapter of Bluetooth 4.0 or later",
                    "Bluetooth 4.0以降のアダプタを使用してください"
                )
            )
        case .softBlocked:
            (
                LocalText("{1} is blocked by rfkill (soft)", "{1} はrfkillで無効にされています(ソフトウェア)"),
                LocalText(
                    "unblock it with `rfkill unblock bluetooth`",
                    "`rfkill unblock bluetooth` で有効にしてください"
                )
            )
        case .hardBlocked:
            (
                LocalText(
                    "{1} is blocked by a switch or the firmware (rfkill hard)",
                    "{1} はスイッチまたはファームウェアで無効にされています(rfkill、ハードウェア)"
                ),
                LocalText(
                    "turn the switch on, or look for it in the firmware's settings",
                    "スイッチを入れるか、ファームウェアの設定を確認してください"
                )
            )
        case .refusedByKernel:
            (LocalText("not permitted: the kernel refuses", "使用が許可されていません: カーネルが拒否しました"), rights)
        case .missingRights:
            (LocalText("not permitted: {1} missing", "使用が許可されていません: {1}がありません"), rights)
        case .refused:
            (
                LocalText("the kernel refused {1}: {2}", "カーネルが {1} を拒否しました: {2}"),
                LocalText(
                    "`dmesg` may say more; switching the adapter off and on often helps",
                    "`dmesg` に詳細があるかもしれません。アダプタの電源を入れ直すと直ることがあります"
                )
            )
        case .silent:
            (
                LocalText("the kernel did not answer {1}", "カーネルが {1} に応答しませんでした"),
                LocalText(
                    "the adapter may hang: unplug it and plug it in again",
                    "アダプタが停止している可能性があります。抜き差ししてください"
                )
            )
        case .system:
            (
                LocalText("cannot {1}: {2}", "処理({1})に失敗しました: {2}"),
                LocalText("`dmesg` may say more", "`dmesg` に詳細があるかもしれません")
            )
        case .noAddress:
            (LocalText("h4:{1} has no IPv4 address", "h4:{1} にはIPv4アドレスがありません"), Self.emulator)
        case .noLine:
            (LocalText("{1} is no serial line", "{1} はシリアル回線ではありません"), Self.line)
        case .stream: (LocalText("cannot open h4:{1}: {2}", "h4:{1} を開けません: {2}"), Self.line)
        case .streamNotPermitted:
            (
                LocalText("cannot open h4:{1}: {2}", "h4:{1} を開けません: {2}"),
                LocalText(
                    "run as root, or as a member of the group that owns it (`ls -l {3}`)",
                    "rootまたは所有グループのメンバーとして実行してください(`ls -l {3}`)"
                )
            )
        case .streamNotListening:
            (LocalText("cannot open h4:{1}: {2}", "h4:{1} を開けません: {2}"), Self.emulator)
        case .controller:
            (
                LocalText("{1}", "コントローラの障害です: {1}"),
                LocalText(
                    "start the controller anew: unplug it and plug it in again, or restart what emulates it",
                    "コントローラを起動し直してください。抜き差しするか、エミュレータを再起動します"
                )
            )
        case .listening: (LocalText("cannot {1}: {2}", "処理({1})に失敗しました: {2}"), nil)
        case .scanRefused: (LocalText("not permitted to scan", "スキャンが許可されていません"), rights)
        case .scanWithoutRights:
            (LocalText("not permitted to scan: {1} missing", "スキャンが許可されていません: {1}がありません"), rights)
        case .scanUnsupported:
            (
                LocalText(
                    "the controller knows no scan commands",
                    "コントローラがスキャンのコマンドに対応していません"
                ), nil
            )
        case .scanFailed:
            (
                LocalText("{1}", "スキャンに失敗しました: {1}"),
                LocalText(
                    "another program may be scanning; else unplug the adapter and plug it in again",
                    "ほかのプログラムがスキャン中かもしれません。そうでなければ、アダプタを抜き差ししてください"
                )
            )
        case .gone: (LocalText("the adapter is gone", "アダプタがなくなりました"), nil)
        case .nothingToListenWith:
            (LocalText("there is no adapter to listen with", "スキャンに使えるアダプタがありません"), soon)
        case .scannedAlready: (LocalText("somebody scans already", "すでにスキャン中です"), soon)
        case .busy: (LocalText("busy connecting", "接続処理中です"), soon)
        case .used: (LocalText("another blewedge uses {1}", "別のblewedgeが {1} を使用しています"), others)
        case .usedBy:
            (
                LocalText(
                    "blewedge with process number {2} uses {1}",
                    "プロセス番号{2}のblewedgeが {1} を使用しています"
                ), others
            )
        case .noLock: (LocalText("cannot make {1}: {2}", "{1} を作成できません: {2}"), nil)
        }
    }

    private static let line = LocalText(
        "name the line that the controller is at; `dmesg | grep tty` lists them",
        "コントローラがつながっている回線を指定してください。一覧は `dmesg | grep tty` で分かります"
    )

    private static let emulator = LocalText(
        "start what emulates the controller first, and name where it listens",
        "先にコントローラのエミュレータを起動し、その待ち受け先を指定してください"
    )
}
