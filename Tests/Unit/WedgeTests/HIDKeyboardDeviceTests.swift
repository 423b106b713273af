// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import BluetoothHost
import BluetoothPackets
import Configuration
import HIDReports
import Link
import LinuxIO
import TestSupport
import Testing

@testable import Rehearsal

/// The keyboard scanner of `memory:` and `simulate --hid`, as a HID host sees it.
@Suite("The simulated keyboard scanner", .virtualTime)
struct HIDKeyboardDeviceTests {
    private typealias Handles = KeyboardBench.Handles

    @Test("A host pairs, reads the map and the references, subscribes, and decodes the typed lines")
    func wholeWay() throws {
        let bench = try KeyboardBench { Barcodes.samples[$0] + "\r" }
        let bond = try bench.pair().get()
        #expect(bond.security == GATTLinkSecurity(level: .encrypted, keySize: 16, isBonded: true))
        #expect(!bond.isLegacy)
        try bench.connect()
        #expect(try bench.secure())
        guard case .value(let map) = try bench.read(Handles.map) else { throw TestFailure() }
        #expect(try ReportMap(map).reports.map { "\($0.kind) \($0.id) \($0.bits)" } == ["input 1 64", "output 1 8"])
        #expect(try bench.read(Handles.inputReference) == .value([0x01, 0x01]))
        #expect(try bench.read(Handles.outputReference) == .value([0x01, 0x02]))
        #expect(try bench.read(Handles.information) == .value([0x11, 0x01, 0x00, 0x03]))
        #expect(try bench.read(Handles.protocolMode) == .value([0x01]))
        #expect(try bench.read(Handles.pnpID) == .value([0x02, 0x09, 0x12, 0x01, 0x00, 0x00, 0x01]))
        #expect(try bench.read(Handles.batteryLevel) == .value([100]))
        #expect(try bench.write([0x01], to: Handles.output) == .done)
        #expect(try bench.subscribe() == .done)
        let start = MonotonicClock.now
        let text = Barcodes.samples[..<3].map { $0 + "\r" }.joined()
        try bench.run { bench.reports.count == 2 * text.utf8.count }
        #expect(try bench.text(map) == text)
        #expect(bench.reportHandle == Handles.input)
        #expect(bench.reports.last == KeyReportEncoder.release)
        let time = MonotonicClock.now - start
        #expect(time > KeyboardBench.period * 3 - .milliseconds(100) && time < KeyboardBench.period * 3 + .seconds(1))
    }

