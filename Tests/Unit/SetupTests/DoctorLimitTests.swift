// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import BluetoothHost
import BluetoothPackets
import Control
import Daemon
import Devices
import LinuxIO
import Testing
import Texts
import TextsSupport
import Typing

@testable import Setup

/// Findings at the limits of their conditions, and conditions that only together make a finding.
@Suite("The doctor at the limits of its findings")
struct DoctorLimitTests {
    /// Returns the causes on a machine on which everything works, except for this change of the daemon's status.
    private func causes(_ change: (inout SystemFacts.Status, inout SystemFacts) -> Void) throws -> [Finding.Cause] {
        var facts = try healthy()
        guard case .running(var status) = facts.daemon else { return [] }
        change(&status, &facts)
        facts.daemon = .running(status)
        return Doctor.findings(facts).map(\.cause)
    }

    private func findings(_ change: (inout SystemFacts) -> Void) throws -> [Finding] {
        var facts = try healthy()
        change(&facts)
        return Doctor.findings(facts)
    }

    @Test("Bytes: nothing received is no fault, one discarded byte of one is, and one of two is not")
    func counts() throws {
        let cases: [(received: UInt64, discarded: UInt64, lost: UInt64, causes: [Finding.Cause])] = [
            (0, 0, 0, []), (1, 1, 0, [.allDiscarded]), (2, 1, 0, []), (1, 1, 1, [.bytesLost]),
        ]
        for (received, discarded, lost, expected) in cases {
            let found = try causes { status, _ in
                (status.received, status.discarded, status.lost) = (received, discarded, lost)
            }
            #expect(found == expected, "\(received) \(discarded) \(lost)")
        }
        for (refused, expected) in [(0, []), (1, [.valuesBeforeEncryption])] as [(Int, [Finding.Cause])] {
            #expect(try causes { status, _ in status.early.refused = numericCast(refused) } == expected)
        }
    }

    @Test("Beacons: no regions is a finding only if they are configured, and a fault only if regions are watched")
    func beacons() throws {
        for (isConfigured, watched, expected) in [
            (true, 0, [.beaconsWithoutRegions]), (false, 0, []), (true, 1, [.beaconsUnavailable]),
            (false, 1, [.beaconsUnavailable]),
        ] as [(Bool, Int, [Finding.Cause])] {
            let found = try causes { status, facts in
                facts.watchesBeacons = isConfigured
                var beacons = SystemFacts.Beacons()
                beacons.watched = watched
                beacons.fault = "refused"
                status.beacons = beacons
            }
            #expect(found == expected, "\(isConfigured) \(watched)")
        }
        // The state of the session explains the faults of beacons.
        for (state, cause) in [(.bluetoothOff, .daemonOff), (.unauthorized, .daemonUnauthorized)]
            as [(Session.State, Finding.Cause)]
        {
            let found = try causes { status, _ in
                status.state = state
                var beacons = SystemFacts.Beacons()
                beacons.watched = 1
                beacons.advertisingFault = "refused"
                status.beacons = beacons
            }
            #expect(found == [cause])
        }
    }

    @Test("The session's reason and remedy are in the findings about an attempt, and its address in their commands")
    func reasons() throws {
        let facts = try healthy()
        guard case .running(var status) = facts.daemon else { return }
        func finding() throws -> Finding {
            var facts = facts
            facts.daemon = .running(status)
            return try #require(Doctor.findings(facts).first)
        }
        status.state = .failed
        status.reason = "out of range"
        status.remedy = "bring it near"
        #expect(try finding().what.english.contains("out of range"))
        #expect(try finding().remedy.english == "bring it near" && finding().command == "blewedge scan")
        status.remedy = nil
        #expect(try finding().remedy.english != "bring it near" && !finding().remedy.english.isEmpty)
        status.reason = LinkFaultText.noBond.message("x")
        #expect(try finding().command == "blewedge pair ADDRESS")
        status.address = "F0:F1:F2:F3:F4:F5"
        #expect(try finding().command == "blewedge pair F0:F1:F2:F3:F4:F5")
        status.device = nil
        #expect(try !finding().what.english.contains("LINBLE-TEST"))
        // Without a fault in these states, nothing is found.
        for state in [Session.State.connecting, .unselected, .connected] {
            #expect(try causes { status, _ in status.state = state } == [])
        }
    }

    @Test("A terminal: the first three differences of the layout are listed, and the others counted")
    func layout() throws {
        let differences = "zyqw;".unicodeScalars.map { LayoutDifference(meant: $0, given: $0 == "y" ? nil : "-") }
        let expected = [
            1: #""z" produces "-""#, 3: #""z" produces "-", "y" produces nothing, "q" produces "-""#,
            4: #""z" produces "-", "y" produces nothing, "q" produces "-", and 1 more"#,
            5: #""z" produces "-", "y" produces nothing, "q" produces "-", and 2 more"#,
        ]
        for (count, text) in expected {
            let found = try findings { $0.layoutDifferences = Array(differences.prefix(count)) }
            #expect(found.map(\.what.english) == ["layout us differs from the layout of tty1: " + text])
        }
    }

