// SPDX-License-Identifier: GPL-2.0-or-later

import Keystrokes
import Measuring
import TestSupport
import Testing

@Suite struct MeasuringTests {
    @Test(
        "The encoder and its twin in C, which has tables of its own, type the same events",
        arguments: Corpus.allCases
    )
    func encodersAgree(corpus: Corpus) throws {
        let outputs = try EncoderMeasurement.outputs(corpus.bytes(16384), CompiledTable(.linble))
        #expect(outputs.ours.count > 16384)
        #expect(outputs.ours == outputs.reference)
    }

    @Test("The comparison with the C version detects another table (control)")
    func anotherTableDiffers() throws {
        let outputs = try EncoderMeasurement.outputs(Corpus.random.bytes(16384), CompiledTable(.strict))
        #expect(outputs.ours != outputs.reference)
    }

    @Test(
        "Both rings deliver the bytes unchanged, and other bytes than expected are an error",
        arguments: [1, 20, 244]
    )
    func ringsCarry(chunk: Int) throws {
        let pattern = Pattern(.random)
        _ = try RingMeasurement.ours(pattern, chunk: chunk, expected: pattern).run(5000)
        _ = try RingMeasurement.reference(pattern, chunk: chunk, expected: pattern).run(5000)
        let other = Pattern(.mixed)
        for ring in [RingMeasurement.ours, RingMeasurement.reference] {
            _ = try ring(pattern, chunk, nil).run(5000)
            #expect(throws: RingMeasurement.WrongBytes.self) { _ = try ring(pattern, chunk, other).run(5000) }
        }
    }

    @Test("Every byte of the measured path has an outcome")
    func pathBalances() throws {
        let sink = try PathMeasurement.Sink()
        _ = try PathMeasurement.ours(Pattern(.mixed), CompiledTable(.linble), chunk: 20, to: sink).run(2000)
    }

    @Test("A contender that takes half as long has a ratio of two, and disturbed repetitions are done again")
    func ratios() throws {
        var runs = 0
        let slow = Contender("slow") { count in ThreadPair.Time(nanoseconds: Int64(count) * 200) }
        let fast = Contender("fast") { count in
            runs += 1
            return ThreadPair.Time(nanoseconds: Int64(count) * 100, preemptions: runs.isMultiple(of: 3) ? 1 : 0)
        }
        var random = SplitMix(seed: 1)
        let result = try #require(Comparison(slow, [fast], repetitions: 6).run(using: &random).first)
        #expect(result.ratio == 2)
        #expect(result.repetitions == 6)
        #expect(result.disturbed > 0)
        #expect(result.time == 100)
        #expect(result.reference == 200)
    }

    @Test("Repetitions of which most were disturbed count, and the result says so")
    func disturbed() throws {
        for preemptions in [0, 1] {
            let one = Contender("one") { ThreadPair.Time(nanoseconds: Int64($0) * 100, preemptions: preemptions) }
            var random = SplitMix(seed: 1)
            let result = try #require(Comparison(one, [one], repetitions: 6).run(using: &random).first)
            #expect(result.isDisturbed == (preemptions > 0) && result.repetitions >= 6)
        }
    }

    @Test("A time is zero before it was measured")
    func noTime() {
        #expect(integersOtherThanZero(in: ThreadPair.Time()).isEmpty && integersOtherThanZero(in: Faults()).isEmpty)
    }

    @Test("A quantile lies between its neighbours in proportion")
    func quantiles() {
        #expect([4.0, 1, 3, 2].quantile(0.5) == 2.5)
        #expect([4.0, 1, 3, 2].quantile(0) == 1)
        #expect([4.0, 1, 3, 2].quantile(1) == 4)
        #expect([Double]().quantile(0.5) == 0)
    }
}
