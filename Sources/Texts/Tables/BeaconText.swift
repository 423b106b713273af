// SPDX-License-Identifier: GPL-2.0-or-later

/// Messages of the commands for beacons.
package enum BeaconText: String, Localized {
    case watching, watched, unwatched, entered, left, inside, switchedOn, switchedOff, advertising, stopped, kept
    case areWatched, advertised, noneSelected
    case released, cleared, setUp, setUpAlready, setUpUnread, noDesignated, noRegions
    case all, limitReached, noAdapter, noRegion, noCodes, unfitRegion, unfitCode, tooMany, notKept, noOptions
    case columnRegion, columnKinds, columnName, columnBeacon, columnSignal, columnPower, columnDistance, columnCode
    case columnSwitcher, immediate, near, far, unknown, regionsExample
    case trackKept, insideRegion, isBeacon, canBeUsed, canAdvertise
    case inBackground, inForeground, gateOutside, gateRemedy, typed, notTyped
    case tooFewSightings
    case reserved, initial, dynamic, managed, designated

    package var texts: LocalText {
        switch self {
        case .watching:
            LocalText("watching {1} regions; press Ctrl-C to quit", "{1}個のリージョンを監視しています。Ctrl-Cで終了します")
        case .watched: LocalText("started watching {1} regions", "{1}個のリージョンの監視を開始しました")
        case .areWatched: LocalText("{1} regions are watched", "{1}個のリージョンを監視しています")
        case .unwatched: LocalText("stopped watching {1} regions", "{1}個のリージョンの監視を停止しました")
        case .entered: LocalText("entered {1} (beacon {2})", "{1} に入りました (ビーコン {2})")
        case .left: LocalText("left {1}", "{1} から出ました")
        case .inside: LocalText("inside {1} (beacon {2})", "{1} の中にいます (ビーコン {2})")
        case .switchedOn:
            LocalText("{1} started watching {2} regions", "{1} により{2}個のリージョンの監視が始まりました")
        case .switchedOff:
            LocalText("{1} stopped watching {2} regions", "{1} により{2}個のリージョンの監視が終わりました")
        case .advertising:
            LocalText("advertising the beacon {1} on {2}; press Ctrl-C to quit", "{2} でビーコン {1} を発信しています。Ctrl-Cで終了します")
        case .advertised: LocalText("started advertising the beacon {1} on {2}", "{2} でビーコン {1} の発信を開始しました")
        case .stopped: LocalText("stopped advertising the beacon", "ビーコンの発信を停止しました")
        case .kept: LocalText("{1} beacons are designated", "指定ビーコンは{1}個です")
        case .released: LocalText("{1} is no longer designated", "{1} の指定を解除しました")
        case .cleared: LocalText("beacon data cleared", "ビーコンのデータを消去しました")
        case .setUp:
            LocalText("created {1}: add your regions to it", "{1} を作成しました。リージョンを記述してください")
        case .setUpAlready: LocalText("{1} already exists and was not changed", "{1} は既にあり、変更しません")
        case .setUpUnread:
            LocalText(
                "to use {1}, add these lines to {2}: [beacons] and regions = \"{1}\"",
                "{1} を使うには、{2} に [beacons] と regions = \"{1}\" の2行を追加してください"
            )
        case .noDesignated: LocalText("no beacon is designated", "指定ビーコンはありません")
        case .noRegions: LocalText("no regions are configured", "リージョンは登録されていません")
        case .noneSelected: LocalText("no region matches the options", "条件に合うリージョンはありません")
        case .all: LocalText("all beacons were designated", "すべて指定しました")
        case .limitReached:
            LocalText("limit reached: only the first beacons were designated", "上限に達したため、先頭の一部だけを指定しました")
        case .noAdapter:
            LocalText("no adapter is available to receive beacons", "ビーコンを受信するアダプタがありません")
        case .noRegion:
            LocalText(
                "no region was specified, and there is not exactly one static region",
                "リージョンの指定がなく、固定リージョンが1つに定まりません"
            )
        case .noCodes: LocalText("no key code was specified", "キーコードの指定がありません")
        case .unfitRegion: LocalText("this is not a region of static beacons", "固定ビーコンのリージョンではありません")
        case .unfitCode:
            LocalText("no beacon in the region has one of these key codes", "リージョンにこのキーコードのビーコンがありません")
        case .tooMany: LocalText("no more beacons can be designated", "これ以上ビーコンを指定できません")
        case .notKept: LocalText("the designated beacons could not be saved", "指定ビーコンを保存できませんでした")
        case .noOptions: LocalText("both entry and exit events are disabled", "通知するイベントがありません")
        case .columnRegion: LocalText("REGION", "リージョン")
        case .columnKinds: LocalText("KINDS", "種類")
        case .columnName: LocalText("NAME", "名前")
        case .columnBeacon: LocalText("BEACON", "ビーコン")
        case .columnSignal: LocalText("RSSI", "受信強度")
        case .columnPower: LocalText("AT 1 M", "1 mの強度")
        case .columnDistance: LocalText("DISTANCE", "距離")
        case .columnCode: LocalText("CODE", "コード")
        case .columnSwitcher: LocalText("SWITCHER", "スイッチャー")
        case .immediate: LocalText("immediate", "至近")
        case .near: LocalText("near", "近い")
        case .far: LocalText("far", "遠い")
        case .unknown: LocalText("unknown", "不明")
        case .regionsExample:
            LocalText(
                """
                # Beacon regions, and the key codes of individual beacons; `blewedge beacons regions` lists them.
                #
                # static   UUID[/MAJOR[/MINOR]]              name     beacons with fixed identifiers
                # dynamic  UUID[/MAJOR]                      name     beacons with changing identifiers
                # static   eddystone:NAMESPACE[/INSTANCE]    name
                # key      UUID/MAJOR/MINOR                  code     1 to 64 letters and digits
                #
                #static  E2C56DB5-DFFB-48D2-B060-D0F5A71096E0      Badges
                #key     E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1/2  A17C

                """,
                """
                # ビーコンのリージョンと、個々のビーコンのキーコード。一覧は `blewedge beacons regions`
                #
                # static   UUID[/MAJOR[/MINOR]]              名前     値が変わらないビーコン
                # dynamic  UUID[/MAJOR]                      名前     値が変わるビーコン
                # static   eddystone:NAMESPACE[/INSTANCE]    名前
                # key      UUID/MAJOR/MINOR                  コード   英数字1〜64文字
                #
                #static  E2C56DB5-DFFB-48D2-B060-D0F5A71096E0      Badges
                #key     E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1/2  A17C

                """
            )
        case .trackKept:
            LocalText("the track was saved and will be sent", "記録を保存し、送信します")
        case .insideRegion: LocalText("inside {1}", "{1} の中にいます")
        case .isBeacon: LocalText("this machine is the beacon {1}", "この機器はビーコン {1} です")
        case .canBeUsed: LocalText("{1} can receive beacons", "{1} でビーコンを受信できます")
        case .canAdvertise: LocalText("{1} can advertise as a beacon", "{1} はビーコンとして発信できます")
        case .inBackground:
            LocalText("a service receives beacons even when nobody is logged in", "ログインしていなくてもサービスが受信を続けます")
        case .inForeground:
            LocalText(
                "beacons are received only while a command runs; `{1}` installs a permanent service",
                "コマンドの実行中だけ受信します。`{1}` で常駐するサービスをインストールできます"
            )
        case .gateOutside:
            LocalText("no beacon that opens the gate is nearby", "ゲートを開くビーコンが近くにありません")
        case .gateRemedy:
            LocalText(
                "move a beacon closer; `blewedge beacons status` shows the current regions",
                "ビーコンを近づけてください。`blewedge beacons status` で状態を確認できます"
            )
        case .tooFewSightings:
            LocalText("fewer than five sightings in 15 s", "15秒以内の検出が5回未満でした")
        // The kinds of a region; the English words are also those in commands and in the configuration.
        case .reserved: LocalText("reserved", "予約")
        case .initial: LocalText("initial", "固定(initial)")
        case .dynamic: LocalText("dynamic", "可変(dynamic)")
        case .managed: LocalText("managed", "管理(managed)")
        case .designated: LocalText("designated", "指定(designated)")
        case .typed: LocalText("the key code of {1} was typed", "{1} のキーコードを入力しました")
        case .notTyped:
            LocalText("the key code of {1} was not typed: {2}", "{1} のキーコードを入力しませんでした: {2}")
        }
    }
}

