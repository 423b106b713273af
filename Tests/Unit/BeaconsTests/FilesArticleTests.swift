// SPDX-License-Identifier: GPL-2.0-or-later

import Beacons
import TestSupport
import Testing

@Suite("The article on files")
struct FilesArticleTests {
    /// Returns the examples in their order.
    private static func examples() throws -> [String] {
        var examples: [String] = []
        var lines: [Substring]?
        for line in try RepositoryFiles.text("Sources/Beacons/Beacons.docc/Files.md").split(separator: "\n") {
            switch line {
            case "```text", "```json": lines = []
            case "```":
                if let lines { examples.append(lines.map { $0 + "\n" }.joined()) }
                lines = nil
            default: lines?.append(line)
            }
        }
        return examples
    }

    @Test("D-25: the article's regions are read as it says")
    func regions() throws {
        let catalogue = RegionCatalogue(try RegionFile(try #require(try Self.examples().first)))
        #expect(catalogue.file.staticRegions.map(\.name) == ["Badges of the first floor", "Gates"])
        #expect(catalogue.file.dynamicRegions.map(\.region.description) == ["0A1B2C3D-DFFB-48D2-B060-D0F5A71096E0/7"])
        let codes = [
            ("E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1/2", "A17C"),
            ("E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1/3", "00010003"),
            ("eddystone:00112233445566778899/AABBCCDDEEFF", "gate7"),
            ("eddystone:00112233445566778899/000000000000", nil), ("0A1B2C3D-DFFB-48D2-B060-D0F5A71096E0/7/1", nil),
        ]
        for (identity, code) in codes { #expect(catalogue.keyCode(of: .of(identity)) == code, "\(identity)") }
    }

    @Test("The article's designated beacons are read, and written as they stand there")
    func designated() throws {
        let text = try #require(try Self.examples().last)
        let beacons = try DesignatedBeacons(text: text)
        #expect(beacons.beacons.map(\.isSwitcher) == [false, true])
        #expect(beacons.text == text)
    }
}
