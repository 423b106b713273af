// SPDX-License-Identifier: GPL-2.0-or-later

/// The faults of beacons: their files, their regions, and what is asked for.
package enum BeaconFaultText: String, FaultText {
    case regionsUnreadable, regionFaults, designatedUnreadable, designatedGarbled, designatedNotKept
    case noRegions, notDesignated, tooManyRanged, notBeacon, notAdvertised, notAdvertising, nothingToWatch
    case unconfigured, adapterAwaited

    package var said: (cause: LocalText, remedy: LocalText?) {
        switch self {
        case .regionsUnreadable:
            (
                LocalText("cannot read the regions in {1}: {2}", "{1} のリージョンを読み取れません: {2}"),
                LocalText(
                    "set beacons.regions to a file that the user of blewedge may read",
                    "blewedgeのユーザが読めるファイルを beacons.regions に設定してください"
                )
            )
        case .regionFaults:
            (
                LocalText("the file of regions is wrong:\n{1}", "リージョンのファイルに誤りがあります:\n{1}"),
                LocalText("mend these lines", "これらの行を直してください")
            )
        case .designatedUnreadable:
            (
                LocalText("cannot read the designated beacons in {1}: {2}", "{1} の指定ビーコンを読み取れません: {2}"),
                nil
            )
        case .designatedGarbled:
            (
                LocalText("{1} is no list of designated beacons: line {2}", "{1} は指定ビーコンの一覧ではありません: line {2}"),
                LocalText(
                    "`blewedge beacons clear` forgets them; then designate them again",
                    "`blewedge beacons clear` で消去し、指定し直してください"
                )
            )
        case .designatedNotKept:
            (
                LocalText(
                    "cannot keep the designated beacons in {1}, the earlier ones stay: {2}",
                    "指定ビーコンを {1} に保存できません。以前のままです: {2}"
                ), nil
            )
        case .noRegions:
            (
                LocalText("no such region is known: {1}", "このリージョンは登録されていません: {1}"),
                LocalText(
                    "`blewedge beacons regions` lists those that are; beacons.regions names their file",
                    "`blewedge beacons regions` で一覧を表示できます。ファイルは beacons.regions で設定します"
                )
            )
        case .notDesignated:
            (
                LocalText("no designated beacon has the code {1}", "コード {1} の指定ビーコンはありません"),
                LocalText(
                    "`blewedge beacons designated` lists them",
                    "`blewedge beacons designated` で一覧を表示できます"
                )
            )
        case .tooManyRanged:
            (
                LocalText("more than {1} regions cannot be ranged at a time", "同時に計測できるリージョンは{1}個までです"),
                nil
            )
        case .notBeacon:
            (
                LocalText(
                    "{1} is no beacon: UUID/MAJOR/MINOR, or eddystone:NAMESPACE/INSTANCE",
                    "{1} はビーコンではありません: UUID/MAJOR/MINOR または eddystone:NAMESPACE/INSTANCE"
                ), nil
            )
        case .notAdvertised:
            (
                LocalText("cannot be a beacon now: {1}", "現在ビーコンとして発信できません: {1}"),
                nil
            )
        case .notAdvertising:
            (
                LocalText("no beacon is advertised", "ビーコンを発信していません"),
                nil
            )
        case .nothingToWatch:
            (
                LocalText("there is nothing to watch: {1} has no region", "監視対象がありません: {1} にリージョンがありません"),
                LocalText(
                    "name regions in the file that beacons.regions is set to",
                    "beacons.regions のファイルにリージョンを記述してください"
                )
            )
        case .unconfigured:
            (
                LocalText("no region of beacons is known", "ビーコンのリージョンが登録されていません"),
                LocalText(
                    "`blewedge beacons set-up` makes a file of regions; name it as beacons.regions",
                    "`blewedge beacons set-up` でリージョンのファイルを作成し、beacons.regions に設定してください"
                )
            )
        case .adapterAwaited:
            (LocalText("the adapter is not open yet", "アダプタの準備ができていません"), nil)
        }
    }
}
