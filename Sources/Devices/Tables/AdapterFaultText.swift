// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
package import Texts

/// Texts for the reasons why Bluetooth cannot be used, or why a scan fails.
///
/// If BluetoothAdapters has an English text for the same fault, that text is used.
package enum AdapterFaultText: String, FaultText {
    // Texts about the adapter.
    case noBluetooth, noAdapter, notFound, noLowEnergy, softBlocked, hardBlocked, refusedByKernel, missingRights
    case removed, switchedOff, refused, unknownToKernel, silent, system
    case noAddress, noLine, stream, streamNotPermitted, socketNotPermitted, streamNotListening, controller
    // Texts about scanning.
    case listening, scanRefused, scanWithoutRights, scanUnsupported, scanUnknown, scanFailed, gone, nothingToListenWith
    case scannedAlready, busy
    // Texts about other programs that use the adapter.
    case used, usedBy, noLock

    package var said: (cause: LocalText, remedy: LocalText?) {
        let rights = LocalText(
            "run as root, or as the service that `blewedge setup` installs",
            "rootで実行するか、`blewedge setup` でインストールしたサービスとして実行してください"
        )
        let soon = LocalText("try again in a few seconds", "数秒後にもう一度お試しください")
        let others = LocalText(
            "use it (`blewedge status`), stop it (`blewedge stop`), or specify another adapter",
            "それを通して使うか(`blewedge status`)、終了するか(`blewedge stop`)、別のアダプタを指定してください"
        )
        return switch self {
        case .noBluetooth:
            (
                LocalText(AdapterErrorDescription.noBluetooth, "このカーネルにはBluetooth機能がありません(AF_BLUETOOTHが未知です)"),
                LocalText(
                    AdapterErrorDescription.Remedy.loadModule,
                    "`modprobe bluetooth` で読み込むか、CONFIG_BTとCONFIG_BT_LEを有効にしたカーネルを使用してください"
                )
            )
        case .noAdapter:
            (
                LocalText(AdapterErrorDescription.noAdapter, "Bluetoothアダプタがありません"),
                LocalText(
                    AdapterErrorDescription.Remedy.plugIn,
                    "アダプタを接続してください。起動に失敗したものは `dmesg | grep -i bluetooth` で分かります。UART接続のコントローラには `btattach` が必要です"
                )
            )
        case .notFound:
            (
                LocalText(AdapterErrorDescription.notFound("{1}", "{2}"), "アダプタ {1} はありません。あるのは {2} です"),
                LocalText("select one of these with --adapter", "--adapterでこの中の一つを指定してください")
            )
        case .noLowEnergy:
            (
                LocalText(AdapterErrorDescription.noLowEnergy("{1}"), "{1} はBluetooth Low Energyに対応していません"),
                LocalText(AdapterErrorDescription.Remedy.newerAdapter, "Bluetooth 4.0以降のアダプタを使用してください")
            )
        case .softBlocked:
            (
                LocalText(AdapterErrorDescription.softBlocked("{1}"), "{1} はrfkillで無効にされています(ソフトウェア)"),
                LocalText(AdapterErrorDescription.Remedy.unblock, "`rfkill unblock bluetooth` で有効にしてください")
            )
        case .hardBlocked:
            (
                LocalText(AdapterErrorDescription.hardBlocked("{1}"), "{1} はスイッチまたはファームウェアで無効にされています(rfkill、ハードウェア)"),
                Self.switchOn
            )
        case .removed:
            (
                LocalText(AdapterErrorDescription.removed("{1}"), "{1} が取り外されました"),
                LocalText(AdapterErrorDescription.Remedy.plugBackIn, "もう一度接続してください")
            )
        case .switchedOff:
            (
                LocalText(AdapterErrorDescription.switchedOff("{1}"), "{1} の電源が切られました"),
                LocalText(
                    AdapterErrorDescription.Remedy.powerOn("{1}"),
                    "3秒以内にもう一度電源を入れます。`btmgmt -i {1} power on` で直ちに入ります"
                )
            )
        case .refusedByKernel:
            (LocalText(AdapterErrorDescription.refusedByKernel, "使用が許可されていません: カーネルが拒否しました"), rights)
        case .missingRights:
            (LocalText(AdapterErrorDescription.missingRights("{1}"), "使用が許可されていません: {1}がありません"), rights)
        case .refused:
            (
                LocalText(AdapterErrorDescription.refused("{1}", "{2}"), "カーネルが {1} を拒否しました: {2}"),
                LocalText(AdapterErrorDescription.Remedy.offAndOn, "`dmesg` に詳細があるかもしれません。アダプタの電源を入れ直すと直ることがあります")
            )
        case .unknownToKernel:
            (
                LocalText(AdapterErrorDescription.unknownToKernel("{1}"), "このカーネルには {1} がありません"),
                LocalText(AdapterErrorDescription.Remedy.newerKernel, "新しいカーネル、または機能が省かれていないカーネルを使用してください")
            )
        case .silent:
            (
                LocalText(AdapterErrorDescription.silent("{1}"), "カーネルが {1} に応答しませんでした"),
                LocalText(AdapterErrorDescription.Remedy.plugInAgain, "アダプタが停止している可能性があります。抜き差ししてください")
            )
        case .system:
            (
                LocalText(AdapterErrorDescription.system("{1}", "{2}"), "処理({1})に失敗しました: {2}"),
                LocalText(AdapterErrorDescription.Remedy.kernelLog, "`dmesg` に詳細があるかもしれません")
            )
        case .noAddress:
            (LocalText(AdapterErrorDescription.noAddress("{1}"), "h4:{1} にはIPv4アドレスがありません"), Self.emulator)
        case .noLine:
            (LocalText(AdapterErrorDescription.noLine("{1}"), "{1} はシリアル回線ではありません"), Self.line)
        case .stream: (LocalText(AdapterErrorDescription.stream("{1}", "{2}"), "h4:{1} を開けません: {2}"), Self.line)
        case .streamNotPermitted:
            (
                LocalText(AdapterErrorDescription.stream("{1}", "{2}"), "h4:{1} を開けません: {2}"),
                LocalText(AdapterErrorDescription.Remedy.lineOwner("{3}"), "rootまたは所有グループのメンバーとして実行してください(`ls -l {3}`)")
            )
        case .socketNotPermitted:
            (
                LocalText(AdapterErrorDescription.stream("{1}", "{2}"), "h4:{1} を開けません: {2}"),
                LocalText(AdapterErrorDescription.Remedy.socketOwner, "ソケットを作成したユーザまたはrootとして実行してください")
            )
        case .streamNotListening:
            (LocalText(AdapterErrorDescription.stream("{1}", "{2}"), "h4:{1} を開けません: {2}"), Self.emulator)
        case .controller:
            (
                LocalText("{1}", "コントローラの障害です: {1}"),
                LocalText(AdapterErrorDescription.Remedy.startAnew, "コントローラを起動し直してください。抜き差しするか、エミュレータを再起動します")
            )
        case .listening: (LocalText(AdapterErrorDescription.system("{1}", "{2}"), "処理({1})に失敗しました: {2}"), nil)
        case .scanRefused: (LocalText(AdapterErrorDescription.scanRefused, "スキャンが許可されていません"), rights)
        case .scanWithoutRights:
            (LocalText(AdapterErrorDescription.scanWithoutRights("{1}"), "スキャンが許可されていません: {1}がありません"), rights)
        case .scanUnsupported:
            (
                LocalText(AdapterErrorDescription.scanUnsupported, "コントローラがスキャンのコマンドに対応していません"), nil
            )
        case .scanUnknown:
            (
                LocalText("the controller does not support {1}: {2}", "コントローラがスキャンのコマンド {1} に対応していません: {2}"),
                LocalText(
                    "update the controller's firmware, or use another adapter",
                    "ファームウェアの問題です。更新するか、別のアダプタを使用してください"
                )
            )
        case .scanFailed:
            (
                LocalText("{1}", "スキャンに失敗しました: {1}"),
                LocalText(AdapterErrorDescription.Remedy.otherScan, "ほかのプログラムがスキャン中かもしれません。そうでなければ、アダプタを抜き差ししてください")
            )
        case .gone: (LocalText(AdapterErrorDescription.gone, "アダプタがなくなりました"), nil)
        case .nothingToListenWith:
            (LocalText("no adapter is available for scanning", "スキャンに使えるアダプタがありません"), soon)
        case .scannedAlready: (LocalText("a scan is already running", "すでにスキャン中です"), soon)
        case .busy: (LocalText("a connection attempt is in progress", "接続処理中です"), soon)
        case .used: (LocalText("another blewedge process is using {1}", "別のblewedgeが {1} を使用しています"), others)
        case .usedBy:
            (
                LocalText("blewedge (process {2}) is using {1}", "プロセス番号{2}のblewedgeが {1} を使用しています"), others
            )
        case .noLock: (LocalText("cannot create {1}: {2}", "{1} を作成できません: {2}"), nil)
        }
    }

    /// Remedy for a radio that is blocked by a hardware switch.
    package static let switchOn = LocalText(AdapterErrorDescription.Remedy.switchOn, "スイッチを入れるか、ファームウェアの設定を確認してください")

    private static let line = LocalText(
        AdapterErrorDescription.Remedy.nameLine,
        "コントローラがつながっている回線を指定してください。一覧は `dmesg | grep tty` で分かります"
    )

    private static let emulator = LocalText(
        AdapterErrorDescription.Remedy.startEmulator,
        "先にコントローラのエミュレータを起動し、その待ち受け先を指定してください"
    )
}
