// SPDX-License-Identifier: GPL-2.0-or-later

import Configuration
import Control
import Devices
import TestSupport
import Testing
import Texts

@testable import blewedge

@Suite("Commands of the pages by character, mouse and editor")
struct PageCommandTests {
    private static func model(_ page: Page) throws -> TUIModel {
        var model = TUIModel(language: .english)
        model.take(try daemonStatus("unselected", chosen: false))
        model.hear(
            try scanAnswer([
                ("00:00:00:00:00:01", "Reader", -40, "2021-05-24T17:07:59Z"),
                ("00:00:00:00:00:02", "Scale", -60, "2021-05-24T17:07:59Z"),
                ("00:00:00:00:00:0A", "Gauge", -80, "2021-05-24T17:07:59Z"),
            ]),
            now: someTime
        )
        _ = model.open(page)
        return model
    }

    private static func screen(_ model: TUIModel, _ columns: Int = 80, _ rows: Int = 24) -> [String] {
        PageFrame.screen(model, columns: columns, rows: rows).text
    }

    // MARK: Quit

    @Test("q quits a page without a field after a pause", arguments: [Page.devices, .settings, .beacons])
    func quits(page: Page) throws {
        var model = try Self.model(page)
        #expect(model.press(.character("q"), now: .seconds(1)) == [.waitForMore])
        #expect(model.waited(now: .milliseconds(1299)).isEmpty)
        #expect(model.waited(now: .milliseconds(1300)) == [.quit])
    }

    @Test("A barcode that begins with q quits nothing", arguments: [Page.devices, .settings, .beacons])
    func barcode(page: Page) throws {
        for next in [TUIKey.character("1"), .enter] {
            var model = try Self.model(page)
            _ = model.press(.character("q"), now: .seconds(1))
            #expect(model.press(next, now: .milliseconds(1100)).isEmpty)
            #expect(model.waited(now: .milliseconds(1300)).isEmpty)
        }
    }

    @Test("A q that the daemon has just received, before or after, quits nothing")
    func received() throws {
        var model = try Self.model(.devices)
        model.receive(now: .milliseconds(900))
        #expect(model.press(.character("q"), now: .seconds(1)).isEmpty)
        #expect(model.press(.character("q"), now: .seconds(2)) == [.waitForMore])
        model.receive(now: .milliseconds(2050))
        #expect(model.waited(now: .milliseconds(2300)).isEmpty)
        #expect(model.press(.character("q"), now: .seconds(3)) == [.waitForMore])
    }

    @Test("On a page with a field, q, ? and / are text", arguments: Page.allCases.filter(\.hasField))
    func text(page: Page) throws {
        var model = try Self.model(page)
        for (second, character) in "q?/".enumerated() {
            #expect(model.press(.character(character), now: .seconds(1 + second)).isEmpty)
        }
        #expect(String(model.field.text) == "q?/" && !model.showsHelp && model.editor == nil)
    }

    // MARK: Help

