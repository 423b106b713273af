// SPDX-License-Identifier: GPL-2.0-or-later

import TestSupport
import Testing

@Suite("`pair` through the daemon", .timeLimit(.minutes(10)))
struct PairThroughDaemonTests {
    private static let command = ["pair", "SCALE", "--console", "keyboard"]

    @Test("D-9, D-12: with a daemon `pair` asks it, and says the same as without: for people and for programs")
    func paired() throws {
        let home = try TestDirectory()
        let requests = try FakeDaemon.run(at: home("control")) { _ in
            try home.write("twenty\n020608\n", to: "answers")
            let outcome = try run(
                Self.command + ["--security", "authenticated", "--seconds", "30s", "--json"],
                environment: home.environment,
                prelude: "exec <\(home("answers"))"
            )
            #expect(outcome.status == 0, "\(outcome)")
            let question = #"{"event":"passkeyWanted"}"#
            let lines = outcome.output.split(separator: "\n").map(String.init)
            #expect(lines.count == 3 && lines.prefix(2) == [question, question])
            #expect(
                lines.last?.hasPrefix(#"{"event":"paired","address":"F0:F1:F2:F3:F4:F5","addressType":"random""#)
                    == true
            )
            for text in [
                "searching for SCALE: put it in pairing mode (for at most 30 s; press Ctrl-C to quit)",
                "pairing with F0:F1:F2:F3:F4:F5", "Enter the six digits shown on the other device",
                "this is not a six-digit number",
                "paired with F0:F1:F2:F3:F4:F5 (random): encrypted and authenticated",
            ] {
                #expect(outcome.error.contains(text), "\(text): \(outcome.error)")
            }
        }
        #expect(requests == ["status", "pair SCALE security authenticated console keyboard seconds 30", "stop"])
    }

    @Test("D-10: what the daemon says of a pairing that failed is the command's end: its status, cause and remedy")
    func failed() throws {
        let home = try TestDirectory()
        _ = try FakeDaemon.run(at: home("control")) { _ in
            let outcome = try run(Self.command, environment: home.environment)
            #expect(outcome.status == 64 && outcome.output.isEmpty)
            #expect(outcome.error.contains("pairing cancelled"), "\(outcome.error)")
            // The daemon does not use this adapter.
            let other = try run(Self.command + ["--adapter", "h4:tcp:127.0.0.1:1"], environment: home.environment)
            #expect(other.status == 69 && !other.error.contains("pairing cancelled"), "\(other.error)")
        }
    }
}
