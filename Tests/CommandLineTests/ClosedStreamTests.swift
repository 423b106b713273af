// SPDX-License-Identifier: GPL-2.0-or-later

import Testing

@Suite("A program that is started without its standard streams", .timeLimit(.minutes(10)))
struct ClosedStreamTests {
    /// What a command does where all streams are there, and with any of them closed.
    private static let commands: [[String]] = [
        ["scan", "--help"], ["status"], ["demo", "--fast", "--barcodes", "1"],
        ["scan", "--adapter", "h4:unix:/nonexistent"],
        ["run", "--device", "X", "--security", "none", "--adapter", "h4:unix:/nonexistent"],
        ["nonsense"],
    ]

    @Test(
        "D-10: with standard input, output or error closed a command does and says the same on those that are left",
        arguments: commands,
        [[0], [1], [2], [0, 1], [0, 2], [1, 2], [0, 1, 2]] as [Set<Int32>]
    )
    func closed(arguments: [String], closed: Set<Int32>) throws {
        let usual = try run(arguments)
        for outcome in [try run(arguments, closed: closed), try run(arguments, turned: closed)] {
            #expect(outcome.status == usual.status)
            #expect(outcome.output == (closed.contains(1) ? "" : usual.output))
            #expect(outcome.error == (closed.contains(2) ? "" : usual.error))
        }
    }
}