    @Test("? shows the keys until the next key, which does nothing else")
    func help() throws {
        for language in Language.allCases {
            var model = try Self.model(.devices)
            model.language = language
            #expect(model.press(.character("?"), now: .seconds(1)).isEmpty)
            let text = Self.screen(model).joined()
            for part in [PageText.keys, .keyPages, .keyHex, .keySuspend] { #expect(text.contains(part.text(language))) }
            // On a small screen, the rest is on the next page.
            #expect(!Self.screen(model, 40, 12).joined().contains("Ctrl-L"))
            for step in 0..<12 { #expect(model.press(.pageDown, now: .milliseconds(2000 + 300 * step)).isEmpty) }
            #expect(Self.screen(model, 40, 12).joined().contains("Ctrl-L"))
            #expect(model.press(.enter, now: .seconds(6)).isEmpty)
            #expect(!model.showsHelp && model.scroll == 0 && model.question == nil && model.devices.cursor == 0)
            _ = model.press(.character("?"), now: .seconds(7))
            #expect(model.press(.function(5), now: .seconds(8)) == [.loadConfiguration] && !model.showsHelp)
        }
    }

    // MARK: Filter

    @Test("/ lists the devices whose name, address or kind has the text, and Esc lists all again")
    func filter() throws {
        var model = try Self.model(.devices)
        _ = model.press(.character("/"), now: .seconds(1))
        for (second, character) in "scA".enumerated() {
            _ = model.press(.character(character), now: .seconds(2 + second))
        }
        #expect(model.devices.rows.map(\.label) == ["Scale"])
        #expect(Self.screen(model)[2].contains("Devices /scA_"))
        #expect(model.press(.enter, now: .seconds(6)).isEmpty && model.editor == nil)
        #expect(Self.screen(model)[2].contains("Devices /scA "))
        // The letter is a command again, because the editor is closed.
        #expect(model.press(.character("r"), now: .seconds(7)) == [.rescan(isAnew: true)])
        model = try Self.model(.devices)
        _ = model.press([.character("/")], now: .seconds(1))
        _ = model.press([.character("0"), .character(":"), .character("0"), .character("a")], now: .seconds(2))
        #expect(model.devices.rows.map(\.label) == ["Gauge"])
        _ = model.press(.backspace, now: .seconds(3))
        _ = model.press(.character("z"), now: .seconds(4))
        #expect(model.devices.rows.isEmpty)
        #expect(Self.screen(model).joined().contains(PageText.nothingMatches.text(.english)))
        #expect(model.press(.escape, now: .seconds(5)).isEmpty && model.devices.rows.count == 3)
        // The selected device is always listed.
        model.take(try daemonStatus())
        model.devices.filter = "scale"
        #expect(model.devices.rows.map(\.label) == ["LINBLE-TEST", "Scale"])
    }

    // MARK: Settings

    private static func edit(_ model: inout TUIModel, row: Int, _ keys: [TUIKey]) -> [TUIEffect] {
        model.rows[.settings] = row
        return ([.enter] + keys).enumerated().flatMap { index, key in
            model.press(key, now: .seconds(10 * row + 1 + index))
        }
    }

    @Test("Every setting is edited: chosen from its values or typed, saved by Enter, left alone by Esc")
    func settings() throws {
        var model = try Self.model(.settings)
        let erase = Array(repeating: TUIKey.backspace, count: 8)
        #expect(Self.edit(&model, row: 2, [.down, .enter]) == [.keep(.profile, "linble")])
        #expect(Self.edit(&model, row: 3, erase + [.paste("de"), .enter]) == [.keep(.layout, "de")])
        #expect(Self.edit(&model, row: 4, [.character("+"), .enter]) == [.keep(.prefix, "+")])
        model.configuration.barcodeMode.suffix = "x"
        #expect(Self.edit(&model, row: 5, [.backspace, .enter]) == [.keep(.suffix, "")])
        #expect(Self.edit(&model, row: 6, [.up, .enter]) == [.keep(.pace, "kms")])
        #expect(Self.edit(&model, row: 6, [.up, .escape]).isEmpty && model.editor == nil)
        #expect(Self.edit(&model, row: 6, [.enter]).isEmpty, "an unchanged value is not saved")
        #expect(Self.edit(&model, row: 7, []) == [.ask(.reload, .said(.reloaded, []))])
    }

    @Test("The value that is edited is shown, and a barcode in it is text of one line")
    func editor() throws {
        var model = try Self.model(.settings)
        #expect(Self.edit(&model, row: 4, []).isEmpty)
        let keys = "49\u{1}日".map(TUIKey.character) + [.enter, .tab]
        #expect(model.press(keys, now: .seconds(90)).isEmpty)
        let text = Self.screen(model).joined(separator: "\n")
        #expect(text.contains("[49\u{FFFD}日_]"), "\(text)")
        _ = model.press([.paste(String(repeating: "x\n", count: 1000))], now: .seconds(95))
        #expect(model.editor?.text.count == 200)
        #expect(model.press(.function(1), now: .seconds(100)) == [.rescan(isAnew: false)] && model.editor == nil)
    }

    // MARK: Mouse, suspension and bytes

    private static func target(of text: String, on screen: Screen) throws -> TUITarget? {
        let row = try #require(screen.text.firstIndex { $0.contains(text) })
        let line = screen.text[row]
        let start = try #require(line.indices.first { line[$0...].hasPrefix(text) })
        return screen.target(row: row, column: ScreenText.columns(of: String(line[..<start])))
    }

    @Test(
        "A click opens a page, moves the cursor, and at the cursor is Enter",
        arguments: [(80, 24), (40, 12), (130, 40)]
    )
    func clicks(columns: Int, rows: Int) throws {
        var model = try Self.model(.devices)
        let screen = PageFrame.screen(model, columns: columns, rows: rows)
        #expect(try Self.target(of: "F5", on: screen) == .page(.settings))
        #expect(try Self.target(of: "F9", on: screen) == .function(9))
        let scale = try #require(try Self.target(of: "Scale", on: screen))
        #expect(scale == .row(1) && screen.target(row: 1, column: 0) == nil)
        #expect(model.press(.click(scale), now: .seconds(1)).isEmpty && model.devices.focused?.label == "Scale")
        let effects = model.press(.click(scale), now: .seconds(2))
        let address = try #require(DeviceSelector("00:00:00:00:00:02"))
        #expect(effects == [.ask(.use(address, confirmed: true), .said(.chosen, ["Scale"]))])
        #expect(model.press(.click(.page(.settings)), now: .seconds(3)) == [.loadConfiguration])
        #expect(model.press(.click(.row(0)), now: .seconds(4)) == [.keepStatusLine(false)])
        #expect(model.press(.click(.row(7)), now: .seconds(5)).isEmpty)
        #expect(model.press(.click(.row(7)), now: .seconds(6)) == [.ask(.reload, .said(.reloaded, []))])
        #expect(model.press(.click(.function(9)), now: .seconds(7)) == [.ask(.pause, .said(.pausedNow, []))])
    }

    @Test("A click answers a question")
    func answers() throws {
        for (button, effects) in [("[ OK ]", [TUIEffect.ask(.forget, .said(.forgotten, []))]), ("[ Cancel ]", [])] {
            var model = try Self.model(.devices)
            model.take(try daemonStatus())
            _ = model.press([.enter], now: .seconds(1))
            let screen = PageFrame.screen(model, columns: 80, rows: 24)
            let target = try #require(try Self.target(of: button, on: screen))
            #expect(model.press(.click(target), now: .seconds(2)) == effects && model.question == nil)
            // A click outside the question has no effect.
            _ = model.press([.enter], now: .seconds(3))
            #expect(model.press(.click(.row(0)), now: .seconds(4)).isEmpty && model.question != nil)
        }
    }

    @Test("The mouse's reports, Ctrl-Z and F12 are keys; a malformed report is none")
    func decoding() {
        func keys(_ text: String) -> [TUIKey] {
            var decoder = TUIKeyDecoder()
            return decoder.take(text.utf8) + decoder.timeout()
        }
        #expect(keys("\u{1B}[<0;5;3M\u{1B}[<0;5;3m") == [.mouse(row: 2, column: 4)])
        #expect(keys("\u{1B}[<64;1;1M\u{1B}[<65;1;1M\u{1B}[<2;1;1M\u{1B}[<32;1;1M") == [.up, .down])
        for text in [
            "<0;0;1M", "<0;1;0M", "<0;1001;1M", "<0;1M", "<0;1;1;1M", "<M", "<;;M", "<0;99999999999999999999;1M",
        ] {
            #expect(keys("\u{1B}[" + text).isEmpty, "\(text)")
        }
        #expect(keys("\u{1A}\u{1B}[24~\u{1B}x") == [.suspend, .function(12), .function(12)])
    }

    @Test("Ctrl-Z stops the program on every page, but not within a barcode", arguments: Page.allCases)
    func suspends(page: Page) throws {
        var model = try Self.model(page)
        #expect(model.press([.suspend], now: .seconds(1)) == [.suspend])
        #expect(model.press([.character("1"), .suspend, .character("2")], now: .seconds(5)).isEmpty)
    }

    @Test("F12 shows the last received bytes on the check page only")
    func bytes() throws {
        var model = try Self.model(.check)
        #expect(model.press(.function(12), now: .seconds(1)).isEmpty && model.showsHex)
        #expect(Self.screen(model).joined().contains(PageText.noneReceived.text(.english)))
        model.hex = "31320D"
        #expect(Self.screen(model).joined().contains("31320D"))
        #expect(Self.screen(model, 40, 12).joined().contains("31320D"))
        model.lose(Reason(.noDaemon))
        #expect(model.hex == nil)
        _ = model.press(.function(12), now: .seconds(2))
        #expect(!model.showsHex)
        _ = model.open(.devices)
        _ = model.press(.function(12), now: .seconds(3))
        #expect(!model.showsHex)
    }
}
