// SPDX-License-Identifier: GPL-2.0-or-later

import Control
import Daemon
import Devices
import TestSupport
import Testing
import Texts
import Typing

@testable import blewedge

@Suite("The pages")
struct PageTests {
    /// Returns a model with content on every page.
    private static func model(_ language: Language) throws -> TUIModel {
        var model = TUIModel(language: language)
        model.take(try daemonStatus())
        let answer = try scanAnswer([
            ("00:00:00:00:00:01", "バーコードリーダ二号", -90, "2021-05-24T17:07:55Z"),
            ("00:00:00:00:00:02", "a\\u001b[2Jb\\u202e", -40, "2021-05-24T17:07:59Z"),
            ("00:00:00:00:00:03", String(repeating: "長い名前", count: 15), -60, "2021-05-24T17:07:59Z"),
        ])
        model.devices.hear(answer, now: someTime)
        for character in "490277\n日本" {
            _ = model.field.take(character == "\n" ? .enter : .character(character))
        }
        model.configurationFile = "/etc/blewedge/blewedge.toml"
        model.machineFaults = []
        model.beacons = .success(try beaconAnswer())
        return model
    }

    private static func reason(_ cause: String, _ remedy: String) -> Reason {
        Reason(Message(detail: cause), remedy: Message(detail: remedy))
    }

    private static let sizes = [(80, 24), (40, 12), (20, 6), (7, 3), (2, 2), (1, 1), (1, 24), (80, 1), (300, 100)]

    @Test(
        "Every page, in both languages and at every size, fills its screen and no more",
        arguments: Page.allCases
    )
    func sizes(page: Page) throws {
        for language in Language.allCases {
            var model = try Self.model(language)
            _ = model.open(page)
            for state in Session.State.allCases {
                model.take(try daemonStatus(state.rawValue))
                for (columns, rows) in Self.sizes {
                    let screen = PageFrame.screen(model, columns: columns, rows: rows)
                    #expect(screen.columns == columns && screen.rows == rows)
                    #expect(screen.text.allSatisfy { ScreenText.columns(of: $0) <= columns })
                    #expect(!screen.text.joined().contains("\u{1B}"))
                }
            }
        }
    }

