// SPDX-License-Identifier: GPL-2.0-or-later

/// What helps where beacons were not designated or tracked.
package enum BeaconRemedyText: String, Localized {
    case limitReached, noAdapter, noRegion, noCodes, unfitRegion, unfitCode, tooMany, notKept, noOptions
    case tooFewSightings

    package var texts: LocalText {
        switch self {
        case .limitReached, .tooMany:
            LocalText(
                "release some with `blewedge beacons release`, or raise beacons.max-designated",
                "`blewedge beacons release` で指定を解除するか、beacons.max-designated を増やしてください"
            )
        case .noAdapter:
            LocalText(
                "plug an adapter in, or switch Bluetooth on; `blewedge beacons check` says what is missing",
                "アダプタを接続するか、Bluetoothをオンにしてください。`blewedge beacons check` で原因を確認できます"
            )
        case .noRegion:
            LocalText(
                "name it with --region; `blewedge beacons regions` lists those that are known",
                "--region で指定してください。`blewedge beacons regions` で一覧を表示できます"
            )
        case .noCodes:
            LocalText(
                "name at least one; `blewedge beacons range static` shows those around",
                "1つ以上指定してください。`blewedge beacons range static` で周囲のコードを表示できます"
            )
        case .unfitRegion:
            LocalText(
                "name one that `blewedge beacons regions` calls initial, or add a line `static` to the file of regions",
                "`blewedge beacons regions` で initial と表示されるものを指定するか、リージョンのファイルに `static` の行を追加してください"
            )
        case .unfitCode:
            LocalText(
                "check the code; a line `key` in the file of regions gives a beacon its own",
                "コードを確認してください。リージョンのファイルの `key` の行でコードを設定できます"
            )
        case .notKept:
            LocalText(
                "run as the user of the daemon, and look whether the state directory can be written and has room",
                "デーモンのユーザで実行し、状態ディレクトリの書き込み権限と空き容量を確認してください"
            )
        case .noOptions:
            LocalText("leave out --no-entry or --no-exit", "--no-entry または --no-exit を外してください")
        case .tooFewSightings:
            LocalText(
                "go nearer to a beacon; `blewedge beacons range` shows those around",
                "ビーコンに近づいてください。`blewedge beacons range` で周囲のビーコンを表示できます"
            )
        }
    }
}
