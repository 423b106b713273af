// SPDX-License-Identifier: GPL-2.0-or-later

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