    @Test("LK-24: every state is on the second line of every page, or hidden", arguments: Session.State.allCases)
    func states(state: Session.State) throws {
        for language in Language.allCases {
            for page in Page.allCases {
                var model = try Self.model(language)
                model.take(try daemonStatus(state.rawValue))
                _ = model.open(page)
                let text = pageText(model)
                #expect(text[1].hasPrefix(state.text(language, "LINBLE-TEST")))
                // LK-26: the line can be turned off.
                model.showsStatus = false
                let second = pageText(model)[1]
                if page != .check { #expect(!second.contains(state.text(language, "LINBLE-TEST"))) }
            }
        }
    }

    @Test("The devices' rows align with wide names, and names cannot act on the terminal")
    func devices() throws {
        for (language, button) in [(Language.english, "[Use]"), (.japanese, "[つかう]")] {
            var model = try Self.model(language)
            _ = model.open(.devices)
            let text = pageText(model)
            let rows = text[3...6].map { $0 }
            #expect(rows[0].hasPrefix("* LINBLE-TEST"))
            #expect(rows[1].hasPrefix("  a\u{FFFD}[2Jb\u{FFFD}"))
            #expect(rows[2].contains("~ ") && rows[3].hasPrefix("  バーコードリーダ二~"))
            let places = rows[1...].map { row -> Int in
                let start = row.range(of: button) ?? row.endIndex..<row.endIndex
                return ScreenText.columns(of: String(row[..<start.lowerBound]))
            }
            #expect(Set(places).count == 1, "\(rows)")
            #expect(rows[1].contains("2021/05/24 "))
        }
        let narrow = pageText(try Self.model(.english), columns: 40, rows: 12)
        #expect(narrow[3].hasPrefix("* LINBLE-TEST") && narrow[4].hasSuffix("-40 ▂▄▆█"))
    }

    @Test("The kind of each device is shown, and serial ones are listed before stronger ones")
    func kinds() throws {
        func device(_ number: Int, _ rssi: Int, _ data: String) -> String {
            #"{"address":"00:00:00:00:00:0\#(number)","addressType":"public","name":"N\#(number)","rssi":\#(rssi),\#(data)}"#
        }
        let badge = "02156C619B5E0C1D4C2F9A516E0C9F4D7B2000010007C5"
        let uid = "00C5AABBCCDDEEFF00112233010203040506"
        let devices = [
            device(1, -30, #""services":["1812"]"#), device(2, -35, #""services":["180F"]"#),
            device(3, -40, #""manufacturerData":[{"company":76,"data":"\#(badge)"}]"#),
            device(4, -45, #""serviceData":[{"service":"FEAA","data":"\#(uid)"}]"#),
            device(5, -50, #""services":["6E400001-B5A3-F393-E0A9-E50E24DCCA9E"]"#),
            device(6, -55, #""manufacturerData":[{"company":76,"data":"10"},{"company":-1},{"data":"0"}]"#),
            device(7, -90, #""services":["180F","27ADC9CA-35EB-465A-9154-B8FF9076F3E8"],"appearance":961"#),
            device(8, -91, #""services":[],"appearance":968"#),
            device(9, -92, #""services":["1812"],"appearance":962"#),
        ]
        let answer = #"{"ok":true,"version":1,"devices":[\#(devices.joined(separator: ","))]}"#
        let kinds: [Language: [String]] = [
            .english: [
                "Nordic UART", "LINBLE UART", "keyboard", "no serial service", "beacon", "beacon", "", "keyboard",
                "HID, no keyboard",
            ],
            .japanese: [
                "Nordic UART", "LINBLE UART", "キーボード", "シリアル通信なし", "ビーコン", "ビーコン", "", "キーボード",
                "HID(キーなし)",
            ],
        ]
        for language in Language.allCases {
            var model = TUIModel(language: language)
            model.take(try daemonStatus("unselected", chosen: false))
            model.hear(try JSONValue(Array(answer.utf8)), now: someTime)
            let text = pageText(model)
            let rows = text.dropFirst(3).prefix(9).map { String($0) }
            for (row, (number, kind)) in zip(rows, zip([5, 7, 1, 2, 3, 4, 6, 8, 9], kinds[language] ?? [])) {
                #expect(row.hasPrefix("  N\(number) ") && row.contains(" \(kind) "), "\(row)")
            }
            #expect(text[2].contains(PageText.columnKind.text(language)))
            #expect(!text[2].contains(PageText.scanning.text(language)))
            model.isScanning = true
            for columns in [40, 80] {
                let text = pageText(model, columns: columns, rows: 12)
                #expect(text[2].contains(PageText.scanning.text(language)))
            }
        }
    }

    @Test("A long fault is wrapped above the last row, in a third of the screen at most")
    func longFault() throws {
        let cause = "no adapter is available for scanning"
        let remedy = "attach one, or name a serial line or a socket by adapter in the configuration"
        for language in Language.allCases {
            var model = try Self.model(language)
            model.notice = .fault(Self.reason(cause, remedy))
            let wanted = Self.reason(cause, remedy).line(language)
            for (columns, rows) in [(80, 24), (40, 12), (200, 50)] {
                let text = pageText(model, columns: columns, rows: rows)
                let lines = ScreenText.wrapped(wanted, columns: columns)
                #expect(Array(text.suffix(lines.count)) == lines)
            }
            for rows in 1...8 {
                let text = pageText(model, columns: 10, rows: rows)
                let shown = text.filter { !$0.isEmpty && wanted.contains($0.prefix(9)) }
                #expect(text[0].contains("F1") && shown.count <= max(1, rows / 3))
                #expect(rows == 1 || text.last == ScreenText.wrapped(wanted, columns: 10)[max(1, rows / 3) - 1])
            }
        }
    }

    @Test("The question can be answered on any screen that has room for the answers")
    func question() throws {
        for language in Language.allCases {
            for (columns, rows) in [(80, 24), (40, 12), (24, 4)] {
                var model = try Self.model(language)
                _ = model.open(.devices)
                _ = model.press(.down, now: .seconds(1))
                _ = model.press(.enter, now: .seconds(2))
                let screen = PageFrame.screen(model, columns: columns, rows: rows)
                #expect(screen.text.joined().contains("[ \(PageText.no.text(language)) ]"))
                if rows >= 12 { #expect(screen.text.joined(separator: " ").contains("LINBLE-TEST")) }
            }
        }
    }

    @Test("What is received is shown on every page, typed or not")
    func flash() throws {
        for language in Language.allCases {
            var model = try Self.model(language)
            for page in Page.allCases {
                _ = model.open(page)
                model.isFlashing = false
                #expect(!pageText(model)[1].contains("*"))
                model.isFlashing = true
                #expect(
                    pageText(model)[1].hasSuffix(
                        "* \(PageText.received.text(language))"
                    )
                )
            }
        }
    }

    @Test("The check page has state, counters, last received and the field")
    func check() throws {
        var model = try Self.model(.english)
        _ = model.open(.check)
        let text = pageText(model).joined(separator: "\n")
        for part in [
            "connected to LINBLE-TEST: typing received data (for 1 min)", "Last received: 3 s ago, 14 bytes",
            "notifications 2, received 28, typed 26, discarded 2", "Adapter: hci0", "Typed text\n490277\n日本",
        ] { #expect(text.contains(part), "\(part) is not in\n\(text)") }
    }

    @Test("The keypad's keys stand in the rows of the LINBLE keyboard, at both sizes")
    func keypad() throws {
        for (columns, rows) in [(80, 24), (40, 12)] {
            var model = try Self.model(.english)
            _ = model.open(.keypad)
            let text = pageText(model, columns: columns, rows: rows)
            let words = text[2..<6].map { $0.split(separator: " ").map(String.init) }
            #expect(
                words == [
                    ["+", "1", "2", "3", "BS"], ["-", "4", "5", "6", "Space"], ["<", "7", "8", "9", ">"],
                    [".", ",", "0", "Tab", "Enter"],
                ]
            )
        }
    }

    @Test("Every snippet is on its page with what it types; a broken file is said so")
    func snippets() throws {
        var model = try Self.model(.english)
        _ = model.open(.snippets)
        model.snippets = Snippets(.habr).all
        model.snippetFault = Message(detail: "/etc/blewedge/snippets.json: line 1, column 1: '[' or '{' expected")
        var seen = ""
        for row in 0..<model.snippets.count {
            model.rows[.snippets] = row
            seen += pageText(model).joined(separator: "\n")
        }
        for snippet in model.snippets { #expect(seen.contains(" \(snippet.title) ") && seen.contains(snippet.text)) }
        #expect(seen.contains("Cannot use the snippet file: /etc/blewedge/snippets.json: line 1"))
        #expect(seen.contains("<b></b>, then Left 4 times"))
        model.snippets = []
        let empty = PageFrame.screen(model, columns: 80, rows: 24)
        #expect(empty.rows == 24 && empty.text.contains { $0.contains("No snippets. Add") })
    }

    @Test("LK-14: the check page shows state, field and counters, or the missing parts of the service")
    func serviceOrState() throws {
        for language in Language.allCases {
            var model = try Self.model(language)
            _ = model.open(.check)
            let text = pageText(model)
            let state = Session.State.connected
            #expect(text[2].hasPrefix(state.text(language, "LINBLE-TEST")) && text.contains(state.hint[language]))
            #expect(text.contains(PageText.field.text(language)) && text.contains("490277"))
            #expect(text.contains { $0.contains("\(LabelText.received.text(language)) ") })
            model.lose(Reason(.noDaemon))
            for (service, expected) in [
                (TUIModel.ServiceStart.starting, PageText.serviceStarting.text(language)),
                (
                    .failed(
                        Reason(
                            PageText.serviceMissing.message(),
                            remedy: PageText.serviceRemedy.message("blewedge setup")
                        )
                    ), language == .english ? "run `blewedge setup` as root" : "rootで `blewedge setup` を実行してください"
                ),
            ] {
                model.service = service
                let text = pageText(model).joined()
                #expect(text.contains(PageText.noDaemon.text(language)) && text.contains(expected), "\(text)")
            }
        }
    }

    @Test("The guide has its steps, what the access is used for, and the field")
    func guide() throws {
        for language in Language.allCases {
            var model = try Self.model(language)
            _ = model.open(.guide)
            let text = pageText(model).joined(separator: "\n")
            for part in [GuideText.machine, .daemon, .choose, .connect, .attempt, .accessTitle] {
                #expect(text.contains(part.text(language)))
            }
            #expect(text.contains("[" + (language == .english ? "ok" : "済") + "]"))
            // Scrolls to the end on a small screen.
            model.scroll = 1000
            let small = pageText(model, columns: 40, rows: 12).joined()
            #expect(small.contains(language == .english ? "Alt-X for F12" : "Altと数字"))
        }
    }

    @Test("The guide's step that is due is in sight on a small screen, whichever it is")
    func due() throws {
        for language in Language.allCases {
            var model = TUIModel(language: language)
            model.machineFaults = [Self.reason(String(repeating: "there is no adapter ", count: 20), "plug one in")]
            _ = model.open(.guide)
            for state in [nil, "bluetoothOff", "unselected", "failed", "connected"] {
                if let state { model.take(try daemonStatus(state, chosen: state != "unselected")) }
                let text = pageText(model, columns: 40, rows: 12)
                let mark = GuideText.next.text(language)
                #expect(text.contains { $0.hasPrefix(mark) }, "\(text)")
            }
        }
    }

    @Test("Without a daemon every page says so, or still does its work")
    func alone() throws {
        for language in Language.allCases {
            var model = try Self.model(language)
            model.lose(Self.reason("not permitted to open /run/blewedge/control", "join the group"))
            model.notice = nil
            for page in Page.allCases {
                _ = model.open(page)
                let text = pageText(model)
                #expect(text[1] == PageText.noDaemon.text(language))
                #expect(text.filter { $0.contains(PageText.noDaemon.text(language)) }.count == 1, "\(page)")
                if page == .devices || page == .check {
                    #expect(text.joined().contains("not permitted to open /run/blewedge/control (join the group)"))
                }
            }
        }
    }

    @Test("The settings show what is set")
    func settings() throws {
        var model = try Self.model(.english)
        _ = model.open(.settings)
        #expect(pageText(model)[2].hasSuffix("< on >"))
        model.showsStatus = false
        #expect(pageText(model)[1].hasSuffix("< off >"))
    }

    @Test("Random keys on random sizes end in no trap")
    func random() throws {
        var generator = SeededGenerator(seed: 33)
        let keys: [TUIKey] =
            [.enter, .tab, .backTab, .backspace, .delete, .escape, .up, .down, .left, .right, .home, .end, .pageUp]
            + [.pageDown, .character("r"), .character("日"), .paste("x\r\ny"), .redraw] + (1...12).map(TUIKey.function)
        var model = try Self.model(.japanese)
        var now = Duration.zero
        for step in 0..<20_000 {
            now += .milliseconds(Int.random(in: 1...300, using: &generator))
            guard let key = keys.randomElement(using: &generator) else { break }
            _ = model.press(key, now: now)
            if step % 97 == 0 { model.lose(Reason(.noDaemon)) }
            if step % 101 == 0 { model.take(try daemonStatus()) }
            if step % 20 == 0 {
                let columns = Int.random(in: 1...100, using: &generator)
                let screen = PageFrame.screen(model, columns: columns, rows: Int.random(in: 1...30, using: &generator))
                #expect(screen.columns == columns)
            }
        }
    }
}

extension String {
    /// Returns the range of a text within this string; nil if it is not found.
    fileprivate func range(of text: String) -> Range<Index>? {
        indices.lazy.filter { self[$0...].hasPrefix(text) }.first.map { $0..<self.index($0, offsetBy: text.count) }
    }
}
