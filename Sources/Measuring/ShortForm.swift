// SPDX-License-Identifier: GPL-2.0-or-later

import CReference
public import Keystrokes

/// The cases that need nothing but this program: each of our parts compared with the same in C.
public enum ShortForm {
    /// One line of the result.
    public struct Line: Sendable {
        /// The name of the case, for people.
        public var what: String
        /// A name without spaces, for programs.
        public var name: String
        /// The bytes that a unit of work handles.
        public var bytes: Int
        /// The result.
        public var result: Comparison.Result
        /// The keys that a unit of work presses; 0 where it presses none.
        public var keys: Double

        /// The speed of ours, in megabytes a second.
        public var megabytesPerSecond: Double { Double(bytes) * 1000 / result.time }
        /// The keys that are pressed in a second.
        public var keysPerSecond: Double { keys * 1e9 / result.time }
    }

    /// True where this machine has the two processors that the cases need.
    public static var isPossible: Bool { cref_processors() >= 2 }

    /// The keys that events press, modifiers left out.
    private static func keys(in events: [UInt8]) -> Int {
        stride(from: InputEvent.size - 8, to: events.count, by: InputEvent.size).count { place in
            // The low bytes of type, code and value.
            let code = KeyCode(rawValue: UInt16(events[place + 2]))
            return events[place] == 1 && events[place + 4] == 1 && !code.isModifier
        }
    }

    /// Measures for about that many seconds, after the bytes of both sides were compared.
    public static func run(_ table: CompiledTable, seconds: Double, line: (Line) throws -> Void) throws {
        let pattern = Pattern(.mixed)
        let input = Corpus.mixed.bytes(16384)
        let outputs = try EncoderMeasurement.outputs(input, table)
        guard outputs.ours == outputs.reference else { throw RingMeasurement.WrongBytes() }
        _ = try RingMeasurement.ours(pattern, chunk: 20, checks: true).run(20_000)
        _ = try RingMeasurement.reference(pattern, chunk: 20, checks: true).run(20_000)
        let sink = try PathMeasurement.Sink()
        var cases: [(what: String, name: String, bytes: Int, reference: Contender, ours: Contender)] = []
        for chunk in [1, 20, 244] {
            cases.append(
                (
                    "ring, \(chunk) B", "ring-\(chunk)", chunk, RingMeasurement.reference(pattern, chunk: chunk),
                    RingMeasurement.ours(pattern, chunk: chunk)
                )
            )
        }
        cases.append(
            (
                "table and encoder", "encode", input.count, try EncoderMeasurement.reference(input),
                EncoderMeasurement.ours(input, table)
            )
        )
        cases.append(
            (
                "whole path, 20 B", "path-20", 20, PathMeasurement.reference(pattern, chunk: 20, to: sink),
                PathMeasurement.ours(pattern, table, chunk: 20, to: sink)
            )
        )
        // Three runs of 4 ms a repetition, a fifth for finding out how much work that is.
        let repetitions = max(3, Int(seconds / Double(cases.count) * 0.8 / 0.012))
        let keysPerByte = Double(Self.keys(in: outputs.ours)) / Double(input.count)
        var random = SplitMix(seed: 1)
        for item in cases {
            let comparison = Comparison(item.reference, [item.ours], repetitions: repetitions, attempts: 1.5)
            for result in try comparison.run(using: &random) {
                let keys = item.name.hasPrefix("path") ? keysPerByte * Double(item.bytes) : 0
                try line(Line(what: item.what, name: item.name, bytes: item.bytes, result: result, keys: keys))
            }
        }
    }
}
