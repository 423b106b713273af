// SPDX-License-Identifier: GPL-2.0-or-later

import Testing
import Texts

@testable import Control

@Suite("Table of events")
struct ControlEventTests {
    @Test("An event is in the table with all its members, and nothing else is")
    func listed() {
        var event = JSONObject(event: .received)
        event.add("bytes", 14)
        event.add("missed", 3)
        #expect(ControlEvent.lists(event))
        event.add("text", "secret")
        #expect(!ControlEvent.lists(event))
        var other = JSONObject()
        #expect(!ControlEvent.lists(other))
        other.add("event", "unknown")
        #expect(!ControlEvent.lists(other))
    }

    @Test("The listing has a line for each event, and all members in at most 80 columns")
    func listing() {
        let lines = ControlEvent.listing.split(separator: "\n")
        #expect(lines.allSatisfy { $0.count <= 80 && $0.hasPrefix("  ") && $0.last != " " })
        for event in ControlEvent.allCases {
            #expect(lines.count { $0.hasPrefix("  \(event.rawValue) ") } == 1)
        }
        let words = ControlEvent.listing.split { $0 == " " || $0 == "," || $0 == "\n" }
        #expect(words.map(String.init) == ControlEvent.allCases.flatMap { [$0.rawValue] + $0.members })
    }
}
