// SPDX-License-Identifier: GPL-2.0-or-later

import Beacons
import BluetoothPackets
import Configuration
import Daemon
import Devices
import Keystrokes
import SystemPackage
import TestSupport
import Testing
import Typing

@Suite("Files that people edit")
struct EditedFileTests {
    /// Variants of a text as saved by editors.
    enum Form: String, CaseIterable {
        case plain, lineEnds, withoutLineEnd, mark, markAndLineEnds

        func bytes(_ text: String) -> String {
            let lineEnds = text.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\r\n")
            return switch self {
            case .plain: text
            case .lineEnds: lineEnds
            case .withoutLineEnd: String(text.dropLast())
            case .mark: "\u{FEFF}" + text
            case .markAndLineEnds: "\u{FEFF}" + lineEnds
            }
        }
    }

    @Test(
        "A byte order mark, CR LF or no line end at the end change no file that is read",
        arguments: Form.allCases
    )
    func forms(_ form: Form) throws {
        let directory = try TestDirectory()
        func path(_ name: String, _ text: String) throws -> String {
            try directory.write(form.bytes(text), to: name)
            return directory(name)
        }
        let profile = try path(
            "p.toml",
            "title = \"x\"\nservice = \"FFE0\"\nfrom-device = \"FFE1\"\ntable = \"strict\"\n"
        )
        let regions = try path("regions", "# ours\nstatic E2C56DB5-DFFB-48D2-B060-D0F5A71096E0 the door\n")
        let read = try Configuration.read(
            FilePath(
                try path("c.toml", "layout = \"de\"\nprofile = \"\(profile)\"\n[beacons]\nregions = \"\(regions)\"\n")
            )
        )
        #expect(read.layout == "de")
        #expect(try read.profiles().first?.title == "x")
        #expect(try read.profiles().first?.table == "strict")
        let region = try #require(BeaconRegion("E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"))
        #expect(try read.regions().name(of: region) == "the door")

        var table = ByteTable(.strict)
        table[0x1D] = .text("<GS>")
        #expect(try TableSource.read(try path("t.table", "base = strict\ngs = text \"<GS>\"\n")) == table)
        let snippets = try Snippets(file: try path("snippets.json", "{\"hello\": \"world\"}\n"), over: .none)
        #expect(snippets[title: "hello"] == Snippet(title: "hello", text: "world"))

        let device = DeviceAddress(BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F5), .random)
        let choice = SelectedDevice(device, name: "SCAN")
        #expect(try ChoiceStore(FilePath(try path("choice", choice.text))).read() == choice)
    }
}
