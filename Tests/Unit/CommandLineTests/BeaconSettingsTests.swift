// SPDX-License-Identifier: GPL-2.0-or-later

import TestSupport
import Testing
import Texts

@Suite("The settings of beacons", .timeLimit(.minutes(10)))
struct BeaconSettingsTests {
    private static func check(_ settings: String, regions: String = "") throws -> (status: Int32, error: String) {
        let directory = try TestDirectory()
        try directory.write(regions, to: "regions")
        try directory.write("[beacons]\nregions = \"\(directory("regions"))\"\n" + settings, to: "blewedge.toml")
        let outcome = try RunningProgram(["config", "check"], environment: directory.environment).end()
        return (outcome.status, outcome.error)
    }

    @Test("SW-1: `config check` takes all six settings as the document has them")
    func correct() throws {
        let settings = """
            test-mode = false
            app-code-file = "/etc/blewedge/app-code"
            edition = "SWAMP"
            version = "1.3.0"
            max-designated = 19
            update-interval = 12
            server = "https://beacons.example.com"
            """
        let (status, error) = try Self.check(settings, regions: "static E2C56DB5-DFFB-48D2-B060-D0F5A71096E0\n")
        #expect(status == 0, "\(error)")
    }

    @Test("SW-18: `config show` shows the auid as it is set, and nothing where it is not")
    func userID() throws {
        for (line, isShown) in [("auid = \"kiosk17\"\n", true), ("", false)] {
            let directory = try TestDirectory()
            try directory.write("[beacons]\nmax-designated = 19\n" + line, to: "blewedge.toml")
            let outcome = try RunningProgram(["config", "show"], environment: directory.environment).end()
            #expect(outcome.status == 0)
            #expect(outcome.output.contains("\nauid = \"kiosk17\"\n") == isShown, "\(outcome.output)")
        }
    }

    @Test("SW-1: `config check` names every wrong setting, and every wrong line of the regions, with its line")
    func faults() throws {
        let settings = """
            test-mode = "yes"
            edition = "NORMAL"
            version = "9"
            max-designated = 0
            update-interval = 0
            server = "https://beacons.example.com"
            """
        let (status, error) = try Self.check(settings)
        #expect(status == 78)
        let expected = [
            "line 3: beacons.test-mode wants", "line 4: beacons.edition wants \"SWAMP\", not \"NORMAL\"",
            "line 5: beacons.version wants \"1.3.0\", not \"9\"",
            "line 6: beacons.max-designated wants a whole number from 1 to 1000, not 0",
            "line 7: beacons.update-interval wants a whole number from 1 to 8760, not 0",
            "line 8: beacons.server wants an access code: set beacons.app-code-file",
        ]
        for fault in expected { #expect(error.contains(fault), "\(fault) in \(error)") }
        let (wrong, lines) = try Self.check("", regions: "static nonsense\nstatic\n")
        #expect(wrong == 78 && lines.contains("line 1: \"nonsense\" is no region") && lines.contains("line 2: "))
    }
}
