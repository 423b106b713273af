// SPDX-License-Identifier: GPL-2.0-or-later

import Testing

@Suite("A program that is started without its standard streams", .timeLimit(.minutes(10)))
struct ClosedStreamTests {
    /// Commands whose results must be the same with all standard streams open and with some of them closed.
    private static let commands: [[String]] = [
        ["scan", "--help"], ["status"], ["demo", "--fast", "--barcodes", "1"],
        ["scan", "--adapter", "h4:unix:/nonexistent"],
        ["run", "--device", "X", "--security", "none", "--adapter", "h4:unix:/nonexistent"],
        ["nonsense"],
    ]

    @Test(
        "D-10: with standard input, output or error closed a command does and says the same on those that are left",
        arguments: commands
    )
    func closed(arguments: [String]) throws {
        let streams: [Set<Int32>] = [[0], [1], [2], [0, 1], [0, 2], [1, 2], [0, 1, 2]]
        // All runs are concurrent, because they mostly wait.
        let usual = try RunningProgram(arguments)
        let programs = try streams.flatMap { streams in
            [
                (streams, try RunningProgram(arguments, closed: streams)),
                (streams, try RunningProgram(arguments, turned: streams)),
            ]
        }
        let expected = try usual.end()
        for (closed, program) in programs {
            let outcome = try program.end()
            #expect(outcome.status == expected.status, "\(closed)")
            #expect(outcome.output == (closed.contains(1) ? "" : expected.output), "\(closed)")
            #expect(outcome.error == (closed.contains(2) ? "" : expected.error), "\(closed)")
        }
    }
}
