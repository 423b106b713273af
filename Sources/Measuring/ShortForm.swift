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

        /// The speed of ours, in megabytes a second.
        public var megabytesPerSecond: Double { Double(bytes) * 1000 / result.time }
    }

    /// True where this machine has the two processors that the cases need.
    public static var isPossible: Bool { cref_processors() >= 2 }

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
        var random = SplitMix(seed: 1)
        for item in cases {
            let comparison = Comparison(item.reference, [item.ours], repetitions: repetitions, attempts: 1.5)
            for result in try comparison.run(using: &random) {
                try line(Line(what: item.what, name: item.name, bytes: item.bytes, result: result))
            }
        }
    }
}
