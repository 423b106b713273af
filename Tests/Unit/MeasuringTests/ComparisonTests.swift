// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import Keystrokes
import Measuring
import TestSupport
import Testing

@Suite struct ComparisonTests {
    private final class Calls { var list: [String] = [] }

    /// Returns a contender with the given times per unit in turn, which records its calls.
    private func contender(
        _ name: String,
        _ times: [Int64],
        preemptions: Int = 0,
        _ calls: Calls = Calls()
    ) -> Contender {
        var place = 0
        return Contender(name) { count in
            calls.list.append("\(name) \(count)")
            defer { place += 1 }
            return ThreadPair.Time(nanoseconds: Int64(count) * times[place % times.count], preemptions: preemptions)
        }
    }

    @Test("Each repetition runs the reference, the contender and the reference again, each for 4 ms")
    func order() throws {
        let calls = Calls()
        let slow = contender("slow", [200], calls)
        let fast = contender("fast", [100], calls)
        var random = SplitMix(seed: 1)
        let results = try Comparison(slow, [fast], repetitions: 3).run(using: &random)
        // Calibration doubles 64 until a run takes at least 1 ms.
        var expected = (0...7).map { "slow \(64 << $0)" } + (0...8).map { "fast \(64 << $0)" }
        for _ in 0..<3 { expected += ["slow 20000", "fast 40000", "slow 20000"] }
        #expect(calls.list == expected)
        let result = try #require(results.first)
        #expect(results.count == 1 && result.name == "fast" && result.repetitions == 3 && result.disturbed == 0)
        #expect(result.ratio == 2 && result.lowerQuartile == 2 && result.upperQuartile == 2 && !result.isDisturbed)
    }

