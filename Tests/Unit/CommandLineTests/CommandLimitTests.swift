// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import Devices
import Keystrokes
import Rehearsal
import Setup
import SystemPackage
import TestSupport
import Testing
import Texts

@testable import Measuring
@testable import blewedge

@Suite("Options at their limits, and steps of setup")
struct CommandLimitTests {
    private func isValid(_ change: (inout SimulateCommand) -> Void) -> Bool {
        var command = SimulateCommand()
        (command.name, command.profile, command.file, command.lineEnd) = (nil, nil, nil, .cr)
        (command.hid, command.hex, command.json, command.fault) = (false, false, false, [])
        (command.barcodes, command.rate) = (nil, nil)
        (command.pairable, command.security, command.console) = (nil, nil, nil)
        change(&command)
        do {
            try command.validate()
            return true
        } catch {
            return false
        }
    }

    @Test("`simulate` accepts the least and the greatest number, and the combinations that make sense")
    func simulate() {
        let cases: [(isRight: Bool, change: (inout SimulateCommand) -> Void)] = [
            (true, { _ in }), (true, { $0.barcodes = 1 }), (true, { $0.barcodes = 10_000_000 }),
            (false, { $0.barcodes = 0 }), (false, { $0.barcodes = 10_000_001 }), (true, { $0.rate = 0 }),
            (true, { $0.rate = 10_000 }), (false, { $0.rate = -1 }), (false, { $0.rate = 10_001 }),
            (true, { $0.pairable = TimeArgument(.seconds(1)) }), (true, { $0.pairable = TimeArgument(.seconds(600)) }),
            (false, { $0.pairable = TimeArgument(.milliseconds(999)) }),
            (false, { $0.pairable = TimeArgument(.seconds(601)) }), (true, { $0.file = "a" }),
            (false, { ($0.file, $0.barcodes) = ("a", 1) }), (true, { $0.hex = true }), (true, { $0.json = true }),
            (false, { ($0.hex, $0.json) = (true, true) }), (false, { $0.console = PairingConsole.none }),
            (true, { ($0.console, $0.pairable) = (.display, TimeArgument(.seconds(60))) }),
            (false, { ($0.console, $0.pairable) = (.yesNo, TimeArgument(.seconds(60))) }),
            (true, { ($0.console, $0.pairable, $0.barcodes) = (.yesNo, TimeArgument(.seconds(60)), 1) }),
            (true, { ($0.console, $0.pairable, $0.file) = (.keyboard, TimeArgument(.seconds(60)), "a") }),
            (true, { ($0.console, $0.hid) = (.display, true) }), (true, { $0.profile = "nordic" }),
            (false, { $0.profile = "keyboard" }), (true, { $0.name = "a" }), (false, { $0.name = "" }),
            (true, { $0.lineEnd = .crlf }), (true, { $0.security = GATTLinkSecurity.Level.none }),
            (false, { $0.fault = [.noEncryption] }), (true, { ($0.hid, $0.fault) = (true, [.noEncryption]) }),
            (false, { ($0.hid, $0.profile) = (true, "nordic") }), (true, { ($0.hid, $0.lineEnd) = (true, .none) }),
            (false, { ($0.hid, $0.lineEnd) = (true, .lf) }), (false, { ($0.hid, $0.lineEnd) = (true, .crlf) }),
            (false, { ($0.hid, $0.security) = (true, GATTLinkSecurity.Level.none) }),
            (true, { ($0.hid, $0.security) = (true, .encrypted) }),
            (false, { ($0.hid, $0.security, $0.fault) = (true, .encrypted, [.noEncryption]) }),
        ]
        for (index, test) in cases.enumerated() { #expect(isValid(test.change) == test.isRight, "case \(index)") }
        #expect(LineEnd.allCases.map(\.bytes) == [[0x0D], [0x0A], [0x0D, 0x0A], []])
    }

    @Test("`bench` accepts the least and the greatest number")
    func bench() {
        for (units, seconds, isRight) in [
            (1, .seconds(1), true), (1 << 30, .seconds(3600), true), (0, .seconds(1), false),
            (1 << 30 + 1, .seconds(1), false), (1, .milliseconds(999), false), (1, .seconds(3601), false),
        ] as [(Int, Duration, Bool)] {
            var command = BenchCommand()
            (command.units, command.seconds) = (units, TimeArgument(seconds))
            var isAccepted = true
            do { try command.validate() } catch { isAccepted = false }
            #expect(isAccepted == isRight, "\(units) \(seconds)")
        }
    }

    @Test("`bench` tells of other programs if they disturbed a result, or more than a quarter of all repetitions")
    func disturbance() {
        func result(_ repetitions: Int, _ disturbed: Int, _ isDisturbed: Bool = false) -> Comparison.Result {
            Comparison.Result(
                name: "x",
                ratio: 1,
                time: 1,
                reference: 1,
                repetitions: repetitions,
                disturbed: disturbed,
                isDisturbed: isDisturbed,
                lowerQuartile: 1,
                upperQuartile: 1
            )
        }
        #expect(BenchCommand.disturbance([]) == nil && BenchCommand.disturbance([result(11, 0)]) == nil)
        #expect(BenchCommand.disturbance([result(9, 3)]) == nil)
        #expect(BenchCommand.disturbance([result(9, 3), result(9, 3)]) == nil)
        #expect(BenchCommand.disturbance([result(8, 3)]) == LogText.disturbed.message("3", "11"))
        #expect(BenchCommand.disturbance([result(9, 1), result(4, 4)]) == LogText.disturbed.message("5", "18"))
        #expect(BenchCommand.disturbance([result(12, 1, true), result(9, 0)]) == LogText.disturbed.message("1", "21"))
    }

    @Test("`bench --uinput` prints the rate, the losses and four quantiles of the times; each failure has its status")
    func benchKeyboard() {
        let result = KeyboardMeasurement.Result(
            eventsPerSecond: 1234.9,
            latencies: (0...100).map { Double($0) * 100 + 1000 },
            lost: 3
        )
        #expect(
            BenchCommand.line(result, .small, isJSON: false)
                == "uinput, queue of 64: 1234 events/s, 3 lost; write to read, µs: "
                + "p50 6.0, p90 10.0, p99 10.9, max 11.0 (101 keystrokes)"
        )
        #expect(
            BenchCommand.line(result, .large, isJSON: true)
                == #"{"case":"uinput","queue":256,"eventsPerSecond":1234,"lost":3,"keystrokes":101,"#
                + #""p50Nanoseconds":6000,"p90Nanoseconds":10000,"p99Nanoseconds":10900,"maxNanoseconds":11000}"#
        )
        let failures: [(KeyboardMeasurement.Failure, Texts.ExitStatus, String)] = [
            (.keyboard(.permissionDenied), .unavailable, "/dev/uinput: Permission denied"),
            (.node("/dev/input/event3", .permissionDenied), .permission, "/dev/input/event3"),
            (.input(.ioError), .inputOutput, "Input/output error"),
        ]
        for (failure, status, cause) in failures {
            let shown = BenchCommand.failure(failure)
            #expect(shown.status == status && shown.cause.english.contains(cause), "\(shown)")
        }
    }

    @Test("`setup --dry-run` prints the steps that setup would perform, and no more")
    func dryRun() throws {
        var facts = SetupFacts.collect()
        facts.help = try SetupCommand.help()
        #expect(facts.help.map(\.reader) == HelpFile.Reader.allCases && facts.help.allSatisfy { !$0.text.isEmpty })
        for (options, steps) in [([], SetupPlan.installing(facts)), (["--remove"], SetupPlan.removing(facts))] {
            let outcome = try run(["setup", "--dry-run"] + options)
            // The program that is copied is another one than this process.
            func isOther(_ line: Substring) -> Bool { !line.hasPrefix("install -m 755 ") }
            let texts = steps.isEmpty ? [SetupText.nothingToDo.text(.english)] : steps.map { $0.text(.english) }
            let lines = texts.flatMap { $0.split(separator: "\n") }.filter(isOther)
            #expect(outcome.output.split(separator: "\n").filter(isOther) == lines, "\(outcome)")
            #expect(outcome.status == 0 && outcome.error.isEmpty == !facts.isPackaged, "\(outcome)")
        }
    }
}
