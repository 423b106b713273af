// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import TestSupport
import Testing

@Suite struct ResetAnswerSeekerTests {
    private static let complete: [UInt8] = [0x04, 0x0E, 0x04, 0x01, 0x03, 0x0C, 0x00]
    private static let refusal: [UInt8] = [0x04, 0x0F, 0x04, 0x01, 0x05, 0x03, 0x0C]
    private static let report: [UInt8] =
        [0x04, 0x3E, 0x0F, 0x02, 0x01, 0x00, 0x01, 1, 2, 3, 4, 5, 0xC6, 0x03, 2, 1, 6, 0xC4]

    /// Returns the answer found in a stream that is received in blocks of `pieces` bytes, and the number of bytes
    /// before it.
    private func found(in stream: [UInt8], pieces: Int) -> (answer: [UInt8], dropped: UInt64, rest: [UInt8])? {
        var seeker = ResetAnswerSeeker()
        for start in stride(from: 0, to: stream.count, by: pieces) {
            let piece = Array(stream[start..<min(start + pieces, stream.count)])
            if let found = seeker.take(piece.span) {
                return (found.answer, seeker.dropped, Array(stream[(start + found.count)...]))
            }
        }
        return nil
    }

    @Test("The answer to Reset is found behind anything, however the stream is cut, and what follows stays")
    func found() throws {
        let beginnings: [[UInt8]] = [
            [], [0x04], [0x04, 0x3E], Array(Self.report.dropFirst(5)), [0x02, 0x40, 0x20, 0xFF, 0x00] + Self.report,
            [0x04, 0x0E, 0x04, 0x01], [0x04, 0x0E, 0x04, 0x01, 0x03], Array(repeating: 0x04, count: 9),
            (0..<2000).flatMap { _ in Self.report } + Self.report.prefix(11),
        ]
        for beginning in beginnings {
            for answer in [Self.complete, Self.refusal] {
                for pieces in [1, 3, 7, 100, 100_000] {
                    let result = try #require(found(in: beginning + answer + Self.report, pieces: pieces))
                    #expect(result.answer == answer)
                    #expect(result.dropped == UInt64(beginning.count))
                    #expect(result.rest == Self.report)
                }
            }
        }
    }

    @Test("Another command's answer, and a command that is only under way, are no answer to Reset")
    func others() {
        for bytes in [
            [0x04, 0x0E, 0x04, 0x01, 0x01, 0x10, 0x00], [0x04, 0x0F, 0x04, 0x00, 0x01, 0x03, 0x0C],
            [0x04, 0x0E, 0x05, 0x01, 0x03, 0x0C, 0x00], [0x02, 0x0E, 0x04, 0x01, 0x03, 0x0C, 0x00],
            Array(Self.complete.dropLast()),
        ] as [[UInt8]] {
            #expect(found(in: bytes, pieces: 2) == nil)
        }
    }

    @Test("No stream of random bytes makes it keep more than an answer's length")
    func random() {
        var random = SeededGenerator(seed: SeededGenerator.run)
        var seeker = ResetAnswerSeeker()
        let bytes = (0..<100_000).map { _ in UInt8.random(in: 0...15, using: &random) }
        var taken: UInt64 = 0
        var position = 0
        while position < bytes.count, let found = seeker.take(bytes.span.extracting(droppingFirst: position)) {
            #expect(found.answer.count == 7)
            position += found.count
            taken += 1
        }
        #expect(UInt64(bytes.count) - seeker.dropped <= 7)
    }
}
