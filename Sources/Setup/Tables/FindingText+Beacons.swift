// SPDX-License-Identifier: GPL-2.0-or-later

import Texts

// The texts of findings about beacons.

extension FindingText {
    static let beaconsWithoutRegions = FindingText(
        what: LocalText(
            "beacons are configured, and no region is watched",
            "ビーコンが設定されていますが、監視するリージョンがありません"
        ),
        why: LocalText("no entry and no exit is ever reported", "リージョンの出入りは通知されません"),
        remedy: LocalText(
            "name regions in the file of beacons.regions, fetch them, or designate beacons",
            "beacons.regions のファイルに記述するか、サーバから取得するか、ビーコンを指定してください"
        )
    )

    static let beaconsUnavailable = FindingText(
        what: LocalText("beacons cannot be heard: {1}", "ビーコンを受信できません: {1}"),
        why: LocalText("regions are neither entered nor left", "リージョンの出入りを検知できません"),
        remedy: LocalText(
            "remove the cause, then test whether beacons can be heard",
            "原因を取り除き、受信できることを確認してください"
        )
    )

    static let beaconNotAdvertised = FindingText(
        what: LocalText("this machine is no beacon: {1}", "ビーコンを発信していません: {1}"),
        why: LocalText("no other device detects the configured beacon", "設定したビーコンはほかの機器から検知できません"),
        remedy: LocalText(
            "use an adapter that can advertise, or unset beacons.advertise",
            "発信できるアダプタを使用するか、beacons.advertise の設定を外してください"
        )
    )

    static let noBeaconNear = FindingText(
        what: LocalText("the gate is closed: no beacon that opens it is near", "ゲートを開くビーコンが近くにありません"),
        why: LocalText(
            "received data is discarded and counted, and never typed later",
            "受信データは破棄されて数えられ、後から入力されることはありません"
        ),
        remedy: LocalText(
            "bring the beacon nearer, and check its battery and its region",
            "ビーコンを近づけ、電池とリージョンの設定を確認してください"
        )
    )
}
