// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import Testing

/// Commands with `--adapter memory:`, without an adapter and without privilege.
@Suite("Commands in the rehearsal", .timeLimit(.minutes(10)))
struct RehearsalCommandTests {
    @Test("X-17: scan lists the devices that were named, and only them")
    func scan() throws {
        let outcome = try run(["scan", "--adapter", "memory:scale,hid", "--seconds", "2", "--json"])
        #expect(outcome.status == 0)
        #expect(outcome.output.contains(#""name":"SCALE-15K""#))
        #expect(outcome.output.contains(#""name":"HID Scanner""#))
        #expect(!outcome.output.contains("LINBLE"))
    }

    @Test("X-17: gatt shows the services of a simulated device")
    func gatt() throws {
        let outcome = try run(["gatt", "--adapter", "memory:", "LINBLE-Z1"])
        #expect(outcome.status == 0)
        #expect(outcome.output.contains("27ADC9CB-35EB-465A-9154-B8FF9076F3E8"))
    }

    @Test("X-17: run types on standard output what a simulated device sends, and Ctrl-C ends it")
    func typing() throws {
        let program = try RunningProgram([
            "run", "--adapter", "memory:", "--device", "SCALE-15K", "--security", "none", "--to", "stdout",
        ])
        #expect(program.prints("ST,GS,1.250kg"))
        kill(program.child, SIGINT)
        #expect(try program.end().status == 130)
    }
}
