// SPDX-License-Identifier: GPL-2.0-or-later

import MutantGenerator
import Testing

struct SampleTests {
    private let mutants = Snippet.all.flatMap { MutantFinder.mutants(of: $0.source, file: $0.testDescription) }

    /// Checks that the sample is deterministic: these names were drawn by another process.
    @Test func seed() {
        let names = ["f()/boolean/99674177", "f()/comparison/e7695f10", "f()/dropped-assignment/28780931"]
        #expect(mutants.sample(3, seed: "1").map(\.name) == names)
    }

    @Test func order() {
        #expect(mutants.reversed().sample(20, seed: "1").map(\.name) == mutants.sample(20, seed: "1").map(\.name))
    }

    @Test func smallerIsTheBeginning() {
        #expect(mutants.sample(9, seed: "1").map(\.name) == mutants.sample(20, seed: "1").prefix(9).map(\.name))
        #expect(mutants.sample(9, seed: "1").map(\.name) != mutants.sample(9, seed: "2").map(\.name))
    }

    @Test func oneOfEachLine() {
        let drawn = mutants.sample(.max, seed: "1")
        let lines = Set(mutants.map { "\($0.file):\($0.line)" })
        #expect(Set(drawn.map { "\($0.file):\($0.line)" }) == lines)
        #expect(drawn.count == lines.count)
    }
}
