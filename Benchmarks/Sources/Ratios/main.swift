// SPDX-License-Identifier: GPL-2.0-or-later
//
// Called by Benchmarks/run. `Ratios launch` measures in one process; `Ratios profile --only CASE` repeats a single
// operation for a profiler: a case of `blewedge bench --profile`, or reports, reports-c, crowd, crowd-c, names.

import CReference
import Glibc
import Measuring

guard cref_processors() >= 2 else {
    note("two processors are needed")
    exit(69)
}
guard let options = Options(CommandLine.arguments.dropFirst()) else {
    note("usage: Ratios run|launch|profile [--launches N] [--repetitions N] [--seed N] [--only B-N] [--json FILE]")
    exit(64)
}
do {
    if options.isProfile {
        try Profile.run(options.only)
        exit(0)
    }
    if options.isLaunch {
        var launch = Launch(random: SplitMix(seed: options.seed), repetitions: options.repetitions, only: options.only)
        let bounce = try ThreadPair.bounce()
        try launch.run()
        print("bounce\t\(bounce)")
        for (anchor, value) in launch.anchors { print("anchor\t\(anchor.rawValue)\t\(value)") }
        for (id, result) in launch.results {
            print(
                "result\t\(id)\t\(result.ratio)\t\(result.lowerQuartile)\t\(result.upperQuartile)\t\(result.time)"
                    + "\t\(result.reference)\t\(result.repetitions)\t\(result.disturbed)"
            )
        }
        fflush(nil)
        exit(0)
    }
    var report = Report(options)
    exit(try report.run())
} catch {
    note("Ratios: \(error)")
    exit(70)
}
