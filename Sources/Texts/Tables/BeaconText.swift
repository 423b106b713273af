// SPDX-License-Identifier: GPL-2.0-or-later

/// Messages of the commands for beacons.
package enum BeaconText: String, Localized {
    case watching, watched, unwatched, entered, left, inside, switchedOn, switchedOff, advertising, stopped, kept
    case released, cleared, setUp, setUpAlready, noDesignated, noRegions
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
            LocalText("watching {1} regions; Ctrl-C ends", "{1}個のリージョンを監視しています。Ctrl-Cで終了します")
        case .watched: LocalText("{1} regions are watched", "{1}個のリージョンの監視を開始しました")
        case .unwatched: LocalText("{1} regions are watched no more", "{1}個のリージョンの監視を停止しました")
        case .entered: LocalText("entered {1} (beacon {2})", "{1} に入りました (ビーコン {2})")
        case .left: LocalText("left {1}", "{1} から出ました")
        case .inside: LocalText("inside {1} (beacon {2})", "{1} の中にいます (ビーコン {2})")
        case .switchedOn:
            LocalText("{1} has started the watching of {2} regions", "{1} により{2}個のリージョンの監視が始まりました")
        case .switchedOff:
            LocalText("{1} has ended the watching of {2} regions", "{1} により{2}個のリージョンの監視が終わりました")
        case .advertising:
            LocalText("advertising the beacon {1} on {2}; Ctrl-C ends", "{2} でビーコン {1} を発信しています。Ctrl-Cで終了します")
        case .stopped: LocalText("the beacon is advertised no more", "ビーコンの発信を停止しました")
        case .kept: LocalText("{1} beacons are designated", "指定ビーコンは{1}個です")
        case .released: LocalText("{1} is designated no more", "{1} の指定を解除しました")
        case .cleared: LocalText("the data of beacons is cleared", "ビーコンのデータを消去しました")
        case .setUp:
            LocalText("{1} is made: name your regions in it", "{1} を作成しました。リージョンを記述してください")
        case .setUpAlready: LocalText("{1} is there already, and stays as it is", "{1} は既にあり、変更しません")
        case .noDesignated: LocalText("no beacon is designated", "指定ビーコンはありません")
        case .noRegions: LocalText("no region is known", "リージョンは登録されていません")
        case .all: LocalText("all are designated", "すべて指定しました")
        case .limitReached:
            LocalText("the limit is reached: only the first ones are designated", "上限に達したため、先頭の一部だけを指定しました")
        case .noAdapter:
            LocalText("there is no adapter to hear beacons with", "ビーコンを受信するアダプタがありません")
        case .noRegion:
            LocalText("no region is named, and there is not exactly one static region", "リージョンの指定がなく、固定リージョンが1つに定まりません")
        case .noCodes: LocalText("no key code is named", "キーコードの指定がありません")
        case .unfitRegion: LocalText("this is no region of static beacons", "固定ビーコンのリージョンではありません")
        case .unfitCode:
            LocalText("no beacon of the region has one of these key codes", "リージョンにこのキーコードのビーコンがありません")
        case .tooMany: LocalText("there is no room for another beacon", "これ以上ビーコンを指定できません")
        case .notKept: LocalText("the designated beacons could not be kept", "指定ビーコンを保存できませんでした")
        case .noOptions: LocalText("no event is left to tell of", "通知するイベントがありません")
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
                # The regions of beacons, and the key codes of single ones; `blewedge beacons regions` lists them.
                #
                # static   UUID[/MAJOR[/MINOR]]              name     beacons whose identities stay
                # dynamic  UUID[/MAJOR]                      name     beacons whose numbers change
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
            LocalText("the track is kept, and sent", "記録を保存し、送信します")
        case .insideRegion: LocalText("inside {1}", "{1} の中にいます")
        case .isBeacon: LocalText("this board is the beacon {1}", "この機器はビーコン {1} です")
        case .canBeUsed: LocalText("beacons can be heard by {1}", "{1} でビーコンを受信できます")
        case .canAdvertise: LocalText("{1} can be a beacon", "{1} はビーコンとして発信できます")
        case .inBackground:
            LocalText("a service hears them when nobody is logged in", "ログインしていなくてもサービスが受信を続けます")
        case .inForeground:
            LocalText(
                "only a running command hears them; `{1}` installs a service that goes on",
                "コマンドの実行中だけ受信します。`{1}` で常駐するサービスをインストールできます"
            )
        case .gateOutside:
            LocalText("no beacon is near that opens the gate", "ゲートを開くビーコンが近くにありません")
        case .gateRemedy:
            LocalText(
                "bring one near; `blewedge beacons status` says which regions are inside",
                "ビーコンを近づけてください。`blewedge beacons status` で状態を確認できます"
            )
        case .tooFewSightings:
            LocalText("fewer than five sightings in 15 s", "15秒以内の検出が5回未満でした")
        // Kinds of a region; the English words are those of commands and of the configuration.
        case .reserved: LocalText("reserved", "予約")
        case .initial: LocalText("initial", "固定(initial)")
        case .dynamic: LocalText("dynamic", "可変(dynamic)")
        case .managed: LocalText("managed", "管理(managed)")
        case .designated: LocalText("designated", "指定(designated)")
        case .typed: LocalText("the key code of {1} is typed", "{1} のキーコードを入力しました")
        case .notTyped:
            LocalText("the key code of {1} is not typed: {2}", "{1} のキーコードを入力しませんでした: {2}")
        }
    }
}

