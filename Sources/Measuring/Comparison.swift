// SPDX-License-Identifier: GPL-2.0-or-later

import CReference
public import Keystrokes

/// Workload to measure: runs a number of units of work and returns the time that they took.
public struct Contender {
    /// Name of the contender in the results.
    public var name: String
    /// Does `count` units of work and returns the elapsed time.
    public var run: (_ count: Int) throws -> ThreadPair.Time

    /// Creates a contender from its name and its workload.
    public init(_ name: String, run: @escaping (_ count: Int) throws -> ThreadPair.Time) {
        self.name = name
        self.run = run
    }
}

/// Comparison of contenders with a reference, which runs immediately before and after each contender.
public struct Comparison {
    /// Result of one contender; all times are in nanoseconds per unit of work.
    public struct Result: Sendable {
        /// Name of the contender.
        public var name: String
        /// Median ratio of the reference's time to the contender's time.
        ///
        /// If it is above 1, the contender is faster than the reference.
        public var ratio: Double
        /// Median time of the contender.
        public var time: Double
        /// Median time of the reference.
        public var reference: Double
        /// Number of repetitions included in the statistics.
        public var repetitions: Int
        /// Number of repetitions that were disturbed: a thread was preempted, or the two reference runs differed by
        /// more than 25 %.
        public var disturbed: Int
        /// True if the statistics include disturbed repetitions, because there were too few undisturbed ones.
        public var isDisturbed: Bool
        /// Lower quartile of the ratios.
        public var lowerQuartile: Double
        /// Upper quartile of the ratios.
        public var upperQuartile: Double
    }

    /// Contender with which the others are compared.
    public var reference: Contender
    /// Contenders to measure.
    public var contenders: [Contender]
    /// Target number of undisturbed repetitions per contender.
    public var repetitions = 11
    /// Maximum number of repetitions per contender, including disturbed ones.
    private var greatestAttempts: Int
    /// Target duration of one run, in nanoseconds.
    public var span: Int64 = 4_000_000

    /// Creates a comparison of `contenders` with `reference`.
    ///
    /// `attempts` limits the repetitions per contender, including disturbed ones; it is given as a multiple of
    /// `repetitions`.
    public init(_ reference: Contender, _ contenders: [Contender], repetitions: Int = 11, attempts: Double = 6) {
        greatestAttempts = Int(Double(repetitions) * attempts)
        self.reference = reference
        self.contenders = contenders
        self.repetitions = repetitions
    }

    /// Runs the measurements in an order determined by `random`.
    ///
    /// A repetition is undisturbed if no thread was preempted and the two reference runs differ by at most 25 %. A
    /// contender needs five undisturbed repetitions, or `repetitions` if that is less. If it has fewer after the maximum
    /// number of attempts, its disturbed repetitions are included in the statistics.
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

    /// Returns the number of units of work that take about `span` nanoseconds.
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
    /// Returns the quantile for `share`, a fraction from 0 to 1, interpolated linearly; returns 0 for an empty array.
    public func quantile(_ share: Element) -> Element {
        guard let last = indices.last else { return 0 }
        let sorted = sorted()
        let place = share * Element(last)
        let below = Swift.min(Int(place), last)
        let above = Swift.min(below + 1, last)
        return sorted[below] + (sorted[above] - sorted[below]) * (place - Element(below))
    }
}

/// Short benchmark that needs no other program; compares each of our components with its C equivalent.
public enum ShortForm {
    /// One line of the results.
    public struct Line: Sendable {
        /// Human-readable name of the case.
        public var what: String
        /// Machine-readable name of the case, without spaces.
        public var name: String
        /// Number of bytes per unit of work.
        public var bytes: Int
        /// Result of the comparison.
        public var result: Comparison.Result
        /// Number of keys pressed per unit of work; 0 if the case presses no keys.
        public var keys: Double

        /// Speed of our code, in megabytes per second.
        public var megabytesPerSecond: Double { Double(bytes) * 1000 / result.time }
        /// Number of keys pressed per second.
        public var keysPerSecond: Double { keys * 1e9 / result.time }
    }

    /// True if this machine has at least two processors, which the benchmark needs.
    public static var isPossible: Bool { cref_processors() >= 2 }

    /// Returns the number of key presses in `events`, not counting modifiers.
    private static func keys(in events: [UInt8]) -> Int {
        stride(from: InputEvent.size - 8, to: events.count, by: InputEvent.size).count { place in
            // The offsets 0, 2 and 4 are the low bytes of the event's type, code and value.
            let code = KeyCode(rawValue: UInt16(events[place + 2]))
            return events[place] == 1 && events[place + 4] == 1 && !code.isModifier
        }
    }

    /// Runs all cases for about `seconds` seconds in total.
    ///
    /// First checks that our code and the C code produce the same bytes.
    public static func run(_ table: CompiledTable, seconds: Double, line: (Line) throws -> Void) throws {
        let pattern = Pattern(.mixed)
        let input = Corpus.mixed.bytes(16384)
        let outputs = try EncoderMeasurement.outputs(input, table)
        guard outputs.ours == outputs.reference else { throw RingMeasurement.WrongBytes() }
        _ = try RingMeasurement.ours(pattern, chunk: 20, expected: pattern).run(20_000)
        _ = try RingMeasurement.reference(pattern, chunk: 20, expected: pattern).run(20_000)
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
        // Each repetition has three runs of 4 ms; a fifth of the time is reserved for calibration.
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
