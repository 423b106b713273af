// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import BluetoothHost
import HIDReports
import LinuxIO
import Rehearsal
import TestSupport
import Testing

@Suite("The reports of the simulated keyboard")
struct SimulatedKeyboardTests {
    /// Writes to the Client Characteristic Configuration of the input report, and to the output report, according to
    /// the layout of the database.
    private static let subscribe: [UInt8] = [0x12, 0x0C, 0x00, 0x01, 0x00]
    private static let unsubscribe: [UInt8] = [0x12, 0x0C, 0x00, 0x00, 0x00]
    private static let lights: [UInt8] = [0x52, 0x0F, 0x00, 0x02]

    /// Advertising keyboard, its lines, and its events.
    private final class Bench {
        let adapter = StubPeripheral()
        let loop: EventLoop
        private(set) var keyboard: SimulatedKeyboard?
        private(set) var sender: KeyReportSender?
        var lines: [String]
        private(set) var taken = 0
        private(set) var events: [String] = []

        init(_ lines: [String]) throws {
            self.lines = lines
            loop = try EventLoop()
            let radio = RadioArbiter(on: loop, using: adapter)
            let keyboard = try SimulatedKeyboard(name: "HID", on: radio) { [unowned self] event in take(event) }
            self.keyboard = keyboard
            sender = KeyReportSender(keyboard, on: loop) { [unowned self] in
                guard taken < self.lines.count else { return nil }
                defer { taken += 1 }
                return self.lines[taken]
            }
            try keyboard.start { _ in }
        }

        private func take(_ event: SimulatedKeyboard.Event) {
            switch event {
            case .connected, .disconnected: break
            case .subscribed(let isRestored):
                events.append(isRestored ? "restored" : "subscribed")
                sender?.pump()
            case .unsubscribed: events.append("unsubscribed")
            case .lights(let lights): events.append("lights \(lights)")
            }
        }

        /// Connects a central over an encrypted link.
        func connect(_ number: UInt64, isBonded: Bool = true) -> StubCentral {
            let central = adapter.connect(number)
            central.security = GATTLinkSecurity(level: .encrypted, keySize: 16, isBonded: isBonded)
            return central
        }
    }

    private static func reports(_ text: String) -> [[UInt8]] {
        var reports: [[UInt8]] = []
        _ = KeyReportEncoder().append(text.unicodeScalars, to: &reports)
        return reports
    }

    @Test("A full queue holds up the lines, bounded, and every report arrives in order when there is room again")
    func backPressure() throws {
        let lines = (0..<200).map { "line \($0)\r" }
        let bench = try Bench(lines)
        bench.sender?.pump()
        #expect(bench.taken == 0, "a line was read while there was nobody")
        let central = bench.connect(1)
        central.isWritable = false
        central.request(Self.subscribe)
        #expect(central.values.isEmpty && (1...10).contains(bench.taken))
        for _ in 0..<5 {
            central.isWritable = true
            central.isWritable = false
        }
        central.isWritable = true
        #expect(central.values == lines.flatMap(Self.reports))
        #expect(bench.sender?.lines == 200 && bench.keyboard?.counts.reports == central.values.count)
        #expect(bench.sender?.omitted == 0)
    }

    @Test("A line cut by the last subscriber's departure begins anew for the next one")
    func cutLine() throws {
        let line = String(repeating: "0123456789", count: 20) + "\r"
        let bench = try Bench([line])
        let first = bench.connect(1)
        first.isWritable = false
        first.request(Self.subscribe)
        first.onClosed?(.closedByPeer)
        #expect(bench.keyboard?.isSubscribed == false)
        let second = bench.connect(2)
        second.request(Self.subscribe)
        #expect(second.values == Self.reports(line) && bench.taken == 1)
    }

    @Test("A subscription is restored for the bonded central that made it, and for no other")
    func restored() throws {
        let bench = try Bench([])
        let first = bench.connect(1)
        first.request(Self.subscribe)
        first.onClosed?(.closedByPeer)
        // Any request shows the keyboard the security of the link.
        for (number, isBonded) in [(2, true), (1, false), (1, true)] as [(UInt64, Bool)] {
            let central = bench.connect(number, isBonded: isBonded)
            central.request([0x0A, 0x03, 0x00])
            let isRestored = number == 1 && isBonded
            #expect(bench.keyboard?.isSubscribed == isRestored, "\(number) \(isBonded)")
            if isRestored { central.request(Self.unsubscribe) }
            central.onClosed?(.closedByPeer)
        }
        #expect(bench.events == ["subscribed", "unsubscribed", "restored", "unsubscribed"])
        let last = bench.connect(1)
        last.request([0x0A, 0x03, 0x00])
        #expect(bench.keyboard?.isSubscribed == false, "the central has unsubscribed")
    }

    @Test("The subscriptions of 16 centrals are kept")
    func capacity() throws {
        let bench = try Bench([])
        for number in 1...17 as ClosedRange<UInt64> {
            let central = bench.connect(number)
            central.request(Self.subscribe)
            central.onClosed?(.closedByPeer)
        }
        for (number, isKept) in [(1, false), (2, true), (17, true)] as [(UInt64, Bool)] {
            let central = bench.connect(number)
            central.request([0x0A, 0x03, 0x00])
            #expect(bench.keyboard?.isSubscribed == isKept, "\(number)")
            central.onClosed?(.closedByPeer)
        }
    }

    @Test("LEDs written by a central are reported; without encryption, they are ignored")
    func lights() throws {
        let bench = try Bench([])
        let open = bench.adapter.connect(1)
        open.request(Self.lights)
        #expect(bench.events.isEmpty)
        bench.connect(2).request(Self.lights)
        #expect(bench.events == ["lights 2"])
    }

    @Test("Characters without a key are omitted and counted, and the line is typed without them")
    func omitted() throws {
        let bench = try Bench(["1é2\r", "é"])
        let central = bench.connect(1)
        central.request(Self.subscribe)
        #expect(central.values == Self.reports("12\r"))
        #expect(bench.sender?.omitted == 2 && bench.sender?.lines == 2)
    }
}
