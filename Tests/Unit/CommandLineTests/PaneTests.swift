// SPDX-License-Identifier: GPL-2.0-or-later

import Daemon
import TestSupport
import Testing
import Texts

@testable import blewedge

@Suite("Panes, details and graphs of the pages")
struct PaneTests {
    private static func area(_ columns: Int, _ rows: Int) -> PaneArea {
        PaneArea(columns: columns, screenRows: rows, first: 1, rows: rows - 2)
    }

    private static func drawn(_ panes: [Pane], _ columns: Int, _ rows: Int, _ glyphs: TerminalGlyphs) -> [String] {
        var screen = Screen(columns: columns, rows: rows)
        area(columns, rows).draw(panes, scroll: 0, glyphs: glyphs, on: &screen)
        return screen.text
    }

    @Test("A frame has its title and its text, and neither passes its edges")
    func frames() {
        let wide = Pane("長い題名" + String(repeating: "x", count: 100), [PageLine(String(repeating: "日", count: 99))])
        let small = Pane("b", [PageLine("one"), PageLine("two")])
        for (glyphs, corners) in [(TerminalGlyphs.blocks, "┌┐└┘│"), (.console, "┌┐└┘│"), (.ascii, "++++|")] {
            let edges = Array(corners)
            let text = Self.drawn([wide, small], 61, 16, glyphs)
            #expect(text[0].isEmpty && text[15].isEmpty)
            #expect(text[1].first == edges[0] && text[1].last == edges[1] && text[1].contains(" 長い題名xxx"))
            #expect(text[2].first == edges[4] && text[2].last == edges[4])
            #expect(text[1...14].allSatisfy { ScreenText.columns(of: $0) == 61 }, "\(text)")
            #expect(text[10].first == edges[2] && text[11].first == edges[0] && text[11].contains(" b "))
            #expect(text[12].hasPrefix("\(edges[4]) one") && text[13].hasPrefix("\(edges[4]) two"))
            #expect(text[14].first == edges[2] && text[14].last == edges[3])
        }
    }

    @Test("A small screen has no frames: the first pane, then the others' titles and lines at the bottom")
    func plain() {
        let panes = [Pane("title", (1...9).map { PageLine("\($0)") }), Pane("b", [PageLine("one"), PageLine("two")])]
        #expect(Self.drawn(panes, 59, 16, .blocks)[1...14].prefix(1) == ["1"])
        #expect(Self.drawn(panes, 80, 8, .blocks) == ["", "1", "2", "3", "b", "one", "two", ""])
        #expect(Self.drawn(panes, 80, 5, .blocks) == ["", "1", "one", "two", ""])
        #expect(Self.drawn(panes, 80, 3, .blocks) == ["", "1", ""])
    }

    @Test("On a wide screen a pane stands beside the first one")
    func beside() {
        var other = Pane("b", [PageLine("one")], rows: 1)
        other.isBeside = true
        let wide = Self.drawn([Pane("a", [PageLine("x")]), other], 128, 16, .ascii)
        #expect(wide[1].contains(" a ") && wide[1].contains(" b ") && wide[2].contains("|| one"))
        let narrow = Self.drawn([Pane("a", [PageLine("x")]), other], 127, 16, .ascii)
        #expect(narrow[12].contains(" b ") && narrow[13].hasPrefix("| one"))
    }

