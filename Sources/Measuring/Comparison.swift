// SPDX-License-Identifier: GPL-2.0-or-later

import CReference
public import Keystrokes

/// A piece of work to measure, which runs a number of times and returns the time that it took.
public struct Contender {
    /// Its name.
    public var name: String
    /// Does `count` units of work.
    public var run: (_ count: Int) throws -> ThreadPair.Time

    /// A contender by its name and its work.
    public init(_ name: String, run: @escaping (_ count: Int) throws -> ThreadPair.Time) {
        self.name = name
        self.run = run
    }
}

/// Contenders measured against a reference that runs right before and right after each of them.
public struct Comparison {
    /// The result of one contender, all times in nanoseconds a unit of work.
    public struct Result: Sendable {
        /// The contender's name.
        public var name: String
        /// The reference's time divided by the contender's, the median: more than 1 is faster than the reference.
        public var ratio: Double
        /// The contender's time, the median.
        public var time: Double
        /// The reference's time, the median of all its runs.
        public var reference: Double
        /// Repetitions that count.
        public var repetitions: Int
        /// Repetitions done again because a thread was preempted, or because the two references differed.
        public var disturbed: Int
        /// True where too few repetitions were left undisturbed, so that the others count too.
        public var isDisturbed: Bool
        /// A quarter of the ratios is at or below this.
        public var lowerQuartile: Double
        /// A quarter of the ratios is at or above this.
        public var upperQuartile: Double
    }

    /// The contender that the others are measured against.
    public var reference: Contender
    /// The contenders that are measured.
    public var contenders: [Contender]
    /// The number of repetitions that must count.
    public var repetitions = 11
    /// The number of attempts after which all repetitions count.
    private var greatestAttempts: Int
    /// The time that one run is to take, in nanoseconds.
    public var span: Int64 = 4_000_000

    /// A comparison of contenders with a reference.
    ///
    /// `attempts` says how many times as many repetitions are tried before all of them count.
    public init(_ reference: Contender, _ contenders: [Contender], repetitions: Int = 11, attempts: Double = 6) {
        greatestAttempts = Int(Double(repetitions) * attempts)
        self.reference = reference
        self.contenders = contenders
        self.repetitions = repetitions
    }

    /// Measures, in an order that `random` gives.
    ///
    /// A repetition counts when no thread was preempted and the two runs of the reference lie within 25 %. After the
    /// greatest number of attempts, all repetitions count.
    public func run(using random: inout some RandomNumberGenerator) throws -> [Result] {
        let referenceCount = try calibrated(reference)
        let counts = try contenders.map(calibrated)
        var samples = contenders.map { _ in Samples() }
        var attempts = contenders.map { _ in 0 }
        while true {
            let waiting = contenders.indices.filter {
                samples[$0].good.count < repetitions && attempts[$0] < greatestAttempts
            }
            guard !waiting.isEmpty else { break }
            for index in waiting.shuffled(using: &random) {
                attempts[index] += 1
                let before = try reference.run(referenceCount)
                let time = try contenders[index].run(counts[index])
                let after = try reference.run(referenceCount)
                samples[index].add(
                    Repetition(
                        before: Double(before.nanoseconds) / Double(referenceCount),
                        time: Double(time.nanoseconds) / Double(counts[index]),
                        after: Double(after.nanoseconds) / Double(referenceCount)
                    ),
                    isDisturbed: before.preemptions + time.preemptions + after.preemptions > 0
                )
            }
        }
        return zip(contenders, samples).map { $1.result($0.name, atLeast: repetitions) }
    }

    /// The number of units that take about `span`.
    private func calibrated(_ contender: Contender) throws -> Int {
        try Calibration.units(span: span) { count in try contender.run(count).nanoseconds }
    }

    private struct Repetition {
        var before: Double
        var time: Double
        var after: Double
        var ratio: Double { (before + after) / 2 / time }
        var agrees: Bool { max(before, after) <= 1.25 * min(before, after) }
    }

    private struct Samples {
        var good: [Repetition] = []
        var disturbed: [Repetition] = []

        mutating func add(_ repetition: Repetition, isDisturbed: Bool) {
            if isDisturbed || !repetition.agrees { disturbed.append(repetition) } else { good.append(repetition) }
        }

        func result(_ name: String, atLeast wanted: Int) -> Result {
            let isDisturbed = good.count < min(wanted, 5)
            let counted = isDisturbed ? good + disturbed : good
            let ratios = counted.map(\.ratio)
            return Result(
                name: name,
                ratio: ratios.quantile(0.5),
                time: counted.map(\.time).quantile(0.5),
                reference: counted.flatMap { [$0.before, $0.after] }.quantile(0.5),
                repetitions: counted.count,
                disturbed: disturbed.count,
                isDisturbed: isDisturbed,
                lowerQuartile: ratios.quantile(0.25),
                upperQuartile: ratios.quantile(0.75)
            )
        }
    }
}

extension Array where Element: BinaryFloatingPoint {
    /// The value that a share of the elements is at or below, between neighbours in proportion; 0 for an empty array.
    public func quantile(_ share: Element) -> Element {
        guard let last = indices.last else { return 0 }
        let sorted = sorted()
        let place = share * Element(last)
        let below = Swift.min(Int(place), last)
        let above = Swift.min(below + 1, last)
        return sorted[below] + (sorted[above] - sorted[below]) * (place - Element(below))
    }
}

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
