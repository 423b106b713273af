// SPDX-License-Identifier: GPL-2.0-or-later

import Fuzzing
import TestSupport
import Testing

@Suite("Fuzz targets")
struct ReplayTests {
    @Test("No input of the corpus, and no small change of one, violates an assertion", arguments: FuzzTarget.allCases)
    func replay(_ target: FuzzTarget) throws {
        let inputs = try FuzzCorpus.inputs(of: target)
        #expect(inputs.count >= 5)
        var mutations = FuzzMutations(inputs)
        let count = RunCount.from("BLEWEDGE_FUZZ_MUTATIONS", usual: RunCount.isOptimized ? 30_000 : 3000)
        var faults = 0
        for number in 0..<inputs.count + count where faults < 3 {
            let input = number < inputs.count ? inputs[number] : mutations.next()
            guard let fault = target.fault(in: input) else { continue }
            faults += 1
            Issue.record("\(target): \(fault): \(FuzzCorpus.written(input))")
        }
    }

    @Test("A line of a corpus decodes to the bytes from which it was written")
    func lines() throws {
        for input in try FuzzTarget.allCases.flatMap(FuzzCorpus.inputs) {
            #expect(FuzzCorpus.input(FuzzCorpus.written(input)) == input)
        }
        #expect(FuzzCorpus.input(#""a\n\\\x00\x80"#) == [0x61, 0x0A, 0x5C, 0x00, 0x80])
        #expect(FuzzCorpus.input("0A ff") == [0x0A, 0xFF])
        #expect(FuzzCorpus.input("0A f") == nil)
        #expect(FuzzCorpus.input(#""\y"#) == nil)
    }
}