/// Failures that concern beacons: their files, their regions, and requests about them.
package enum BeaconFaultText: String, FaultText {
    case regionsUnreadable, regionFaults, designatedUnreadable, designatedGarbled, designatedNotKept
    case noRegions, notDesignated, tooManyRanged, notAdvertised, notAdvertising, nothingToWatch
    case unconfigured, adapterAwaited

    package var said: (cause: LocalText, remedy: LocalText?) {
        switch self {
        case .regionsUnreadable:
            cause(
                "cannot read the regions in {1}: {2}",
                "{1} のリージョンを読み取れません: {2}",
                fix: "set beacons.regions to a file that the blewedge user can read",
                "blewedgeのユーザが読めるファイルを beacons.regions に設定してください"
            )
        case .regionFaults:
            cause(
                "the region file contains errors:\n{1}",
                "リージョンのファイルに誤りがあります:\n{1}",
                fix: "correct these lines",
                "これらの行を直してください"
            )
        case .designatedUnreadable: cause("cannot read the designated beacons in {1}: {2}", "{1} の指定ビーコンを読み取れません: {2}")
        case .designatedGarbled:
            cause(
                "{1} is not a list of designated beacons: line {2}",
                "{1} は指定ビーコンの一覧ではありません: line {2}",
                fix: "run `blewedge beacons clear`, then designate the beacons again",
                "`blewedge beacons clear` で消去し、指定し直してください"
            )
        case .designatedNotKept:
            cause(
                "cannot save the designated beacons in {1}, the previous ones are kept: {2}",
                "指定ビーコンを {1} に保存できません。以前のままです: {2}"
            )
        case .noRegions:
            cause(
                "unknown region: {1}",
                "このリージョンは登録されていません: {1}",
                fix: "`blewedge beacons regions` lists the known regions; beacons.regions sets their file",
                "`blewedge beacons regions` で一覧を表示できます。ファイルは beacons.regions で設定します"
            )
        case .notDesignated:
            cause(
                "no designated beacon has the code {1}",
                "コード {1} の指定ビーコンはありません",
                fix: "`blewedge beacons designated` lists them",
                "`blewedge beacons designated` で一覧を表示できます"
            )
        case .tooManyRanged: cause("at most {1} regions can be ranged at a time", "同時に計測できるリージョンは{1}個までです")
        case .notAdvertised: cause("cannot advertise as a beacon now: {1}", "現在ビーコンとして発信できません: {1}")
        case .notAdvertising: cause("no beacon is being advertised", "ビーコンを発信していません")
        case .nothingToWatch:
            cause(
                "there is nothing to watch: {1} contains no regions",
                "監視対象がありません: {1} にリージョンがありません",
                fix: "add regions to the file set by beacons.regions",
                "beacons.regions のファイルにリージョンを記述してください"
            )
        case .unconfigured:
            cause(
                "no beacon regions are configured",
                "ビーコンのリージョンが登録されていません",
                fix: "create a region file with `blewedge beacons set-up`, and set beacons.regions to it",
                "`blewedge beacons set-up` でリージョンのファイルを作成し、beacons.regions に設定してください"
            )
        case .adapterAwaited: cause("the adapter is not ready yet", "アダプタの準備ができていません")
        }
    }
}