    @Test("Without encryption, every value and the subscription are refused")
    func refusals() throws {
        let bench = try KeyboardBench()
        for isBonded in [false, true] {
            if isBonded { _ = try bench.pair().get() }
            let error: ATTError = isBonded ? .insufficientEncryption : .insufficientAuthentication
            try bench.connect()
            for handle in Handles.readable { #expect(try bench.read(handle) == .refused(error), "\(handle)") }
            #expect(try bench.subscribe() == .refused(error))
            #expect(try bench.write([0x00], to: Handles.output) == .refused(error))
            try bench.wait(KeyboardBench.period * 2)
            #expect(bench.reports.isEmpty)
            try bench.disconnect()
        }
    }

    @Test("After a disconnection, the pending line follows the encryption without a request of the host")
    func reconnection() throws {
        let bench = try KeyboardBench()
        _ = try bench.pair().get()
        try bench.connect()
        #expect(try bench.secure())
        #expect(try bench.subscribe() == .done)
        try bench.run { bench.reports.count == 14 }
        #expect(try bench.text() == "line 0\r")
        for number in 1...3 {
            try bench.disconnect()
            try bench.wait(KeyboardBench.period * 2)
            try bench.connect()
            try bench.wait(.seconds(1))
            #expect(bench.reports.isEmpty, "a report was sent before the link was encrypted")
            #expect(try bench.secure())
            let start = MonotonicClock.now
            try bench.run { bench.reports.count == 14 }
            #expect(MonotonicClock.now - start < .seconds(1))
            #expect(try bench.text() == "line \(number)\r")
            #expect(bench.keyboard.keyboard?.counts.restored == number)
        }
        // The end of a subscription is kept too.
        #expect(try bench.write([0x00, 0x00], to: Handles.inputConfiguration) == .done)
        try bench.disconnect()
        try bench.connect()
        #expect(try bench.secure())
        let before = bench.reports.count
        try bench.wait(KeyboardBench.period * 2)
        #expect(bench.reports.count == before && bench.keyboard.keyboard?.counts.restored == 3)
    }

    @Test("A line that a disconnection cuts is typed again from its beginning")
    func cutLine() throws {
        // Longer than the queues between the keyboard and the central.
        let line = String(repeating: "0123456789", count: 100) + "\r"
        let bench = try KeyboardBench { _ in line }
        _ = try bench.pair().get()
        try bench.connect()
        #expect(try bench.secure())
        #expect(try bench.subscribe() == .done)
        try bench.run { bench.reports.count > 20 }
        try #require(bench.reports.count < line.utf8.count * 2)
        try bench.disconnect()
        try bench.connect()
        #expect(try bench.secure())
        var expected: [[UInt8]] = []
        _ = KeyReportEncoder().append(line.unicodeScalars, to: &expected)
        try bench.run { bench.reports.count >= expected.count }
        // The next line may have begun.
        #expect(Array(bench.reports.prefix(expected.count)) == expected)
    }

    @Test("The keyboard keeps its half of the bonds that an earlier program has stored, until they are forgotten")
    func earlierProgram() throws {
        let bond = try KeyboardBench().pair().get()
        let loop = try EventLoop()
        let rehearsal = Rehearsal(SimulatedCast([.hid]), on: loop)
        let core = rehearsal.core()
        var adapter: HostAdapter?
        core.onEvent = { event in if case .ready(let ready) = event { adapter = ready as? HostAdapter } }
        core.start()
        let keyboard = try #require(rehearsal.devices.first as? HIDKeyboardDevice)
        try #require(try loop.run { adapter != nil && keyboard.keyboard != nil })
        let central = try #require(adapter)
        for isKnown in [true, false, true] {
            central.use(isKnown ? [bond] : [])
            var result: Result<any ATTChannel, LinkFailure>?
            let attempt = try central.connect(to: KeyboardBench.device, timeout: .seconds(30)) { result = $0 }
            try #require(try withExtendedLifetime(attempt) { try loop.run { result != nil } })
            let channel = try #require(result).get()
            var isSecured: Bool?
            channel.secure(.encrypted, early: .zero) {
                if case .success = $0 { isSecured = true } else { isSecured = false }
            }
            try #require(try loop.run { isSecured != nil })
            #expect(isSecured == isKnown)
            channel.close()
            try #require(try loop.run { !central.isConnected && keyboard.core.adapter?.isConnected == false })
        }
        central.use([])
        let wish = PairingOptions(KeyboardBench.device, .noInputNoOutput, required: .encrypted, limit: .seconds(60))
        let pairing = central.makePairing(wish)
        var paired: Result<Bond, ManagedPairing.Failure>?
        pairing.onNews = { news in if case .ended(let result) = news { paired = result } }
        pairing.begin()
        try #require(try loop.run { paired != nil })
        #expect(try paired?.get().identityAddress == KeyboardBench.device)
        core.stop()
        central.close()
    }

    @Test("A paired keyboard refuses a host that pairs again")
    func secondPairing() throws {
        let bench = try KeyboardBench()
        _ = try bench.pair().get()
        bench.adapter.use([])
        guard case .failure = try bench.pair() else { throw TestFailure() }
    }

    // MARK: Faults

    @Test("With the fault no-encryption, an unpaired host reads the map and receives reports")
    func noEncryption() throws {
        let bench = try KeyboardBench(faults: [.noEncryption])
        try bench.connect()
        #expect(try bench.read(Handles.map) == .value(HIDKeyboardServices.reportMap))
        #expect(try bench.subscribe() == .done)
        try bench.run { bench.reports.count == 14 }
        #expect(try bench.text() == "line 0\r")
    }

    @Test("With the fault keep-key-down, only equal keys are released between them")
    func keepKeyDown() throws {
        let bench = try KeyboardBench(faults: [.keepKeyDown]) { _ in "aAbb1\r" }
        _ = try bench.pair().get()
        try bench.connect()
        #expect(try bench.secure())
        #expect(try bench.subscribe() == .done)
        try bench.run { bench.reports.count == 8 }
        #expect(bench.reports.count { $0 == KeyReportEncoder.release } == 2)
        #expect(try bench.text(repeatsOnShiftChange: true) == "aAbb1\r")
        #expect(try bench.text() == "abb1\r", "the decoder needs the setting for such a device")
    }

    @Test("With the fault forget-subscriptions, reports need a new subscription after a disconnection")
    func forgetSubscriptions() throws {
        let bench = try KeyboardBench(faults: [.forgetSubscriptions])
        _ = try bench.pair().get()
        for number in 0...1 {
            try bench.connect()
            #expect(try bench.secure())
            try bench.wait(KeyboardBench.period * 2)
            #expect(bench.reports.isEmpty)
            #expect(try bench.subscribe() == .done)
            try bench.run { bench.reports.count == 14 }
            #expect(try bench.text() == "line \(number)\r")
            try bench.disconnect()
        }
        #expect(bench.keyboard.keyboard?.counts.restored == 0)
    }

    @Test("With the fault short-map, reading the map fails half way, even with a large MTU of the host")
    func shortMap() throws {
        let bench = try KeyboardBench(faults: [.shortMap])
        _ = try bench.pair().get()
        try bench.connect()
        #expect(try bench.secure())
        let answer = try bench.ask { client, now throws(GATTError) in try client.exchangeMTU(now: now) }
        #expect(answer == .done && bench.link?.mtu == 23)
        #expect(try bench.read(Handles.map) == .refused(.unlikelyError))
        let part = try bench.ask { client, now throws(GATTError) in try client.read(Handles.map, now: now) }
        #expect(part == .value(Array(HIDKeyboardServices.reportMap.prefix(22))))
    }

    private struct TestFailure: Error {}
}