/// Faults of beacons: of their files, of their regions, and of requests.
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
                fix: "set beacons.regions to a file that the user of blewedge may read",
                "blewedgeのユーザが読めるファイルを beacons.regions に設定してください"
            )
        case .regionFaults:
            cause(
                "the file of regions is wrong:\n{1}",
                "リージョンのファイルに誤りがあります:\n{1}",
                fix: "mend these lines",
                "これらの行を直してください"
            )
        case .designatedUnreadable: cause("cannot read the designated beacons in {1}: {2}", "{1} の指定ビーコンを読み取れません: {2}")
        case .designatedGarbled:
            cause(
                "{1} is no list of designated beacons: line {2}",
                "{1} は指定ビーコンの一覧ではありません: line {2}",
                fix: "`blewedge beacons clear` forgets them; then designate them again",
                "`blewedge beacons clear` で消去し、指定し直してください"
            )
        case .designatedNotKept:
            cause(
                "cannot keep the designated beacons in {1}, the earlier ones stay: {2}",
                "指定ビーコンを {1} に保存できません。以前のままです: {2}"
            )
        case .noRegions:
            cause(
                "no such region is known: {1}",
                "このリージョンは登録されていません: {1}",
                fix: "`blewedge beacons regions` lists those that are; beacons.regions names their file",
                "`blewedge beacons regions` で一覧を表示できます。ファイルは beacons.regions で設定します"
            )
        case .notDesignated:
            cause(
                "no designated beacon has the code {1}",
                "コード {1} の指定ビーコンはありません",
                fix: "`blewedge beacons designated` lists them",
                "`blewedge beacons designated` で一覧を表示できます"
            )
        case .tooManyRanged: cause("more than {1} regions cannot be ranged at a time", "同時に計測できるリージョンは{1}個までです")
        case .notAdvertised: cause("cannot be a beacon now: {1}", "現在ビーコンとして発信できません: {1}")
        case .notAdvertising: cause("no beacon is advertised", "ビーコンを発信していません")
        case .nothingToWatch:
            cause(
                "there is nothing to watch: {1} has no region",
                "監視対象がありません: {1} にリージョンがありません",
                fix: "name regions in the file that beacons.regions is set to",
                "beacons.regions のファイルにリージョンを記述してください"
            )
        case .unconfigured:
            cause(
                "no region of beacons is known",
                "ビーコンのリージョンが登録されていません",
                fix: "`blewedge beacons set-up` makes a file of regions; name it as beacons.regions",
                "`blewedge beacons set-up` でリージョンのファイルを作成し、beacons.regions に設定してください"
            )
        case .adapterAwaited: cause("the adapter is not open yet", "アダプタの準備ができていません")
        }
    }
}

/// Remedies for beacons that were not designated or tracked.
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
