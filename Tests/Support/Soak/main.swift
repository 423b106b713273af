// SPDX-License-Identifier: GPL-2.0-or-later
//
// Runs the daemon's data path for days of virtual time.
//
//   soak [--days N] [--seed N] [--barcodes N]

import Glibc
import LinuxIO
import SoakSupport

var plan = SoakPlan()
var arguments = CommandLine.arguments.dropFirst()
while let option = arguments.popFirst() {
    switch (option, arguments.popFirst().flatMap(UInt64.init)) {
    case ("--days", let days?) where (1...10_000).contains(days): plan.days = Int(days)
    case ("--barcodes", let count?) where (1...50_000).contains(count): plan.barcodes = Int(count)
    case ("--seed", let seed?): plan.seed = seed
    default:
        try StandardStream.error.write("usage: soak [--days N] [--seed N] [--barcodes N]\n")
        exit(64)
    }
}

let report = try Soak(plan).run()
for (name, value) in report.table {
    try StandardStream.output.write(name + String(repeating: " ", count: max(1, 42 - name.count)) + value + "\n")
}
for fault in report.faultLines { try StandardStream.output.write("fault: \(fault)\n") }
for check in report.checks {
    try StandardStream.output.write((check.isRight ? "ok    " : "FAIL  ") + check.name + "\n")
}
let failed = report.checks.count { !$0.isRight }
try StandardStream.output.write("\(report.checks.count - failed) passed, \(failed) failed\n")
exit(failed == 0 ? 0 : 1)
