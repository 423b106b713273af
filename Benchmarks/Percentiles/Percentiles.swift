// SPDX-License-Identifier: GPL-2.0-or-later
//
// Percentiles of single-threaded work: `swift package --package-path Benchmarks benchmark --target Percentiles`.

import Benchmark
import Keystrokes
import Measuring

let benchmarks: @Sendable () -> Void = {
    Benchmark.defaultConfiguration = .init(
        metrics: [.wallClock, .throughput],
        scalingFactor: .kilo,
        maxDuration: .seconds(2)
    )
    let pattern = Pattern(.random)
    for chunk in [1, 20, 244] {
        Benchmark("ring, push and pop \(chunk) B") { benchmark in
            blackHole(try RingMeasurement.turns(pattern, chunk: chunk, count: benchmark.scaledIterations.count))
        }
    }
    for corpus in Corpus.allCases {
        // Each iteration encodes a block of 20 bytes.
        Benchmark("encode \(corpus.rawValue), 20 B") { benchmark in
            let table = try CompiledTable(.linble)
            let input = corpus.bytes(benchmark.scaledIterations.count * EncoderMeasurement.block)
            benchmark.startMeasurement()
            blackHole(try EncoderMeasurement.ours(input, table).run(1))
        }
    }
}
