// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import HIDHost
import HIDReports
import Testing

@Suite("Subscriptions of HID devices")
struct HIDSubscriptionsTests {
    /// Device with two keyboards, a mouse and Service Changed, and what it offers.
    private func bench(_ subscribe: GATTAccess = .open) throws -> (peer: HIDPeer, device: HIDDevice) {
        var input = HIDCharacteristic.input(0)
        input.definition.subscribe = subscribe
        var peer = try HIDPeer([
            (0x1812, [.map(HIDMaps.keyboard), input, .report(.output, reference: [0, 2])]),
            (0x1812, [.map(HIDMaps.mouse), input]),
            (0x1812, [.map(HIDMaps.other(0x01, 0x02, id: 1) + HIDMaps.keyboard(id: 2)), .input(1), .input(2)]),
            (0x1801, [HIDCharacteristic(0x2A05, .indicate, [])]),
        ])
        let services = peer.services.filter { $0.uuid != 0x1801 } + peer.services.suffix(1)
        let device = try #require(peer.discover(services).progress.device)
        peer.sent = []
        return (peer, device)
    }

    private static func write(_ handle: AttributeHandle?, _ value: UInt8) -> [UInt8] {
        let number = handle?.rawValue ?? 0
        return [0x12, UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8), value, 0]
    }

    @Test("All input reports of keyboards are subscribed to, then Service Changed is, and no mouse; the lights follow")
    func all() throws {
        var (peer, device) = try bench()
        #expect(peer.subscribe(device) == .done(refused: 0))
        let inputs = peer.handles(0x2A4D)
        let keyboards = [inputs[0], inputs[3], inputs[4]]
        let changed = peer.handles(0x2A05).last
        let light: [UInt8] = [0x52, UInt8(inputs[1].rawValue), 0, 1]
        #expect(peer.sent == keyboards.map { Self.write($0.next, 1) } + [Self.write(changed?.next, 2), light])
        #expect(keyboards.allSatisfy { peer.server.subscribers(of: $0).count == 1 })
        #expect(peer.server.subscribers(of: inputs[2]).isEmpty)
    }

    @Test("Refused writes are counted; a device that refuses all reports fails with the first error")
    func refused() throws {
        var (peer, device) = try bench(.encrypted)
        #expect(peer.subscribe(device) == .done(refused: 1))
        #expect(peer.sent.count == 5)
        for code: UInt8 in [0x05, 0x0F, 0x80] {
            var reports = 0
            peer.change = { request, response in
                guard request.opcode == .writeRequest else { return response }
                reports += 1
                return [0x01, 0x12, UInt8(reports), 0, code]
            }
            let error = GATTError.errorResponse(
                request: .writeRequest,
                handle: AttributeHandle(1),
                error: ATTError(rawValue: code)
            )
            #expect(peer.subscribe(device) == .failed(error))
            #expect(reports == 4)
            #expect(peer.subscribe(device, hasEarlier: true) == .done(refused: 4))
        }
        // Service Changed alone does not make a keyboard.
        let changed = Self.write(peer.handles(0x2A05).last?.next, 2)
        peer.sent = []
        var isChanged = false
        peer.change = { request, response in
            guard case .writeRequest(_, let value) = request, value == [1, 0] else {
                isChanged = true
                return response
            }
            return [0x01, 0x12, 0, 0, 0x0E]
        }
        guard case .failed = peer.subscribe(device) else {
            Issue.record("no failure")
            return
        }
        #expect(isChanged && peer.sent.last == changed)
    }

    @Test("A device without configuration descriptors needs no write")
    func unconfigured() throws {
        var (peer, device) = try bench()
        device.serviceChanged = nil
        for service in device.services.indices {
            for report in device.services[service].reports.indices {
                device.services[service].reports[report].configuration = nil
            }
        }
        #expect(peer.subscribe(device) == .done(refused: 0))
        #expect(peer.sent.map { $0[0] } == [0x52])
    }

    @Test("The lights of keyboards are written last, without a response: NumLock as set, and the others off")
    func lights() throws {
        let lights: [UInt8] = [0x05, 0x08, 0x09, 0x02, 0x09, 0x01, 0x15, 0, 0x25, 1, 0x75, 1, 0x95, 8, 0x91, 0x02]
        let reports: [HIDCharacteristic] = [
            .report(.output, reference: [3, 2]), .input(3), .report(.output, reference: [2, 2]), .input(2),
        ]
        let mouse = HIDMaps.mouse.dropLast() + lights + [0xC0]
        var peer = try HIDPeer([
            (0x1812, [.map(mouse), .report(.output, reference: [0, 2]), .input(0)]),
            (0x1812, [.map(HIDMaps.other(0x01, 0x02, id: 1) + HIDMaps.keyboard(id: 2))] + reports),
        ])
        let device = try #require(peer.discover().progress.device)
        let output = peer.handles(0x2A4D)[4]
        for numLock in [true, false] {
            peer.sent = []
            #expect(peer.subscribe(device, hasEarlier: true, numLock: numLock) == .done(refused: 0))
            #expect(peer.sent.count == 3 && peer.sent[..<2].allSatisfy { $0[0] == 0x12 })
            #expect(peer.sent.last == [0x52, UInt8(output.rawValue), 0, numLock ? 1 : 0])
            #expect(peer.server.value(of: output) == [numLock ? 1 : 0])
        }
        // A keyboard that refuses the subscriptions of a first link gets no lights.
        peer.change = { request, response in
            request.opcode == .writeRequest ? [0x01, 0x12, 0, 0, 0x05] : response
        }
        peer.sent = []
        guard case .failed = peer.subscribe(device) else {
            Issue.record("no failure")
            return
        }
        #expect(peer.sent.allSatisfy { $0[0] == 0x12 })
    }

    @Test("The lights of the boot protocol, and at most eight reports")
    func moreLights() throws {
        var boot = try HIDPeer([(0x1812, [.bootInput, .bootOutput])])
        let device = try #require(boot.discover().progress.device)
        #expect(boot.subscribe(device) == .done(refused: 0))
        #expect(boot.server.value(of: try #require(boot.handles(0x2A32).first)) == [1])
        var many = device
        many.services = Array(repeating: device.services[0], count: 9)
        boot.sent = []
        #expect(boot.subscribe(many) == .done(refused: 0))
        #expect(boot.sent.count { $0[0] == 0x52 } == 8)
    }

    @Test("Protocol Mode is written before the subscription of the boot protocol, on every connection")
    func bootProtocol() throws {
        var peer = try HIDPeer([(0x1812, [.protocolMode, .bootInput])])
        let device = try #require(peer.discover().progress.device)
        peer.sent = []
        #expect(peer.subscribe(device) == .done(refused: 0))
        let mode = try #require(peer.handles(0x2A4E).first)
        let configuration = peer.handles(0x2A22).first?.next
        #expect(peer.sent == [[0x52, UInt8(mode.rawValue), 0, 0], Self.write(configuration, 1)])
        #expect(peer.server.value(of: mode) == [0])
        // In the report protocol, the mode is not written.
        var keyboard = try HIDPeer(map: HIDMaps.keyboard, [.protocolMode, .input(0), .bootInput])
        let other = try #require(keyboard.discover().progress.device)
        keyboard.sent = []
        #expect(keyboard.subscribe(other) == .done(refused: 0))
        #expect(keyboard.sent.map { $0[0] } == [0x12])
    }

    @Test("The subscriptions end with the bearer, and events of other procedures are ignored")
    func failures() throws {
        var (peer, device) = try bench()
        _ = try peer.client.read(AttributeHandle(0xFFFF), now: .zero)
        #expect(peer.subscribe(device) == .done(refused: 0))
        #expect(peer.sent.count == 6)
        peer.client.close()
        var closed = HIDSubscriptions(device, numLock: true)
        guard case .failed(.bearer) = closed.begin(&peer.client, now: .zero) else {
            Issue.record("begun")
            return
        }
        var silent = try bench().peer
        silent.change = { _, _ in nil }
        guard case .failed(.bearer) = silent.subscribe(device) else {
            Issue.record("no failure")
            return
        }
        var last = try HIDPeer(map: HIDMaps.keyboard, [.input(0)])
        let lastDevice = try #require(last.discover().progress.device)
        last.change = { _, _ in nil }
        guard case .failed(.bearer) = last.subscribe(lastDevice, hasEarlier: true) else {
            Issue.record("no failure")
            return
        }
        var boot = try HIDPeer([(0x1812, [.protocolMode, .bootInput])])
        let bootDevice = try #require(boot.discover().progress.device)
        boot.client.close()
        guard case .failed(.bearer) = boot.subscribe(bootDevice) else {
            Issue.record("begun")
            return
        }
    }
}