/// Remedies to suggest if a beacon was not designated or tracked.
package enum BeaconRemedyText: String, Localized {
    case limitReached, noAdapter, noRegion, noCodes, unfitRegion, unfitCode, tooMany, notKept, noOptions
    case tooFewSightings

    package var texts: LocalText {
        switch self {
        case .limitReached, .tooMany:
            LocalText(
                "release some with `blewedge beacons release`, or increase beacons.max-designated",
                "`blewedge beacons release` で指定を解除するか、beacons.max-designated を増やしてください"
            )
        case .noAdapter:
            LocalText(
                "plug in an adapter, or turn Bluetooth on; `blewedge beacons check` shows the cause",
                "アダプタを接続するか、Bluetoothをオンにしてください。`blewedge beacons check` で原因を確認できます"
            )
        case .noRegion:
            LocalText(
                "specify it with --region; `blewedge beacons regions` lists the known regions",
                "--region で指定してください。`blewedge beacons regions` で一覧を表示できます"
            )
        case .noCodes:
            LocalText(
                "specify at least one; `blewedge beacons range static` shows those nearby",
                "1つ以上指定してください。`blewedge beacons range static` で周囲のコードを表示できます"
            )
        case .unfitRegion:
            LocalText(
                "specify a region that `blewedge beacons regions` lists as initial, or add a `static` line to the region file",
                "`blewedge beacons regions` で initial と表示されるものを指定するか、リージョンのファイルに `static` の行を追加してください"
            )
        case .unfitCode:
            LocalText(
                "check the code; a `key` line in the region file assigns a code to a beacon",
                "コードを確認してください。リージョンのファイルの `key` の行でコードを設定できます"
            )
        case .notKept:
            LocalText(
                "run as the daemon's user, and check that the state directory is writable and has free space",
                "デーモンのユーザで実行し、状態ディレクトリの書き込み権限と空き容量を確認してください"
            )
        case .noOptions:
            LocalText("omit --no-entry or --no-exit", "--no-entry または --no-exit を外してください")
        case .tooFewSightings:
            LocalText(
                "move closer to a beacon; `blewedge beacons range` shows those nearby",
                "ビーコンに近づいてください。`blewedge beacons range` で周囲のビーコンを表示できます"
            )
        }
    }
}
