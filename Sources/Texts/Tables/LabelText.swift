// SPDX-License-Identifier: GPL-2.0-or-later

/// Labels, for people, of the members of the daemon's status.
package enum LabelText: String, Localized {
    case since, seconds, device, address, addressType, selection, name, adapter, keyboard, profile, layout, table,
        paused,
        gate, gateReason, gateRemedy, counts, lastReceived, secondsAgo, length, rivals, selectionFault, selectionRemedy,
        pid, program, radio, allows
    // Labels of counters.
    case turnsCut, devices
    case notifications, refused, received, typed, discarded, rejected, gated, lost, waiting
    case withheld, untypable, tooShort, tooLong, duplicate, cut, frame
    case ringFull, writeFailed, tooOld, disconnected, switched
    case dropped, stray, oversized, keyboardRemakes, undelivered, missed, readers, delivered, outputs, to, followsGate,
        slowReader
    case verified, differing, readerDropped
    // Labels for the reports of a keyboard, by outcome.
    case keyReports, unchanged, modifier, release, ambiguous, unknownUsage, shortcut, pending, incompleteAltCode,
        rollOver, noKeys, unknownReport, shorter, longer, servicesChanged
    // Labels for the values of a scale or sensor, by outcome.
    case values, repeated, unstable, removed, kept, overload, notMeasured, unreadable
    // Labels for values that arrived before the encryption.
    case earlyValues, refusedEarly, acceptedEarly, longestMilliseconds
    // Labels for links and for the reasons why they ended.
    case link, rssi, mtu, security, requiredSecurity, keySize, phy, packetBytes, intervalMicroseconds, latency,
        timeoutMilliseconds
    case links, ready, endedByDevice, outOfReach, protocolBroken, flooded, notSecured, withAdapter, endedHere, failed
    // Labels for counters of the measures taken to recover the radio.
    case adapterOpened, adapterLost, scanArmed, scanQuiet, scanDisturbed, resumed, scanFailed, attemptsFailed,
        connectionsStalled, linksCrossed, stepsOverdue, adapterRestarted, adapterMoved, socketsRebuilt,
        attemptsCancelled, controllerProbes, resetsRepeated, connectionsRepeated, bytesBeforeReset,
        parametersGranted, parametersRefused, framesBroken
    // Labels for beacons.
    case beacons, available, watched, inside, advertising, reports, heard, badEvents, leftOut, displaced,
        regionsLeftOut, codesTaken, codesDropped,
        unauthenticatedActions
    // Words for the values of members.
    case yes, no, open, closed, `public`, random, none, encrypted, authenticated

    package var texts: LocalText {
        switch self {
        case .since: LocalText("since", "開始時刻")
        case .seconds: LocalText("seconds", "経過秒数")
        case .device: LocalText("device", "デバイス")
        case .address: LocalText("address", "アドレス")
        case .addressType: LocalText("address type", "アドレスの種類")
        case .selection: LocalText("selection", "選択")
        case .name: LocalText("name", "名前")
        case .adapter: LocalText("adapter", "アダプタ")
        case .keyboard: LocalText("keyboard", "キーボード")
        case .profile: LocalText("profile", "プロファイル")
        case .layout: LocalText("layout", "配列")
        case .table: LocalText("table", "変換表")
        case .paused: LocalText("paused", "一時停止")
        case .gate: LocalText("gate", "入力")
        case .gateReason: LocalText("gate reason", "入力しない理由")
        case .gateRemedy: LocalText("how to open the gate", "入力を始めるには")
        case .counts: LocalText("counts", "バイト数")
        case .lastReceived: LocalText("last received", "最終受信")
        case .secondsAgo: LocalText("seconds ago", "秒前")
        case .length: LocalText("length", "長さ")
        case .rivals: LocalText("rivals", "競合するプログラム")
        case .selectionFault: LocalText("selection error", "選択の問題")
        case .selectionRemedy: LocalText("how to fix the selection", "選択を直すには")
        case .pid: LocalText("pid", "プロセス番号")
        case .program: LocalText("program", "バージョン")
        case .allows: LocalText("permitted non-text keys", "文字以外に許可するもの")
        case .radio: LocalText("radio", "無線")
        case .beacons: LocalText("beacons", "ビーコン")
        case .available: LocalText("monitoring available", "監視可能")
        case .watched: LocalText("watched regions", "監視中のリージョン")
        case .inside: LocalText("inside", "圏内")
        case .advertising: LocalText("advertising", "発信中")
        case .reports: LocalText("reports", "アドバタイズの数")
        case .heard: LocalText("reports from beacons", "うちビーコン")
        case .badEvents: LocalText("malformed events", "不正なイベント")
        case .leftOut: LocalText("beacons omitted from a list", "一覧に入らなかったビーコン")
        case .displaced: LocalText("beacons evicted from a list", "一覧から外れたビーコン")
        case .regionsLeftOut: LocalText("regions that did not fit", "監視できなかったリージョン")
        case .codesTaken: LocalText("codes accepted", "受け付けたコード")
        case .codesDropped: LocalText("codes dropped", "入力しなかったコード")
        case .unauthenticatedActions: LocalText("unauthenticated actions", "認証のない動作")
        case .notifications: LocalText("notifications", "通知の数")
        case .refused: LocalText("values from an insecure link", "安全でない接続からの値")
        case .received: LocalText("received", "受信")
        case .typed: LocalText("typed", "入力")
        case .discarded: LocalText("discarded", "破棄")
        case .rejected: LocalText("rejected", "拒否")
        case .turnsCut: LocalText("cut for another device", "他のデバイスのために中断")
        case .devices: LocalText("devices", "デバイス")
        case .gated: LocalText("gated", "停止中に破棄")
        case .lost: LocalText("lost", "損失")
        case .waiting: LocalText("waiting", "入力待ち")
        case .withheld: LocalText("blocked because the device is unpaired", "認証のないデバイスのため破棄")
        case .untypable: LocalText("untypable", "入力できない文字")
        case .tooShort: LocalText("too short", "短すぎる")
        case .tooLong: LocalText("too long", "長すぎる")
        case .duplicate: LocalText("duplicate", "重複")
        case .cut: LocalText("cut", "途切れ")
        case .frame: LocalText("not in a valid frame", "正しいフレーム以外")
        case .ringFull: LocalText("ring full", "満杯")
        case .writeFailed: LocalText("write failed", "書き込みの失敗")
        case .tooOld: LocalText("too old", "古すぎる")
        case .disconnected: LocalText("disconnected", "切断のため")
        case .switched: LocalText("switched", "切り替えのため")
        case .dropped: LocalText("dropped", "カーネルによる破棄")
        case .stray: LocalText("stray", "対象外の値")
        case .oversized: LocalText("oversized values", "長すぎて受信できない値")
        case .keyboardRemakes: LocalText("keyboards recreated", "キーボードの再作成")
        case .undelivered: LocalText("not accepted by the output", "接続先が受け取らなかった分")
        case .missed: LocalText("missed by clients", "個々の接続先の取りこぼし")
        case .readers: LocalText("clients", "接続先")
        case .outputs: LocalText("outputs", "出力先ごとの集計")
        case .to: LocalText("to", "出力先")
        case .followsGate: LocalText("only while the gate is open", "停止に従う")
        case .slowReader: LocalText("slow clients", "遅い接続先への方針")
        case .delivered: LocalText("delivered", "配信済み")
        case .keyReports: LocalText("keyboard reports", "キーボードのレポート")
        case .unchanged: HIDOutcomeText.unchanged.texts
        case .modifier: HIDOutcomeText.modifier.texts
        case .release: HIDOutcomeText.release.texts
        case .ambiguous: HIDOutcomeText.ambiguous.texts
        case .unknownUsage: HIDOutcomeText.unknownUsage.texts
        case .shortcut: HIDOutcomeText.shortcut.texts
        case .pending: HIDOutcomeText.pending.texts
        case .incompleteAltCode: HIDOutcomeText.incompleteAltCode.texts
        case .rollOver: HIDOutcomeText.rollOver.texts
        case .noKeys: HIDOutcomeText.noKeys.texts
        case .unknownReport: HIDOutcomeText.unknownReport.texts
        case .shorter: LocalText("shorter than declared", "宣言より短い")
        case .longer: LocalText("longer than declared", "宣言より長い")
        case .servicesChanged: LocalText("services changed", "サービスの変更")
        case .values: LocalText("values", "値")
        case .repeated: ValueOutcomeText.repeated.texts
        case .unstable: ValueOutcomeText.unstable.texts
        case .removed: ValueOutcomeText.removed.texts
        case .kept: ValueOutcomeText.kept.texts
        case .overload: ValueOutcomeText.overload.texts
        case .notMeasured: ValueOutcomeText.notMeasured.texts
        case .unreadable: ValueOutcomeText.unreadable.texts
        case .earlyValues: LocalText("values before encryption", "暗号化前に届いた値")
        case .refusedEarly: LocalText("refused", "拒否")
        case .acceptedEarly: LocalText("accepted", "受け入れ")
        case .longestMilliseconds: LocalText("longest time before (ms)", "最長(ミリ秒前)")
        case .verified: LocalText("verified", "照合済み")
        case .differing: LocalText("differing", "照合の相違")
        case .readerDropped: LocalText("queue overflows", "読み落とし")
        case .link: LocalText("link", "現在の接続")
        case .rssi: LocalText("signal (dBm)", "信号強度(dBm)")
        case .mtu: LocalText("MTU", "MTU")
        case .none: LocalText("none: identity not verified", "なし(デバイスの真偽は不明)")
        case .encrypted: LocalText("encrypted, not authenticated", "暗号化あり、認証なし")
        case .authenticated: LocalText("encrypted and authenticated", "暗号化と認証あり")
        case .intervalMicroseconds: LocalText("interval (us)", "接続間隔(µs)")
        case .latency: LocalText("latency", "レイテンシ")
        case .timeoutMilliseconds: LocalText("time-out (ms)", "監視タイムアウト(ms)")
        case .security: LocalText("security", "セキュリティ")
        case .requiredSecurity: LocalText("required security", "要求するセキュリティ")
        case .keySize: LocalText("key (bytes)", "鍵の長さ(バイト)")
        case .phy: LocalText("PHY", "PHY")
        case .packetBytes: LocalText("longest packet", "最長パケット")
        case .links: LocalText("links", "接続")
        case .ready: LocalText("ready", "成立")
        case .endedByDevice: LocalText("ended by the device", "デバイスが終了")
        case .outOfReach: LocalText("ended out of range", "圏外で終了")
        case .protocolBroken: LocalText("ended by a protocol violation", "デバイスのプロトコル違反で終了")
        case .flooded: LocalText("ended by excess data", "デバイスの送信過多で終了")
        case .notSecured: LocalText("ended by failed verification", "未確認のデバイスのため終了")
        case .withAdapter: LocalText("ended by loss of the adapter", "アダプタの喪失で終了")
        case .endedHere: LocalText("ended by us", "こちらから終了")
        case .failed: LocalText("ended by an error", "エラーで終了")
        case .adapterOpened: LocalText("adapter opened", "アダプタの使用開始")
        case .adapterLost: LocalText("adapter lost", "アダプタの喪失")
        case .scanArmed: LocalText("scan restarted", "スキャンの再開")
        case .scanQuiet: LocalText("scan restarted after silence", "そのうち何も聞こえなかったため")
        case .scanDisturbed: LocalText("scan changed by other programs", "他者によるスキャンの切り替え")
        case .resumed: LocalText("resumed from sleep", "スリープからの復帰")
        case .scanFailed: LocalText("scans failed", "スキャンの失敗")
        case .attemptsFailed: LocalText("attempts failed", "接続の失敗")
        case .connectionsStalled: LocalText("connections not started by the kernel", "カーネルが始めなかった接続")
        case .linksCrossed:
            LocalText("orphaned links ended", "切断した、カーネルの知らないリンク")
        case .stepsOverdue: LocalText("operations timed out", "終わらなかった処理")
        case .adapterRestarted: LocalText("adapter restarted", "アダプタの再起動")
        case .adapterMoved: LocalText("adapter found under another name", "そのうち別名での再検出")
        case .socketsRebuilt: LocalText("sockets recreated", "ソケットの再作成")
        case .attemptsCancelled: LocalText("attempts cancelled", "接続の打ち切り")
        case .controllerProbes: LocalText("controller probed", "応答のないコントローラへの確認")
        case .resetsRepeated: LocalText("resets repeated", "リセットの再送")
        case .connectionsRepeated: LocalText("connections retried immediately", "直ちに再試行した接続")
        case .bytesBeforeReset: LocalText("bytes dropped before the reset response", "リセット応答前に破棄したバイト")
        case .parametersGranted: LocalText("connection parameter requests accepted", "デバイスの接続タイミング要求の受諾")
        case .parametersRefused: LocalText("connection parameter requests rejected", "デバイスの接続タイミング要求の拒否")
        case .framesBroken: LocalText("malformed or oversized frames", "壊れた、または長すぎるフレーム")
        case .yes: LocalText("yes", "はい")
        case .no: LocalText("no", "いいえ")
        case .open: LocalText("open", "する")
        case .closed: LocalText("closed", "しない")
        case .public: LocalText("public", "パブリック")
        case .random: LocalText("random", "ランダム")
        }
    }
}

