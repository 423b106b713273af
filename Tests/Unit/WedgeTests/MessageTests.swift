// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import BluetoothHost
import LinuxIO
import SystemPackage
import Testing
import Texts

@testable import Control
@testable import Daemon
@testable import Devices

@Suite("Messages")
struct MessageTests {
    @Test("What the daemon says in English is read in Japanese by a client, with all that it is told of")
    func acrossTheSocket() throws {
        let reasons = [
            CommandFailure(AdapterError.blocked("hci0", isHard: false)),
            CommandFailure(AdapterError.notPermitted(missing: [.networkAdministration, .rawNetwork])),
            CommandFailure(.unavailable, KeyboardFaultText.nothingTypedNow, ReasonText.paused.message()),
            CommandFailure(.usage, LinkFaultText.severalHeard, "A\"{2}", Message.list(["x", "y", "z"]), "x"),
            .noDaemon,
        ]
        for failure in reasons {
            let line = ControlServer.answer(.failure(failure)).text
            let answer = CommandFailure(answer: try JSONValue(Array(line.utf8)))
            #expect(answer == failure)
            for language in Language.allCases {
                #expect(answer.cause.text(language) == failure.cause.text(language))
                #expect(answer.remedy?.text(language) == failure.remedy?.text(language))
            }
            #expect(answer.cause.text(.japanese) != answer.cause.english)
        }
    }

    @Test("LK-9: the remedy for a soft block is a command, for a hard block the switch")
    func blocks() {
        let (soft, hard) = (
            CommandFailure(AdapterError.blocked("hci0", isHard: false)),
            CommandFailure(AdapterError.blocked("hci0", isHard: true))
        )
        #expect(soft.cause.english.contains("soft") && hard.cause.english.contains("switch"))
        for (language, word) in [(Language.english, "switch"), (.japanese, "スイッチ")] {
            #expect(soft.remedy?.text(language).contains("`rfkill unblock bluetooth`") == true)
            #expect(hard.remedy?.text(language).contains(word) == true)
            #expect(hard.remedy?.text(language).contains("rfkill unblock") == false)
        }
    }

    @Test("A text that another version of the daemon has changed, or that makes no sense, is read in English")
    func otherVersions() throws {
        let lines = [
            #"{"reason":"it broke","texts":{"reason":["LinkFaultText.closed"]}}"#,
            #"{"reason":"it broke","texts":{"reason":["LinkFaultText.none"]}}"#,
            #"{"reason":"it broke","texts":{"reason":[]}}"#, #"{"reason":"it broke","texts":{"reason":7}}"#,
            #"{"reason":"it broke","texts":{"reason":["LinkFaultText.closed",{}]}}"#, #"{"reason":"it broke"}"#,
            #"{"reason":"it broke","texts":"LinkFaultText.closed"}"#,
        ]
        for line in lines {
            let message = try #require(try JSONValue(Array(line.utf8)).message("reason"))
            #expect(message.text(.japanese) == "it broke")
        }
        #expect(try JSONValue(Array("{}".utf8)).message("reason") == nil)
    }

    @Test("Status says the daemon's reason and its remedy in the reader's language")
    func status() throws {
        let text = #"""
            {"ok":true,"version":1,"state":"bluetoothOff","reason":"hci0 is blocked by rfkill (soft)",
            "remedy":"unblock it with `rfkill unblock bluetooth`","device":"L","gate":"closed","gateReason":"paused",
            "texts":{"reason":["AdapterFaultText.softBlocked","hci0"],
            "remedy":["AdapterFaultText.softBlocked.remedy","hci0"],"gateReason":["ReasonText.paused"]}}
            """#
        let answer = try JSONValue(Array(text.utf8))
        let japanese = StatusText.lines(answer, in: .japanese)
        #expect(
            japanese == [
                "Bluetoothを使用できません: hci0 はrfkillで無効にされています(ソフトウェア) "
                    + "(`rfkill unblock bluetooth` で有効にしてください); 使用できるようになるのを待っています",
                "  入力            しない", "  入力しない理由  一時停止中",
            ]
        )
        #expect(
            StatusText.lines(answer, in: .english) == [
                "Bluetooth is off: hci0 is blocked by rfkill (soft) (unblock it with `rfkill unblock bluetooth`); "
                    + "waiting until it is available",
                "  gate         closed", "  gate reason  paused",
            ]
        )
    }

    @Test("An adapter's and a link's errors say in the table's English what BluetoothLE says")
    func sameEnglish() {
        let streams: [AdapterError] = [
            .stream(.unixSocket("/x"), .permissionDenied), .stream(.unixSocket("/x"), .connectionRefused),
            .stream(.tcp(host: "x", port: 1), .addressNotAvailable),
            .stream(.serialLine("/dev/ttyS0", speed: 115_200), .permissionDenied),
            .stream(.serialLine("/dev/ttyS0", speed: 115_200), .inappropriateIOCTLForDevice),
            .stream(.serialLine("/dev/ttyS0", speed: 115_200), .noSuchFileOrDirectory),
        ]
        let errors: [AdapterError] =
            streams + [
                .noBluetoothInKernel, .noAdapter, .notFound(.any, available: ["hci0", "hci1"]),
                .lowEnergyUnsupported("hci0"), .blocked("hci0", isHard: false), .blocked("hci0", isHard: true),
                .notPermitted(missing: []), .notPermitted(missing: [.networkAdministration, .rawNetwork]),
                .refused("it", "so"), .system("open a socket", .noMemory), .controller("it stopped"),
            ]
        for error in errors {
            let failure = CommandFailure(error)
            #expect(failure.cause.english == error.cause)
            #expect(failure.cause.text(.japanese) != error.cause && failure.remedy?.text(.japanese) != error.remedy)
            // The product's remedy names its options and files, but the library's remedy must suit any program.
            let isProducts = failure.remedy?.english != error.remedy
            let names = ["blewedge", "--"]
            #expect(isProducts == names.contains { failure.remedy?.english.contains($0) == true }, "\(error)")
            #expect(!names.contains { error.remedy.contains($0) }, "\(error)")
        }
        let scans: [ScanError] = [
            .system("scan", .noMemory), .notPermitted(missing: []), .notPermitted(missing: [.rawNetwork]), .unsupported,
            .adapterGone,
        ]
        for error in scans {
            let failure = CommandFailure(error)
            #expect(failure.cause.english == error.cause && (failure.remedy == nil) == (error.remedy == nil))
        }
        let links: [LinkFailure] = [
            .system(.connectionReset), .system(.timedOut), .system(.connectionAbort), .system(.noMemory),
            .timedOut(.seconds(4)), .closedByPeer,
        ]
        for failure in links { #expect(failure.message.english == "\(failure)") }
    }
}
