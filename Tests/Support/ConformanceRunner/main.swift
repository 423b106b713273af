// SPDX-License-Identifier: GPL-2.0-or-later
//
// Replays the conformance files with two real adapters: the first is tested, the second is the lower tester.
//
//   conformance hci0 user:hci1          scripts without waits
//   conformance hci0 user:hci1 --waits  scripts with time-outs, in real time

import BluetoothAdapters
import ConformanceSupport
import Glibc
import LinuxIO
import TestSupport

/// Prints a line and flushes the output.
func tell(_ line: String) throws {
    try StandardStream.output.write(line + "\n")
}

/// Opens an adapter that is named on the command line.
func open(_ text: String, on loop: EventLoop) throws -> any LowEnergyAdapter {
    let transport = try AdapterTransport(text)
    return try ConformanceBench.open(on: loop) { completion throws(AdapterError) in
        try LowEnergyAdapters.open(transport, on: loop, completion: completion)
    }
}

/// Plays the selected scripts of a file and prints a result line for each; returns the numbers of passed and failed
/// scripts.
func play(
    _ file: String,
    _ isWanted: (ConformanceScript) -> Bool,
    _ body: (ConformanceScript) throws -> [String]
) throws -> (passed: Int, failed: Int) {
    var result = (passed: 0, failed: 0)
    for script in try ConformanceScript.all(file) where isWanted(script) {
        let differences: [String]
        do {
            differences = try body(script)
        } catch {
            differences = ["\(error)"]
        }
        if differences.isEmpty { result.passed += 1 } else { result.failed += 1 }
        try tell((["\(differences.isEmpty ? "ok" : "FAIL") \(script.name)"] + differences).joined(separator: "; "))
    }
    return result
}

let arguments = CommandLine.arguments
guard arguments.count >= 3 else {
    try? tell("usage: conformance ADAPTER TESTER [--waits]")
    exit(64)
}
do {
    let loop = try EventLoop()
    let subject = try open(arguments[1], on: loop)
    let tester = try open(arguments[2], on: loop)
    let pace = ConformanceBench.Pace(patience: .seconds(20), silence: .milliseconds(300))
    let bench = ConformanceBench(subject, tester: tester, on: loop, pace: pace)
    let waits = arguments.contains("--waits")
    let isWanted = { (script: ConformanceScript) in (script.waitingTime > 0) == waits }
    let client = try play("conformance-client.txt", isWanted, bench.playClient)
    let server = try play("conformance-server.txt", isWanted, bench.playServer)
    bench.close()
    try tell("\(client.passed + server.passed) passed, \(client.failed + server.failed) failed")
    exit(client.failed + server.failed == 0 && client.passed > 0 && server.passed > 0 ? 0 : 1)
} catch {
    try? tell("FAIL \(error)")
    exit(1)
}