    @Test("A terminal: its mode decides, and a desktop or another output needs none")
    func terminals() throws {
        let modes: [(ConsoleState.Keys, isGraphic: Bool, what: String?)] = [
            (.off, false, "off"), (.raw, false, "raw"), (.mediumRaw, false, "raw"), (.translated, false, nil),
            (.off, true, nil), (.raw, true, nil), (.translated, true, "tty7"),
        ]
        for (keys, isGraphic, what) in modes {
            let found = try findings { $0.console = ConsoleState(terminal: 7, keys: keys, isGraphic: isGraphic) }
            #expect(found.map(\.cause) == (what == nil ? [] : isGraphic ? [.consoleLeaksKeys] : [.consoleIgnoresKeys]))
            #expect(found.allSatisfy { $0.what.english.contains(what ?? "-") && $0.what.english.contains("tty7") })
        }
        for isKeyboard in [true, false] {
            let found = try findings {
                $0.loginPrompt = ProcessEntry(pid: 31, name: "agetty", virtualTerminal: 1)
                $0.layoutDifferences = [LayoutDifference(meant: "z", given: "y")]
                $0.usesKeyboard = isKeyboard
            }
            #expect(found.map(\.cause) == (isKeyboard ? [.loginPromptInFront, .layoutDiffers] : []))
        }
        #expect(try findings { $0.console = nil }.isEmpty)
    }

    @Test("An adapter that does not exist: its selector, another program, and a serial controller are told apart")
    func absence() throws {
        let selector = AdapterSelector.index(ControllerIndex(rawValue: 7))
        let found = try findings { $0.selector = selector }
        #expect(found.map(\.what.english) == ["there is no adapter hci7; available: hci0 (00:AA:01:00:00:00)"])
        #expect(
            try findings { facts in
                (facts.selector, facts.adapters) = (selector, [])
                facts.otherServices = [ProcessEntry(pid: 12, name: "bluetoothd")]
            }.map(\.cause) == [.noAdapter, .otherBluetoothService]
        )
        for (hasDriver, state, command) in [
            (true, "did not start", "dmesg | grep -i -e bluetooth -e firmware"),
            (false, "has no driver", "modprobe hci_uart"),
        ] {
            let found = try findings {
                $0.adapters = []
                $0.serialControllers = [SerialDevice(name: "serial0", modalias: "acpi:BCM2E", hasDriver: hasDriver)]
            }
            #expect(found.map(\.command) == [command])
            #expect(found.first?.what.english.hasSuffix("serial0 (acpi:BCM2E) " + state) == true)
            #expect(found.first?.remedy.english.contains("btattach") == !hasDriver)
        }
        // With the user channel, the kernel does not manage the adapter of a running daemon.
        #expect(
            try findings {
                $0.usesKernelChannels = false
                $0.adapters = []
                $0.otherServices = [ProcessEntry(pid: 12, name: "bluetoothd"), ProcessEntry(pid: 13, name: "x")]
            }.map(\.what.english).allSatisfy { $0.contains("bluetoothd") && $0.contains("12") }
        )
    }

    @Test("A blocking finding explains the state of the daemon, but not its counts")
    func explained() throws {
        let found = try causes { status, facts in
            facts.adapters = []
            (status.state, status.lost) = (.failed, 1)
            status.pause = "by command"
            status.allows = "escape"
        }
        #expect(found == [.noAdapter, .paused, .bytesLost, .keysBeyondText])
        #expect(try findings { $0.kernel[.evdev] = .absent(nil) }.isEmpty)
    }

    @Test("As JSON: the version, the kernel's features and the library; the causes begin with the first")
    func objects() throws {
        var facts = SystemFacts()
        facts.kernel = [.management: .absent("x"), .rfkill: .present, .bluetooth: .unknown(nil)]
        let table = Doctor.table(facts)
        #expect(table.count == 3)
        #expect(table.first?.text == #"{"id":"bluetooth","since":"CONFIG_BT","state":"unknown"}"#)
        #expect(table.last?.text == #"{"id":"rfkill","since":"CONFIG_RFKILL","state":"present"}"#)
        #expect(
            table[1].text.hasPrefix(#"{"id":"mgmt","since":"3.4","state":"absent","error":"x","without":"#)
        )
        let object = Doctor.object([], kernel: Array(table.suffix(1)), mbedTLS: "3.6").text
        let row = #"{"id":"rfkill","since":"CONFIG_RFKILL","state":"present"}"#
        #expect(object == #"{"version":1,"status":0,"findings":[],"kernel":[\#(row)],"mbedTLS":"3.6"}"#)
        let first = #"{"version":1,"causes":[{"id":"kernel-without-bluetooth","what":"#
        let causes = Doctor.causesObject()
        #expect(causes.text.hasPrefix(first))
        let value = try JSONValue(Array(causes.text.utf8))
        for cause in value["causes"]?.array ?? [] {
            #expect(["id", "what", "why", "remedy"].allSatisfy { cause[$0]?.string?.isEmpty == false })
        }
    }

    @Test("The facts are those of a working machine until something is known")
    func defaults() throws {
        let facts = SystemFacts()
        #expect(facts.usesKernelChannels && facts.usesKernelController && facts.usesKeyboard && facts.hasEventNodes)
        #expect(facts.hasManager && !facts.watchesBeacons && facts.startCommand == "blewedge setup")
        #expect(facts.actsItself && !facts.isServiceInstalled && facts.sockets == .available)
        let entry = SystemFacts.Adapter(
            index: ControllerIndex(rawValue: 3),
            address: BluetoothAddress(rawValue: 1)
        )
        #expect(entry.name == "hci3" && entry.hasLowEnergy && entry.isPowered)
        #expect(!entry.isSoftBlocked && !entry.isHardBlocked)
        let status = SystemFacts.Status(state: .connected, pid: 7)
        #expect(!status.hasOtherOutput && status.received == 0 && status.lost == 0 && !status.isRadioUnusable)
    }
}
