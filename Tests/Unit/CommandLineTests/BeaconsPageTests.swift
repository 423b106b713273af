// SPDX-License-Identifier: GPL-2.0-or-later

import Control
import Daemon
import Testing
import Texts

@testable import blewedge

private let badges = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"

/// Returns a daemon's answer to `beacons status`.
func beaconAnswer(
    _ availability: String = #""available":true,"availability":"possible""#,
    _ advertising: String = #""advertising":"on","advertised":"\#(badges)/9/9""#
) throws -> BeaconsAnswer {
    let text = #"""
        {"ok":true,"version":1,\#(availability),"known":3,"watched":["\#(badges)","a","b"],"inside":["\#(badges)"],
        "actions":[{"name":"badge","region":"\#(badges)","do":"type"},{"name":"door","region":"\#(badges)","do":"gate"}],
        "sightings":[{"region":"\#(badges)","name":"Badges\u001b[2J","inside":true,"secondsAgo":3,"beacon":"\#(badges)/1/2"},
        {"region":"\#(badges)/7","inside":false,"secondsAgo":125,"beacon":"\#(badges)/7/7"}],
        "designated":[{"code":"A17C","beacon":"\#(badges)/1/2","segment":1,"switcher":true}],
        \#(advertising),"counts":{"reports":10,"heard":4,"badEvents":1}}
        """#
    return BeaconsAnswer(try JSONValue(Array(text.utf8)))
}

@Suite("The page of beacons")
struct BeaconsPageTests {
    private static func text(
        _ answer: Result<BeaconsAnswer, CommandFailure>?,
        _ language: Language = .english,
        columns: Int = 80,
        rows: Int = 24
    ) throws -> [String] {
        var model = TUIModel(language: language)
        model.take(try daemonStatus())
        _ = model.open(.beacons)
        model.beacons = answer
        return pageText(model, columns: columns, rows: rows)
    }

    @Test(
        "SW-16: the page has the regions, when they were sighted, the designated, the own beacon, the counts"
    )
    func whole() throws {
        let text = try Self.text(.success(try beaconAnswer()))
        #expect(text[2] == "Regions: 3 known, 3 watched, 1 inside")
        #expect(text[3].hasPrefix("  Region ") && text[3].hasSuffix(" State   Last seen"))
        #expect(text[4].hasPrefix("* Badges\u{FFFD}[2J ") && text[4].hasSuffix(" inside  3 s ago"))
        #expect(text[5].hasPrefix("  \(badges)/7 ") && text[5].hasSuffix(" outside 2 min ago"))
        #expect(text[6] == "  and 1 more")
        #expect(text[7] == "Actions: badge (type), door (gate)")
        #expect(text[8] == "Designated: A17C (\(badges)/1/2), switcher")
        #expect(text[9] == "Own beacon: \(badges)/9/9")
        #expect(text[10] == "Advertising reports: 10 (4 from beacons, 6 from other devices), malformed")
        #expect(text[0].hasSuffix("F5 Settings F6 Guide F11 Beacons"))
        let japanese = try Self.text(.success(try beaconAnswer()), .japanese)
        #expect(japanese[2] == "リージョン: 登録3、監視中3、圏内1" && japanese[4].hasSuffix(" 圏内 3秒前"))
        #expect(japanese[0].hasSuffix("F5設定 F6ユーザガイド F11ビーコン"))
    }

    @Test("SW-13: the page reports why beacons cannot be watched or advertised")
    func hindered() throws {
        let answer = try beaconAnswer(
            #""available":false,"availability":"off","availabilityCause":"hci0 is off","availabilityRemedy":"switch it on""#,
            #""advertising":"failed","advertisingFault":"cannot be a beacon now""#
        )
        let text = try Self.text(.success(answer))
        #expect(text[2] == "Cannot watch beacons: hci0 is off (switch it on)")
        #expect(text.contains("Own beacon: cannot be a beacon now"))
        let none = BeaconsAnswer(try JSONValue(Array(#"{"counts":{"reports":-9223372036854775808,"heard":1}}"#.utf8)))
        let empty = try Self.text(.success(none))
        #expect(empty[2].hasPrefix("No region is watched. Set beacons.watch"))
        #expect(empty.contains("No designated beacons.") && empty.contains("Own beacon: off"))
        let failure = CommandFailure(.usage, Message(detail: "no such request"))
        #expect(try Self.text(.failure(failure))[2] == "no such request")
        #expect(try Self.text(nil)[2].isEmpty)
    }

    @Test("The page of beacons is read to its end on a small screen, and a wide name leaves room for the rest")
    func small() throws {
        for language in Language.allCases {
            var model = TUIModel(language: language)
            model.take(try daemonStatus())
            _ = model.press(.function(11), now: .seconds(1))
            #expect(model.page == .beacons)
            model.beacons = .success(try beaconAnswer())
            let first = pageText(model, columns: 40, rows: 12)
            #expect(first[5].hasSuffix(language == .english ? "outside 2 min ago" : "圏外 2分前") && first[5].contains("~"))
            for second in 2...20 { _ = model.press(.down, now: .seconds(second)) }
            let last = pageText(model, columns: 40, rows: 12).joined()
            #expect(last.contains(language == .english ? "malformed events" : "不正なイベント1"))
            model.lose(Reason(.noDaemon))
            #expect(model.beacons == nil)
        }
    }
}