/// General words, lists and connectives.
package enum PlainText: String, Localized {
    case theDevice, oneDevice, unknown, nothingElse, layouts, ends, and, listed, inBrackets

    package var texts: LocalText {
        switch self {
        case .theDevice: LocalText("the device", "デバイス")
        case .oneDevice: LocalText("one device", "一つのデバイス")
        case .unknown: LocalText("unknown", "不明")
        case .nothingElse: LocalText("nothing else", "なし")
        case .layouts:
            LocalText(
                "us, jp, jp(OADG109A), de, fr, gb, es, it, pt, se, no, dk, fi, ch, be, nl, another xkb layout such as de(neo), or console[:TTY]",
                "us、jp、jp(OADG109A)、de、fr、gb、es、it、pt、se、no、dk、fi、ch、be、nl、xkbのほかの名前(de(neo)など)、console[:TTY]"
            )
        case .ends: LocalText("keyboard, stdout, pty:PATH or unix:PATH", "keyboard、stdout、pty:PATH、またはunix:PATH")
        case .and: LocalText("{1} and {2}", "{1}と{2}")
        case .listed: LocalText("{1}, {2}", "{1}、{2}")
        case .inBrackets: LocalText("{1} ({2})", "{1} ({2})")
        }
    }
}

/// Labels for those keypad keys that have no sign of their own.
package enum KeyLabelText: String, Localized {
    case backspace, space, enter, left, right, home, end, delete, tab, clear, next

    package var texts: LocalText {
        switch self {
        case .backspace: LocalText("BS", "BS")
        case .space: LocalText("Space", "空白")
        case .enter: LocalText("Enter", "改行")
        case .left: LocalText("Left", "←左")
        case .right: LocalText("Right", "右→")
        case .home: LocalText("Home", "行頭")
        case .end: LocalText("End", "行末")
        case .delete: LocalText("Del", "削除")
        case .tab: LocalText("Tab", "タブ")
        case .clear: LocalText("Clear", "全消去")
        case .next: LocalText("Pause", "停止")
        }
    }
}
