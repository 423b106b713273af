// SPDX-License-Identifier: GPL-2.0-or-later

import Configuration
import Control
import Daemon
import HIDReports
import Keystrokes
import SystemPackage
import TestSupport
import Testing
import Texts
import Typing

@Suite("Files and names in a configuration")
struct ConfigurationReadingTests {
    private func keys(_ text: String) throws -> KeySet {
        try Configuration(text: text).settings(device: nil).typing.declaredKeys()
    }

    @Test("D-14: the keys 1 to 31 are declared where udev is to see a keyboard, and only typed ones where it is not")
    func udevKeyboard() throws {
        let first = KeySet((1...31).map(KeyCode.init(rawValue:)))
        let whole = try keys("")
        #expect(whole.union(first) == whole)
        let bare = try keys("udev-keyboard = false")
        #expect(!bare.codes.contains(KeyCode(rawValue: 1)) && !bare.codes.contains(.leftControl))
        #expect(bare.union(first) == whole)
        #expect(bare == (try CompiledTable(.linble).keys))
    }

    @Test("The properties of a keyboard scanner are those of the configuration")
    func keyboardScanner() throws {
        #expect(try Configuration(text: "").settings(device: nil).keys == KeyDecoder.Settings())
        let lines = [
            "device-layout = \"de\"", "device-caps-lock = \"reads-led\"", "device-shift-repeats = true",
            "device-num-lock = false", "device-gs-key = \"f8\"",
        ]
        var wanted = KeyDecoder.Settings()
        (wanted.layout, wanted.capsLock, wanted.repeatsOnShiftChange) = (.de, .readsLED, true)
        (wanted.numLock, wanted.groupSeparatorKey) = (false, 0x41)
        #expect(try Configuration(text: lines.joined(separator: "\n")).settings(device: nil).keys == wanted)
        let usages = GroupSeparatorKey.allCases.map(\.usage)
        #expect(usages == [nil] + (0x3A...0x45).map { UInt16?($0) })
    }

    @Test("The queue that is configured is the pace's, for whose axes the keyboard is made; other ends need none")
    func queue() throws {
        for (text, queue, stall) in [
            ("", ReaderQueue.large, Int64(100)), ("queue = 64", .small, 100),
            ("queue = 256\npace = \"scanner\"", .large, 640),
            ("queue = 64\npace = \"scanner\"", .small, 160), ("stall = \"2s\"", .large, 2000),
            ("to = \"stdout\"", .large, 0),
        ] {
            let pace = try Configuration(text: text).settings(device: nil).typing.pacer.pace
            #expect(pace.queue == queue && pace.stall == stall * 1_000_000, "\(text)")
        }
    }

    @Test("D-14: keys that may not be declared together are refused before there is a keyboard")
    func forbidden() throws {
        let directory = try TestDirectory()
        try directory.write("0x01 = key altgr+e\n", to: "alt")
        let text = "table = \"\(directory("alt"))\"\n"
        #expect(try keys(text).codes.contains(.rightAlt))
        let failure = #expect(throws: KeyboardError.self) {
            try keys(text + "[scan-mode]\non = true\nprefix = \"{f9}\"\n")
        }?.failure
        #expect(failure?.status == .configuration)
        #expect(failure?.cause.english.contains("refused together") == true, "\(failure?.cause.english ?? "")")
    }

    @Test("Reading again sees a change of the text and of every file that it names, and nothing else")
    func changes() throws {
        let directory = try TestDirectory()
        func profile(_ service: String) -> String { "service = \"\(service)\"\nfrom-device = \"FFE1\"\n" }
        try directory.write(profile("FFE0"), to: "scale.toml")
        try directory.write("0x09 = discard\n", to: "table")
        let text = "profile = \"\(directory("scale.toml"))\"\ntable = \"\(directory("table"))\"\n"
        func reading(_ more: String = "") throws -> ConfigurationReading {
            try ConfigurationReading(try Configuration(text: text + more), snippets: directory("snippets.json"))
        }
        let before = try reading()
        #expect(try reading() == before)
        #expect(try reading("# a comment\n") == before)
        #expect(try reading("max-age = 0\n") != before)
        #expect(try reading("queue = 64\n") != before)
        #expect(try reading("layout = \"jp\"\n") != before)
        let changes = [
            ("scale.toml", profile("FFE5"), profile("FFE0")), ("table", "0x09 = key enter\n", "0x09 = discard\n"),
            ("snippets.json", "{\"a\": \"b\"}", "{}"),
        ]
        for (name, other, same) in changes {
            try directory.write(other, to: name)
            #expect(try reading() != before, "\(name)")
            try directory.write(same, to: name)
            #expect(try reading() == before, "\(name)")
        }
        try directory.write("nothing of the kind", to: "table")
        #expect(throws: ConfigurationError.self) { try reading() }
    }
}
