// SPDX-License-Identifier: GPL-2.0-or-later

import Beacons
import BluetoothAdapters
import BluetoothHost
import BluetoothPackets
import Configuration
import Control
import Daemon
import Keystrokes
import Link
import LinuxIO
import SystemPackage
import TestSupport
import Testing
import Texts
import Typing

@testable import Devices

@Suite("Reports of the errors of each module")
struct FailureTableTests {
    /// Number of cases of each error type; each case has a row in the table.
    private static let counts = [
        "TypingError": 12, "KeyboardError": 8, "ConfigurationError": 16, "OutputError": 2, "DeviceLink.SendError": 4,
        "SecurityPolicy.Refusal": 4, "PairingError": 7, "AdapterLock.Refusal": 2, "Choice": 4, "BondStore.Failure": 2,
        "Bonds": 5, "Designated": 3, "ChoiceFollower.WatchError": 1, "DaemonPaths.Refusal": 3,
    ]

    @Test("D-10: each case of each error has its exit status, its cause and its remedy, as failures.txt has them")
    func table() throws {
        let lines = try VectorFile.lines("failures.txt").map(\.text)
        let errors = try Self.errors()
        var cases: [String: Set<String>] = [:]
        for (index, error) in errors.enumerated() {
            let (type, name) = Self.name(of: error)
            cases[type, default: []].insert(name)
            let failure = error.failure
            let status = "\(failure.status.rawValue)" + (failure.kind.map { " \($0.rawValue)" } ?? "")
            let row = ["\(type).\(name)", status, failure.cause.english, failure.remedy?.english ?? "-"]
                .joined(separator: " | ").split(separator: "\n").joined(separator: "\\n")
            #expect(index < lines.count && row == lines[index], "\(row)")
        }
        #expect(lines.count == errors.count)
        #expect(cases.mapValues(\.count) == Self.counts)
    }

    /// Returns the type without its module, and the case without its associated values.
    private static func name(of error: any ReportableError) -> (type: String, name: String) {
        let name = Mirror(reflecting: error).children.first?.label ?? "\(error)"
        switch error {
        case is ChoiceStore.Failure: return ("Choice", name)
        case is DesignatedStore.Failure: return ("Designated", name)
        case BondStore.Failure.file(let failure):
            return ("Bonds", Mirror(reflecting: failure).children.first?.label ?? "\(failure)")
        default:
            let path = String(reflecting: Swift.type(of: error)).split(separator: ".").dropFirst()
            return (path.joined(separator: "."), name)
        }
    }

    /// Returns the error that `body` throws.
    private static func thrown<Failure: Error, Value>(_ body: () throws -> Value) throws -> Failure {
        try #require(#expect(throws: Failure.self) { _ = try body() })
    }

