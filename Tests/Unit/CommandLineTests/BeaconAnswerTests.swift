// SPDX-License-Identifier: GPL-2.0-or-later

import Beacons
import Daemon
import Devices
import TestSupport
import Testing
import Texts

@Suite("The answers to designating beacons", .timeLimit(.minutes(10)))
struct BeaconAnswerTests {
    private static let badges = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"
    private static let dynamic = "0A1B2C3D-DFFB-48D2-B060-D0F5A71096E0"
    private static let regions = """
        static \(badges) Badges
        static 11111111-DFFB-48D2-B060-D0F5A71096E0 Gates
        dynamic \(dynamic) One-time
        key \(badges)/1/1 A
        key \(badges)/1/2 B
        key \(badges)/1/3 C

        """

    @Test(
        "SW-8, SW-16: all ten answers by the program without a daemon: number, exit status, and a text in both languages"
    )
    func answers() throws {
        let directory = try TestDirectory()
        try directory.write(regions: Self.regions, adapter: "absent")
        func ask(_ words: String..., prelude: String? = nil) throws -> [Int64?] {
            let program = try RunningProgram(
                ["beacons", "designate", "--json"] + words,
                environment: directory.environment + ["BLEWEDGE_LANG=ja"],
                prelude: prelude
            )
            let outcome = try program.end()
            let answer = try JSONValue(Array(outcome.output.utf8))
            let number = try #require(answer["answer"]?.integer, "\(outcome)")
            let note = try #require(DesignatedBeacons.Answer(rawValue: Int(number))).message
            #expect(answer["note"]?.string == note.english, "\(words)")
            #expect(!note.text(.japanese).isEmpty && note.text(.japanese) != note.english, "\(words)")
            return [number, Int64(outcome.status)]
        }
        let region = ["--region", Self.badges]
        #expect(try ask("A", region[0], region[1]) == [-1, 69])
        try directory.write(regions: Self.regions, adapter: "regions")
        #expect(try ask("A") == [-2, 64])
        #expect(try ask(region[0], region[1]) == [-3, 64])
        #expect(try ask("A", region[0], Self.dynamic) == [-4, 78])
        #expect(try ask("A", "nobody", region[0], region[1]) == [-5, 64])
        #expect(try ask("A", region[0], region[1], "--no-entry", "--no-exit") == [-8, 64])
        // With a file size limit of 0, the designated beacons cannot be stored.
        #expect(try ask("A", region[0], region[1], prelude: "trap '' XFSZ; ulimit -f 0") == [-7, 77])
        #expect(try ask("A", region[0], region[1]) == [1, 0])
        #expect(try ask("B", "C", region[0], region[1]) == [0, 75])
        #expect(try ask("C", region[0], region[1]) == [-6, 69])
    }
}

extension TestDirectory {
    /// Writes a configuration with these regions, at most two designated beacons, and a file in the directory as the
    /// adapter.
    fileprivate func write(regions: String, adapter: String) throws {
        try write(regions, to: "regions")
        try write(
            """
            adapter = "h4:unix:\(self(adapter))"
            [beacons]
            regions = "\(self("regions"))"
            max-designated = 2

            """,
            to: "blewedge.toml"
        )
    }
}
