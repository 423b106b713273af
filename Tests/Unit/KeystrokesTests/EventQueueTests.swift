// SPDX-License-Identifier: GPL-2.0-or-later

import TestSupport
import Testing

@testable import Keystrokes

/// Compares the model of the event queue with the kernel.
///
/// The vectors were recorded from real kernels; the scenario `queue-model` replays them with the kernels of the lab.
@Suite("The model of the kernel's queue")
struct EventQueueTests {
    struct Fault: Error {
        var letter: Character
    }

    /// Returns the event for a letter of the vectors.
    static func event(_ letter: Character) throws -> InputEvent {
        guard let code = letter.asciiValue else { throw Fault(letter: letter) }
        switch code {
        case UInt8(ascii: "."): return .report
        case UInt8(ascii: "!"): return EventQueue.dropped
        case UInt8(ascii: "a")...UInt8(ascii: "z"): return .key(KeyCode(rawValue: UInt16(code) - 96), down: true)
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): return .key(KeyCode(rawValue: UInt16(code) - 64), down: false)
        default: throw Fault(letter: letter)
        }
    }

    @Test("The model returns the same events as the kernel for every recorded trace")
    func recorded() throws {
        var traces = 0
        var overflows = 0
        for line in try VectorFile.lines("evdev-queue.txt") {
            let fields = line.text.split(separator: " ")
            try #require(fields.count == 2, "line \(line.number)")
            var queue = EventQueue(.small)
            var got: [[InputEvent]] = []
            for letter in fields[0] {
                if letter == "|" { got.append(queue.readAll()) } else { queue.pass(try Self.event(letter)) }
            }
            let readings = fields[1].split(separator: "|", omittingEmptySubsequences: false).dropLast()
            #expect(try got == readings.map { try $0.map(Self.event) }, "line \(line.number)")
            traces += 1
            if fields[1].contains("!") { overflows += 1 }
        }
        #expect(traces >= 200 && overflows > 50 && traces - overflows > 50)
    }
}