    private static func errors() throws -> [any ReportableError] {
        let device = DeviceAddress(BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F5), .random)
        let legacy = BondClaim(keys: .encrypted, isLegacy: true, demanded: .encrypted)
        return [
            TypingError.layout("x", .noData), TypingError.layout("x", .malformedName("x")),
            TypingError.layout("x", .unknownLayout("x")),
            TypingError.console(layout: "console", terminal: "/dev/tty", .permissionDenied),
            TypingError.console(layout: "console", terminal: "/dev/tty", .ioError),
            TypingError.tableUnreadable("/t", .permissionDenied),
            TypingError.snippetsUnreadable("/s", .permissionDenied), TypingError.snippetsUnreadable("/s", .isDirectory),
            TypingError.notText("/t"), TypingError.faulty("/t", reason: "line 1: wrong"),
            TypingError.snippetWithoutBarcodes(title: "a"),
            TypingError.keypad(.tooLong(byte: 1, events: 99)),
            TypingError.unknownSnippet("a", known: ["b", "c"]), TypingError.unknownSnippet("a", known: []),
            TypingError.notTypable("clear", .tooManyKeys), TypingError.notTypable("clear", .notDeclared),
            TypingError.notTypable("key", .layoutLacks("e", layout: "us")),
            TypingError.notTypable("key", .table(.forbidden(.alone(.enter)))),
            KeyboardError.forbiddenKeys(.alone(.enter)), KeyboardError.noEventNode,
            KeyboardError.eventsUnreadable(node: "/dev/input/event3", .permissionDenied),
            KeyboardError.eventsUnreadable(node: "/dev/input/event3", .ioError),
            KeyboardError.ringTaken, KeyboardError.noDataPath(reason: "no"),
            KeyboardError.noGate(terminal: 2, .permissionDenied),
            KeyboardError.noGate(terminal: 2, .noSuchFileOrDirectory),
            ConfigurationError.unreadable("/c", .permissionDenied), ConfigurationError.unreadable("/c", .ioError),
            ConfigurationError.notText("/c"), ConfigurationError.unknownProfile("p", known: ["a", "b"]),
            ConfigurationError.profileUnreadable("/p", .permissionDenied), ConfigurationError.noProfiles,
            ConfigurationError.regionsUnreadable("/r", .permissionDenied),
            ConfigurationError.regionsUnreadable("/r", .ioError),
            ConfigurationError.noEffect("a.b", without: "c"), ConfigurationError.typing(.notText("/t")),
            ConfigurationError.keyboard(.ringTaken),
            OutputError.notOpened("/o", .permissionDenied), OutputError.notOpened("/o", .fileExists),
            OutputError.notOpened("/o", .ioError), OutputError.noScreen(.noMemory),
            DeviceLink.SendError.noLink, DeviceLink.SendError.noCharacteristic, DeviceLink.SendError.notWritable,
            DeviceLink.SendError.queueFull(unsent: 3, of: 20),
            SecurityPolicy.Refusal.lessSecure(.none, least: .encrypted),
            SecurityPolicy.Refusal.unpaired(SelectedDevice(device, name: "A")),
            SecurityPolicy.Refusal.unpairedKeyboard(SelectedDevice(device, name: "A")),
            PairingError.noAdapter, PairingError.noAddress(adapter: "hci0"),
            PairingError.nameKnown("A", paired: device.address, heard: device.address),
            PairingError.notKept(.full),
            AdapterLock.Refusal.used("hci0", by: 0), AdapterLock.Refusal.used("hci0", by: 42),
            AdapterLock.Refusal.notMade("/run/hci0.lock", .permissionDenied),
            AdapterLock.Refusal.notMade("/run/hci0.lock", .noSpace),
            ChoiceStore.Failure.unreadable("/s/selection", .permissionDenied),
            ChoiceStore.Failure.unreadable("/s/selection", .ioError),
            ChoiceStore.Failure.unwritable("/s/selection", .permissionDenied),
            ChoiceStore.Failure.unwritable("/s/selection", .noSpace),
            ChoiceStore.Failure.unwritable("/s/selection", .readOnlyFileSystem),
            ChoiceStore.Failure.locked("/s/lock", by: 7, signal: 15),
            BondStore.Failure.file(.foreign("/s/bonds")), BondStore.Failure.file(.irregular("/s/bonds")),
            BondStore.Failure.file(.unreadable("/s/bonds", .permissionDenied)),
            BondStore.Failure.file(.unreadable("/s/bonds", .ioError)),
            BondStore.Failure.file(.unwritable("/s/bonds", .permissionDenied)),
            BondStore.Failure.file(.unwritable("/s/bonds", .noSpace)),
            BondStore.Failure.known(device), BondStore.Failure.full,
            BondStore.Failure.file(.locked("/s/lock", by: 0, signal: 2)),
            DesignatedStore.Failure.unreadable("/s/designated", .permissionDenied),
            DesignatedStore.Failure.unreadable("/s/designated", .ioError),
            DesignatedStore.Failure.unwritable("/s/designated", .noSpace),
            ChoiceFollower.WatchError(directory: "/s", error: .permissionDenied),
            ChoiceFollower.WatchError(directory: "/s", error: .noMemory),
            DaemonPaths.Refusal.foreign("/s", owner: 7, nil), DaemonPaths.Refusal.foreign("/s", owner: 7, "/s/f"),
            DaemonPaths.Refusal.writable("/s", mode: 0o777, nil),
            DaemonPaths.Refusal.writable("/s", mode: 0o777, "/s/f"),
            DaemonPaths.Refusal.noRuntimeDirectory("/run/x", .permissionDenied),
            DaemonPaths.Refusal.noRuntimeDirectory("/run/x", .ioError),
            TypingError.snippetNotTypable(title: "a", try thrown { try BarcodeAffix("¥", layout: .us) }),
            TypingError.snippetBarcodes(try thrown { try BarcodeRules(terminators: []) }),
            KeyboardError.notMade(.noSuchFileOrDirectory), KeyboardError.notWritten(.ioError),
            ConfigurationError.faults("/c", try thrown { try Configuration(text: "max-age = true") }),
            ConfigurationError.profileFaults("/p", try thrown { try Profile(text: "service = \"FFF0\"", name: "p") }),
            ConfigurationError.regionFaults("/r", try thrown { try RegionFile("nothing") }),
            ConfigurationError.stall(pace: "fast", try thrown { try Pace(stall: -1, queue: .large) }),
            ConfigurationError.byteTooLong(
                events: 9,
                table: "t",
                layout: "us",
                try thrown { try Pace(stall: -1, queue: .large) }
            ),
            ConfigurationError.barcodes(try thrown { try BarcodeRules(terminators: []) }),
            ConfigurationError.affix("prefix", try thrown { try BarcodeAffix("¥", layout: .us) }),
            SecurityPolicy.Refusal.lacking(try #require(SecurityLack(.encrypted, device, BondClaim()))),
            SecurityPolicy.Refusal.lacking(try #require(SecurityLack(.authenticated, device, legacy))),
            SecurityPolicy.Refusal.lacking(try #require(SecurityLack(.encrypted, device, BondClaim(fault: .damaged)))),
            PairingError.notFound(.name("A"), .notHeard(within: .seconds(8), namesake: nil)),
            PairingError.adapterLost(.removed("hci0")),
            PairingError.failed(.cancelled, device, within: .seconds(60)),
            ChoiceStore.Failure.garbled("/s/selection", SelectedDevice.Fault(line: 2, cause: "is odd")),
            DesignatedStore.Failure.garbled("/s/designated", try thrown { try DesignatedBeacons(text: "x") }),
        ]
    }
}