    @Test("The details are those of the device under the cursor, with its battery and the selected one's link")
    func details() throws {
        let devices = [
            #"{"address":"F0:F1:F2:F3:F4:F5","addressType":"random","name":"LINBLE-TEST","rssi":-51}"#,
            #"""
            {"address":"00:00:00:00:00:01","addressType":"public","name":"Reader","rssi":-60,"services":["180F","FFF0","1812"],
             "paired":true,
             "serviceData":[{"service":"180F","data":"57"}]}
            """#,
            #"""
            {"address":"00:00:00:00:00:02","addressType":"public","name":"Bad","rssi":-61,
             "serviceData":[{"service":"180F","data":"65"},{"service":"180F","data":""}]}
            """#,
        ]
        for language in Language.allCases {
            var model = TUIModel(language: language)
            let link = #","link":{"rssi":-72,"seconds":5,"mtu":185,"security":"encrypted"}"#
            model.take(try daemonStatus(more: link))
            let answer = #"{"ok":true,"version":1,"devices":[\#(devices.joined(separator: ","))]}"#
            model.hear(try JSONValue(Array(answer.utf8)), now: someTime)
            var text = PageFrame.screen(model, columns: 80, rows: 24).text.joined(separator: "\n")
            let encrypted = LabelText.encrypted.text(language)
            for part in ["F0:F1:F2:F3:F4:F5", "-72 dBm ▂▄", encrypted, "185"] {
                #expect(text.contains(part), "\(text)")
            }
            _ = model.press(.down, now: .seconds(1))
            text = PageFrame.screen(model, columns: 80, rows: 24).text.joined(separator: "\n")
            let paired = PageText.paired.text(language)
            for part in ["00:00:00:00:00:01", "87 %", "FFF0", "HID keyboard", paired] {
                #expect(text.contains(part), "\(text)")
            }
            #expect(!text.contains("MTU"))
            let small = PageFrame.screen(model, columns: 40, rows: 12).text.joined()
            #expect(small.contains("00:00:00:00:00:01"))
            _ = model.press(.down, now: .seconds(2))
            text = PageFrame.screen(model, columns: 80, rows: 24).text.joined(separator: "\n")
            #expect(!text.contains(" %") && !text.contains(PageText.pairing.text(language)))
        }
    }

    @Test("A history has what was received and typed in each of the last 60 seconds")
    func history() throws {
        func status(_ received: Int, _ typed: Int) throws -> StatusAnswer {
            try daemonStatus(received: received, typed: typed)
        }
        var history = TrafficHistory()
        history.add(try status(100, 90), at: .seconds(10))
        #expect(history.values(at: .seconds(10)).received.allSatisfy { $0 == 0 })
        history.add(try status(110, 95), at: .milliseconds(10_500))
        history.add(try status(111, 95), at: .milliseconds(10_900))
        history.add(try status(115, 98), at: .seconds(12))
        var values = history.values(at: .seconds(12))
        #expect(values.received.suffix(3) == [11, 0, 4] && values.typed.suffix(3) == [5, 0, 3])
        #expect(values.received.count == 60 && values.received.dropLast(3).allSatisfy { $0 == 0 })
        values = history.values(at: .seconds(69))
        #expect(values.received.first == 11)
        #expect(history.values(at: .seconds(70)).received.first == 0)
        #expect(history.values(at: .seconds(72)).received.allSatisfy { $0 == 0 })
        // Smaller counters belong to a new daemon, so the earlier values are discarded.
        history.add(try status(3, 3), at: .seconds(13))
        #expect(history.values(at: .seconds(13)).received.allSatisfy { $0 == 0 })
        history.add(try status(5, 4), at: .seconds(14))
        #expect(history.values(at: .seconds(14)).received.last == 2)
        history.clear()
        history.add(try status(9, 9), at: .seconds(15))
        #expect(history.values(at: .seconds(15)).received.allSatisfy { $0 == 0 })
        // One smaller counter is enough.
        for (second, counts) in [(16, (8, 10)), (17, (9, 9))] {
            history.add(try status(counts.0, counts.1), at: .seconds(second))
            let values = history.values(at: .seconds(second))
            #expect((values.received + values.typed).allSatisfy { $0 == 0 })
        }
    }

    @Test("The check page draws the last minute of both, each scaled to its own maximum")
    func lastMinute() throws {
        var model = TUIModel(language: .english)
        for (second, count) in [(1, 28), (2, 36), (3, 40)] {
            model.clock = .seconds(second)
            model.take(try daemonStatus(received: count, typed: 28))
        }
        _ = model.open(.check)
        let text = PageFrame.screen(model, columns: 80, rows: 24).text
        #expect(text.contains { $0.contains("received 12 ") && $0.contains("█▅") }, "\(text)")
        #expect(text.contains { $0.contains("typed     0 ") && !$0.contains("█") })
        #expect(!PageFrame.screen(model, columns: 40, rows: 12).text.joined().contains("█"))
    }
}