    @Test("Disturbed repetitions count if fewer than five are undisturbed, and attempts are limited")
    func attempts() throws {
        var random = SplitMix(seed: 1)
        for (preemptions, repetitions) in [(0, 4), (1, 6)] {
            let one = contender("one", [100], preemptions: preemptions)
            let result = try #require(
                Comparison(contender("reference", [100]), [one], repetitions: 4, attempts: 1.5).run(using: &random)
                    .first
            )
            #expect(result.repetitions == repetitions && result.isDisturbed == (preemptions == 1))
            #expect(result.disturbed == (preemptions == 1 ? 6 : 0))
        }
        let standard = Comparison(contender("reference", [100]), [contender("one", [100], preemptions: 1)])
        #expect(standard.repetitions == 11 && standard.span == 4_000_000)
        #expect(try standard.run(using: &random).map(\.repetitions) == [66])
    }

    /// Returns the result of 11 repetitions with these times of the reference before and after, in turn.
    private func result(_ reference: [Int64], _ times: [Int64], repetitions: Int = 11) throws -> Comparison.Result {
        var calls = 0
        let calibrated = Contender("reference") { count in
            // Runs of calibration take 100 ns per unit.
            let isCalibrating = count.nonzeroBitCount == 1
            defer { calls += isCalibrating ? 0 : 1 }
            let time = isCalibrating ? 100 : reference[calls % reference.count]
            return ThreadPair.Time(nanoseconds: Int64(count) * time)
        }
        var place = 0
        let one = Contender("one") { count in
            let isCalibrating = count.nonzeroBitCount == 1
            defer { place += isCalibrating ? 0 : 1 }
            return ThreadPair.Time(nanoseconds: Int64(count) * (isCalibrating ? 100 : times[place % times.count]))
        }
        var random = SplitMix(seed: 1)
        return try #require(Comparison(calibrated, [one], repetitions: repetitions).run(using: &random).first)
    }

    @Test("Runs of the reference agree up to 25 %, and the ratio is that of their mean")
    func agreement() throws {
        let agreeing = try result([100, 125], [100])
        #expect(agreeing.disturbed == 0 && agreeing.ratio == 1.125 && agreeing.reference == 112.5)
        let apart = try result([100, 126], [100])
        #expect(apart.disturbed == 66 && apart.isDisturbed && apart.ratio == 1.13)
        #expect(try result([126, 100], [100]).disturbed == 66)
    }

    @Test("The result has the median and the quartiles of the ratios")
    func quartiles() throws {
        let result = try result([100], [50, 100, 200, 400, 800], repetitions: 5)
        #expect(result.time == 200 && result.ratio == 0.5)
        #expect(result.lowerQuartile == 0.25 && result.upperQuartile == 1)
        #expect(!result.isDisturbed && result.repetitions == 5)
    }

    @Test("Four undisturbed repetitions are too few, and five are enough")
    func enough() throws {
        // Of six attempts for one wanted repetition, and of 12 for two, the last are undisturbed.
        for (wanted, undisturbed) in [(5, 5), (6, 5), (6, 4)] {
            var attempt = 0
            let one = Contender("one") { count in
                defer { attempt += count.nonzeroBitCount == 1 ? 0 : 1 }
                return ThreadPair.Time(nanoseconds: Int64(count) * 100, preemptions: attempt < undisturbed ? 0 : 1)
            }
            var random = SplitMix(seed: 1)
            let result = try #require(
                Comparison(contender("reference", [100]), [one], repetitions: wanted).run(using: &random).first
            )
            #expect(result.isDisturbed == (undisturbed == 4), "\(wanted) \(undisturbed)")
            #expect(result.repetitions == (undisturbed == 4 ? 36 : 5))
        }
    }

    @Test("The short form measures five cases, and stops if the bytes differ")
    func shortForm() throws {
        var lines: [ShortForm.Line] = []
        try ShortForm.run(CompiledTable(.linble), seconds: 0.5) { lines.append($0) }
        #expect(lines.map(\.name) == ["ring-1", "ring-20", "ring-244", "encode", "path-20"])
        #expect(
            lines.map(\.what) == ["ring, 1 B", "ring, 20 B", "ring, 244 B", "table and encoder", "whole path, 20 B"]
        )
        #expect(lines.map(\.bytes) == [1, 20, 244, 16384, 20])
        #expect(lines.prefix(4).allSatisfy { $0.keys == 0 } && lines.allSatisfy { $0.result.time > 0 })
        // 0.5 s for five cases with repetitions of 12 ms, less a fifth, are 6 of each, and 9 attempts at most.
        #expect(lines.allSatisfy { (5...9).contains($0.result.repetitions) && $0.result.name == "ours" })
        // A group separator presses no key, and a line feed none of its own, except at the beginning of a block of 20
        // bytes: the encoder does not know the byte before it.
        let keys = Corpus.mixed.bytes(16384).enumerated().count { place, byte in
            byte != 0x1D && (byte != 0x0A || place % 20 == 0)
        }
        #expect(lines.last?.keys == 20 * Double(keys) / 16384)
        for line in lines {
            #expect(line.megabytesPerSecond == Double(line.bytes) * 1000 / line.result.time)
            #expect(line.keysPerSecond == line.keys * 1e9 / line.result.time)
        }
        var other = ByteTable.linble
        other[UInt8(ascii: "0")] = .discard
        #expect(throws: RingMeasurement.WrongBytes.self) {
            try ShortForm.run(CompiledTable(other), seconds: 0.5) { _ in Issue.record("measured") }
        }
    }

    private static func bytes(of path: String) throws -> [UInt8] {
        let stream = try #require(fopen(path, "r"))
        defer { fclose(stream) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = fread(&bytes, 1, bytes.count, stream)
        return Array(bytes.prefix(count))
    }

    /// Returns the codes of the pressed keys; the events of Shift depend on how the bytes arrive.
    private static func keys(_ events: [UInt8]) -> [UInt8] {
        stride(from: 16, to: events.count, by: 24)
            .filter { events[$0] == 1 && events[$0 + 4] == 1 && events[$0 + 2] != 42 }
            .map { events[$0 + 2] }
    }

    @Test("The whole path types the same keys in Swift and in C, in two threads and in one")
    func pathOutput() throws {
        let table = try CompiledTable(.linble)
        let pattern = Pattern(.mixed)
        // A line feed after a carriage return presses no key of its own.
        let bytes = pattern.bytes.prefix(1600).filter { $0 != 0x0A }
        let expected = Self.keys(try EncoderMeasurement.outputs(bytes, table).ours)
        #expect(expected.count == 1562)
        let directory = try TestDirectory()
        let contents = { (run: (PathMeasurement.Sink) throws -> Void) -> [UInt8] in
            try directory.write("", to: "output")
            try run(PathMeasurement.Sink(directory("output")))
            return try Self.bytes(of: directory("output"))
        }
        let outputs = [
            try contents { _ = try PathMeasurement.ours(pattern, table, chunk: 20, to: $0).run(80) },
            try contents { _ = try PathMeasurement.reference(pattern, chunk: 20, to: $0).run(80) },
            try contents { try PathMeasurement.turns(pattern, table, chunk: 20, burst: 8, to: $0)(10) },
            try contents { try PathMeasurement.referenceTurns(pattern, chunk: 20, burst: 8, to: $0)(10) },
        ]
        for output in outputs { #expect(Self.keys(output) == expected) }
        #expect(outputs[2] == outputs[3])
    }

    private static func clock() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    @Test("A pair of threads runs each closure once, and the ring passes every chunk in one thread")
    func threads() throws {
        let runs = Faults()
        #expect(runs.count == 0)
        let time = try ThreadPair.run({}, { runs.count += 1 })
        #expect(runs.count == 1 && time.nanoseconds > 0)
        // The time is that of the second closure, which does not return before its clock has advanced.
        let second = try ThreadPair.run(isPinned: false, {}) {
            let start = Self.clock()
            while Self.clock() < start + 2_000_000 {}
        }
        #expect(second.nanoseconds >= 2_000_000)
        #expect(try RingMeasurement.turns(Pattern(), chunk: 244, count: 1000) == 244_000)
        #expect(try ThreadPair.bounce() > 0)
        var sum = 0
        _ = EncoderMeasurement.timed(7) {
            sum += 1
            return 2
        }
        #expect(sum == 7)
    }
}
