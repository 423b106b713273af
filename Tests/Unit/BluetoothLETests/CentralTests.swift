// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import LinuxIO
import Synchronization
import SystemPackage
import Testing

@testable import BluetoothAdapters
@testable import BluetoothLE
@testable import LinuxIO

@Suite(.timeLimit(.minutes(10))) struct CentralTests {
    /// Returns a central that is connected to the scripted device, and the device's battery level characteristic.
    private func connected() async throws -> (BluetoothAdapter, Peripheral, GATTCharacteristic) {
        let adapter = try await BluetoothAdapter.fake(Script.play)
        let peripheral = try await Central(adapter).connect(to: Script.device)
        let services = try await peripheral.discoverServices(Script.battery)
        let service = try #require(services.first)
        let found = try await peripheral.discoverCharacteristics(of: service)
        return (adapter, peripheral, try #require(found.first))
    }

    @Test("Connect, discover, read and write")
    func wholeWay() async throws {
        let (adapter, peripheral, level) = try await connected()
        #expect(await peripheral.mtu == 100)
        #expect(await peripheral.isConnected)
        let all = try await peripheral.discoverServices()
        #expect(all.map(\.uuid) == [Script.battery])
        let included = try await peripheral.discoverIncludedServices(of: try #require(all.first))
        #expect(included.isEmpty)
        #expect(level.uuid == Script.level && level.properties == [.read, .write, .notify])
        let descriptors = try await peripheral.discoverDescriptors(of: level)
        #expect(descriptors.map(\.uuid) == [GATTAttributeType.clientConfiguration])
        #expect(try await peripheral.read(level.valueHandle) == [0x64])
        #expect(try await peripheral.readLong(level.valueHandle) == [0x64])
        try await peripheral.write([0x2A], to: level.valueHandle)
        try await peripheral.writeWithoutResponse([0x2B], to: level.valueHandle)
        try await peripheral.writeLong([1, 2], to: level.valueHandle)
        try await peripheral.writeReliably([.init(handle: level.valueHandle, value: [1, 2])])
        let sent = try await adapter.fake { $0.channels[0].sent }
        #expect(sent.contains([0x52, 0x12, 0x00, 0x2B]))
        #expect(sent.count { $0 == [0x18, 0x01] } == 2)
    }

    @Test("A refusal has the device's reason, and a value that is too long never leaves")
    func refusals() async throws {
        let (_, peripheral, level) = try await connected()
        let refusal = GATTError.errorResponse(
            request: .readRequest,
            handle: AttributeHandle(0x0014),
            error: .readNotPermitted
        )
        await #expect(throws: BluetoothError.procedure(refusal)) { try await peripheral.read(AttributeHandle(0x0014)) }
        await #expect(throws: BluetoothError.procedure(.valueTooLong(limit: 97))) {
            try await peripheral.write([UInt8](repeating: 0, count: 98), to: level.valueHandle)
        }
    }

    @Test("CB-6: an attempt continues after a time-out, and fails after an error that a retry cannot change")
    func attempts() async throws {
        let adapter = try await BluetoothAdapter.fake { adapter in
            Script.play(adapter)
            adapter.attempts = [.timedOut(.seconds(1)), .system(.connectionRefused)]
        }
        let peripheral = try await Central(adapter).connect(to: Script.device)
        #expect(await peripheral.isConnected)
        #expect(try await adapter.fake { $0.begun } == 3)
        await peripheral.disconnect()
        try await adapter.fake { $0.attempts = [.system(.permissionDenied)] }
        let error = await #expect(throws: BluetoothError.self) { try await Central(adapter).connect(to: Script.device) }
        guard case .connectionFailed(.system) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("Cancelling the task cancels the attempt, and the next one succeeds")
    func cancellation() async throws {
        let adapter = try await BluetoothAdapter.fake { adapter in
            Script.play(adapter)
            adapter.attempts = [nil]
        }
        let central = Central(adapter)
        let task = Task { try await central.connect(to: Script.device) }
        #expect(try await adapter.until { $0.begun >= 1 })
        task.cancel()
        await #expect(throws: BluetoothError.cancelled) { try await task.value }
        #expect(try await adapter.fake { $0.cancelled } == 1)
        #expect(try await adapter.fake { $0.disconnected } == [Script.device])
        try await central.connect(to: Script.device)
        #expect(await central.connectedDevices == [Script.device])
    }

    @Test("A connection that is not made in time is given up, and the attempt ends; without a limit it waits")
    func timeout() async throws {
        let adapter = try await BluetoothAdapter.fake { adapter in
            Script.play(adapter)
            adapter.attempts = Array(repeating: nil, count: 100)
        }
        let central = Central(adapter)
        // Long enough for the attempt to start even on a busy machine.
        await #expect(throws: BluetoothError.timedOut) {
            try await central.connect(to: Script.device, timeout: .milliseconds(200))
        }
        #expect(try await adapter.fake { [$0.begun, $0.cancelled] } == [1, 1])
        // The attempt continues for a second caller with a longer time-out when the first one times out.
        let patient = Task { try await central.connect(to: Script.device) }
        #expect(try await adapter.until { $0.begun >= 2 })
        await #expect(throws: BluetoothError.timedOut) {
            try await central.connect(to: Script.device, timeout: .milliseconds(200))
        }
        // On a busy machine the attempt may have been renewed; one is always in progress.
        #expect(try await adapter.until { $0.begun - $0.cancelled == 1 })
        patient.cancel()
        await #expect(throws: BluetoothError.cancelled) { try await patient.value }
        try await adapter.fake { $0.attempts = [] }
        let peripheral = try await central.connect(to: Script.device, timeout: .seconds(60))
        #expect(await peripheral.isConnected)
    }

    @Test("By its UUID a characteristic is found once in a connection, read, written and subscribed to")
    func byUUID() async throws {
        let adapter = try await BluetoothAdapter.fake(Script.play)
        let peripheral = try await Central(adapter).connect(to: Script.device)
        #expect(try await peripheral.read(.batteryLevel, of: .battery) == [0x64])
        let before = try await adapter.fake { $0.channels[0].sent.count }
        #expect(try await peripheral.read(.batteryLevel, of: .battery) == [0x64])
        try await peripheral.write([0x2A], to: .batteryLevel, of: .battery)
        #expect(
            try await adapter.fake { Array($0.channels[0].sent.dropFirst(before)) }
                == [[0x0A, 0x12, 0x00], [0x12, 0x12, 0x00, 0x2A]]
        )
        // The search without a service covers all services; missing characteristics and services are reported.
        let values = try await peripheral.subscribe(to: .batteryLevel)
        try await adapter.fake { $0.channels[0].deliver([0x1B, 0x12, 0x00, 7]) }
        var iterator = values.makeAsyncIterator()
        #expect(try await iterator.next() == [7])
        await #expect(throws: BluetoothError.noCharacteristic(.report, service: nil)) {
            try await peripheral.read(.report)
        }
        try await adapter.fake { $0.answers.merge(Script.withoutHeartRate) { _, new in new } }
        await #expect(throws: BluetoothError.noCharacteristic(.batteryLevel, service: .heartRate)) {
            try await peripheral.write([1], to: .batteryLevel, of: .heartRate)
        }
        // After a reconnection, the characteristic is discovered again.
        await peripheral.disconnect()
        await #expect(throws: BluetoothError.notConnected) { try await peripheral.read(.batteryLevel, of: .battery) }
        try await Central(adapter).connect(to: Script.device)
        #expect(try await peripheral.read(.batteryLevel, of: .battery) == [0x64])
        let sent = try await adapter.fake { $0.channels[1].sent }
        #expect(sent.contains([0x06, 0x01, 0x00, 0xFF, 0xFF, 0x00, 0x28, 0x0F, 0x18]))
    }

    @Test(
        "By its UUID a value is written as the characteristic has it: unconfirmed where there is no other way, long where it is long"
    )
    func writingByUUID() async throws {
        let adapter = try await BluetoothAdapter.fake { adapter in
            Script.play(adapter)
            // With an MTU of 23, 20 bytes fit; a value of 21 bytes needs prepared writes.
            adapter.answers[[0x02, 0x05, 0x02]] = [0x03, 0x17, 0x00]
            let (first, last) = ([UInt8](0..<18), [UInt8](18..<21))
            adapter.answers[[0x16, 0x12, 0x00, 0x00, 0x00] + first] = [0x17, 0x12, 0x00, 0x00, 0x00] + first
            adapter.answers[[0x16, 0x12, 0x00, 0x12, 0x00] + last] = [0x17, 0x12, 0x00, 0x12, 0x00] + last
            adapter.answers[[0x12, 0x12, 0x00] + [UInt8](0..<20)] = [0x13]
        }
        let peripheral = try await Central(adapter).connect(to: Script.device)
        try await peripheral.write([UInt8](0..<20), to: .batteryLevel, of: .battery)
        #expect(try await adapter.fake { $0.channels[0].sent.last?.first } == 0x12)
        try await peripheral.write([UInt8](0..<21), to: .batteryLevel, of: .battery)
        #expect(try await adapter.fake { $0.channels[0].sent.last } == [0x18, 0x01])
        await peripheral.disconnect()
        // The properties in the declaration: only Write Without Response.
        let declaration: [UInt8] = [0x09, 0x07, 0x11, 0x00, 0x04, 0x12, 0x00, 0x19, 0x2A]
        try await adapter.fake { $0.answers[[0x08, 0x10, 0x00, 0x14, 0x00, 0x03, 0x28]] = declaration }
        try await Central(adapter).connect(to: Script.device)
        try await peripheral.write([9], to: .batteryLevel, of: .battery)
        #expect(try await adapter.fake { $0.channels[1].sent.last } == [0x52, 0x12, 0x00, 9])
    }

    @Test("The device's name is read from it, and its signal strength is the controller's")
    func nameAndStrength() async throws {
        let adapter = try await BluetoothAdapter.fake { adapter in
            Script.play(adapter)
            adapter.answers.merge(Script.genericAccess) { _, new in new }
        }
        let peripheral = try await Central(adapter).connect(to: Script.device)
        #expect(try await peripheral.name().printable == "Sca")
        #expect(await peripheral.rssi == nil)
        try await adapter.fake { $0.quality = LinkQuality(rssi: -71) }
        #expect(await peripheral.rssi == -71)
        await peripheral.disconnect()
        #expect(await peripheral.rssi == nil)
    }

    @Test("Of two that wait for one device, the one that is cancelled leaves the attempt to the other")
    func oneOfTwoCancelled() async throws {
        let adapter = try await BluetoothAdapter.fake { $0.attempts = [nil] }
        #expect(try await adapter.cancelsTwoWaiters() == [1, 0, 1])
    }

    @Test("A pending connection attempt fails when the adapter is lost")
    func adapterLostWhileWaiting() async throws {
        let adapter = try await BluetoothAdapter.fake { $0.attempts = [nil] }
        let task = Task { try await Central(adapter).connect(to: Script.device) }
        #expect(try await adapter.until { $0.begun >= 1 })
        try await adapter.fake { $0.onLoss?(.removed("fake0")) }
        let lost = BluetoothError.unavailable(.resetting, cause: "fake0 was removed", remedy: "plug it in again")
        await #expect(throws: lost) { try await task.value }
    }

    @Test(
        "CB-14: known devices are those connected or attempted, connected devices those with a link, sorted by address"
    )
    func knownDevices() async throws {
        let adapter = try await BluetoothAdapter.fake(Script.play)
        let central = Central(adapter)
        #expect(await central.knownDevices == [])
        #expect(await central.connectedDevices == [])
        let devices = [1, 2, 3].map { number in
            DeviceAddress(BluetoothAddress(rawValue: 0xC000_0000_0000 | number), .random)
        }
        let third = try await central.connect(to: devices[2])
        try await central.connect(to: devices[0])
        #expect(await central.connectedDevices == [devices[0], devices[2]])
        try await adapter.fake { $0.attempts = [.system(.permissionDenied)] }
        await #expect(throws: BluetoothError.self) { try await central.connect(to: devices[1]) }
        #expect(await central.knownDevices == devices)
        #expect(await central.connectedDevices == [devices[0], devices[2]])
        await third.disconnect()
        try await adapter.fake { $0.channels[1].lose(.system(.timedOut)) }
        #expect(await central.connectedDevices == [])
        #expect(await central.knownDevices == devices)
    }

    @Test("CB-14: a saved address identifies its device, and devices connected by other programs are listed")
    func devicesOfOthers() async throws {
        let adapter = try await BluetoothAdapter.fake(Script.play)
        let central = Central(adapter)
        let kept = "\(Script.device)"
        let device = try #require(DeviceAddress(kept))
        #expect(device == Script.device)
        let noDevices = ["", "F0:F1:F2:F3:F4:F5", "F0:F1:F2:F3:F4:F5 (odd)", kept + " ", " " + kept, kept.lowercased()]
        #expect(noDevices.compactMap { DeviceAddress($0) } == [])
        #expect(try await central.connect(to: device).isConnected)
        let others = DeviceAddress(BluetoothAddress(rawValue: 0x00AA_0100_0001), .public)
        try await adapter.fake { $0.connections = [device, others] }
        #expect(await central.connectedDevices == [device])
        #expect(try await central.allConnectedDevices() == [others, device])
        try await adapter.fake { $0.connections = nil }
        let failure = await #expect(throws: BluetoothError.self) { try await central.allConnectedDevices() }
        guard case .unavailable(_, _, "run the program with CAP_NET_ADMIN")? = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
    }

    @Test("CB-13: a link that breaks while a read waits ends the read with the reason, and is reported")
    func brokenLink() async throws {
        let (adapter, peripheral, _) = try await connected()
        let events = await peripheral.connectionEvents()
        // The script does not answer this request.
        let task = Task { try await peripheral.read(AttributeHandle(0x0099)) }
        #expect(try await adapter.until { $0.channels[0].sent.last == [0x0A, 0x99, 0x00] })
        try await adapter.fake { $0.channels[0].lose(.system(.timedOut)) }
        await #expect(throws: BluetoothError.disconnected(.outOfReach)) { try await task.value }
        var iterator = events.makeAsyncIterator()
        #expect(try await iterator.next() == .disconnected(.outOfReach))
        #expect(await !peripheral.isConnected)
        await #expect(throws: BluetoothError.notConnected) { try await peripheral.read(AttributeHandle(0x0012)) }
    }

    @Test("Disconnecting ends what waits, and the reason is this side's wish")
    func disconnecting() async throws {
        let (adapter, peripheral, _) = try await connected()
        let task = Task { try await peripheral.read(AttributeHandle(0x0099)) }
        #expect(try await adapter.until { $0.channels[0].sent.last == [0x0A, 0x99, 0x00] })
        await peripheral.disconnect()
        await #expect(throws: BluetoothError.disconnected(.requested)) { try await task.value }
        #expect(try await adapter.fake { $0.channels[0].isClosed })
        #expect(try await adapter.fake { $0.disconnected } == [Script.device])
    }

    @Test("A cancelled read stops waiting at once; the connection stays, and the next answer is not its")
    func cancelledRead() async throws {
        let (adapter, peripheral, level) = try await connected()
        let task = Task { try await peripheral.read(AttributeHandle(0x0099)) }
        #expect(try await adapter.until { $0.channels[0].sent.last == [0x0A, 0x99, 0x00] })
        task.cancel()
        await #expect(throws: BluetoothError.cancelled) { try await task.value }
        try await adapter.fake { $0.channels[0].deliver([0x0B, 0x01]) }
        #expect(try await peripheral.read(level.valueHandle) == [0x64])
    }

    @Test("D-15: values come in order, as many as fit; what does not fit is counted")
    func boundedValues() async throws {
        let (adapter, peripheral, level) = try await connected()
        let values = try await peripheral.subscribe(to: level, capacity: 4)
        try await adapter.fake { adapter in
            for number in 0..<10 { adapter.channels[0].deliver([0x1B, 0x12, 0x00, UInt8(number)]) }
        }
        #expect(values.dropped == 6)
        var iterator = values.makeAsyncIterator()
        for number in 0..<4 { #expect(try await iterator.next() == [UInt8(number)]) }
        try await peripheral.unsubscribe(from: level)
        #expect(try await iterator.next() == nil)
        #expect(try await adapter.fake { $0.channels[0].sent.last } == [0x12, 0x13, 0x00, 0x00, 0x00])
    }

    @Test("D-15: a sink has each value in place, before the next one")
    func sink() async throws {
        let (adapter, peripheral, level) = try await connected()
        let total = Total()
        try await peripheral.subscribe(to: level) { value in total.add(Int(value[0])) }
        let seen = try await adapter.fake { adapter in
            adapter.channels[0].deliver([0x1B, 0x12, 0x00, 40])
            // The device may choose between notifications and indications (D-36).
            adapter.channels[0].deliver([0x1D, 0x12, 0x00, 2])
            // A value of another handle does not belong to this subscription.
            adapter.channels[0].deliver([0x1B, 0x15, 0x00, 100])
            return total.value
        }
        #expect(seen == 42)
    }

    @Test("D-36: a characteristic without a configuration is subscribed to all the same, and nothing is written")
    func noConfiguration() async throws {
        let (adapter, peripheral, level) = try await connected()
        try await adapter.fake { $0.answers[[0x04, 0x13, 0x00, 0x14, 0x00]] = [0x01, 0x04, 0x13, 0x00, 0x0A] }
        let values = try await peripheral.subscribe(to: level)
        try await adapter.fake { $0.channels[0].deliver([0x1B, 0x12, 0x00, 7]) }
        var iterator = values.makeAsyncIterator()
        #expect(try await iterator.next() == [7])
        try await peripheral.unsubscribe(from: level)
        #expect(try await iterator.next() == nil)
        #expect(try await adapter.fake { $0.channels[0].sent.allSatisfy { $0.first != 0x12 } })
    }

    @Test("A device that hangs up when it is asked for its MTU is not asked on the next connection, once")
    func noExchange() async throws {
        let adapter = try await BluetoothAdapter.fake { fake in
            Script.play(fake)
            fake.answers[[0x02, 0x05, 0x02]] = nil
        }
        let central = Central(adapter)
        for turn in [0, 2] {
            let attempt = Task { try await central.connect(to: Script.device) }
            #expect(try await adapter.until { $0.channels.count == turn + 1 && !$0.channels[turn].sent.isEmpty })
            #expect(try await adapter.fake { $0.channels[turn].sent } == [[0x02, 0x05, 0x02]])
            try await adapter.fake { $0.channels[turn].lose(.system(.connectionReset)) }
            await #expect(throws: BluetoothError.self) { try await attempt.value }
            let peripheral = try await central.connect(to: Script.device)
            #expect(await peripheral.mtu == 23)
            #expect(try await adapter.fake { $0.channels[turn + 1].sent.isEmpty })
            try await adapter.fake { $0.channels[turn + 1].lose(.system(.connectionReset)) }
        }
    }

    @Test("A reader that goes away ends the subscription")
    func abandonedReader() async throws {
        let (adapter, peripheral, level) = try await connected()
        let values = try await peripheral.subscribe(to: level)
        let task = Task { for try await _ in values {} }
        task.cancel()
        try await task.value
        #expect(try await adapter.until { $0.channels[0].sent.last == [0x12, 0x13, 0x00, 0x00, 0x00] })
    }

    @Test("The subscription is made again on the next connection, and the sequence goes on")
    func resubscription() async throws {
        let (adapter, peripheral, level) = try await connected()
        let values = try await peripheral.subscribe(to: level)
        try await adapter.fake { adapter in
            adapter.channels[0].deliver([0x1B, 0x12, 0x00, 0x01])
            adapter.channels[0].lose(.system(.connectionReset))
        }
        try await Central(adapter).connect(to: Script.device)
        let sent = try await adapter.fake { $0.channels[1].sent }
        #expect(sent.last == [0x12, 0x13, 0x00, 0x01, 0x00])
        // The characteristic is found again by the UUIDs, because handles may have changed.
        #expect(sent.contains([0x06, 0x01, 0x00, 0xFF, 0xFF, 0x00, 0x28, 0x0F, 0x18]))
        try await adapter.fake { $0.channels[1].deliver([0x1B, 0x12, 0x00, 0x02]) }
        var iterator = values.makeAsyncIterator()
        #expect(try await iterator.next() == [0x01])
        #expect(try await iterator.next() == [0x02])
        withExtendedLifetime(peripheral) {}
    }

    @Test("A link that was not established and is replaced is not reported as a second connection")
    func replacedLink() async throws {
        let (adapter, peripheral, level) = try await connected()
        let values = try await peripheral.subscribe(to: level)
        let events = await peripheral.connectionEvents()
        try await adapter.fake { $0.channels[0].lose(.notEstablished) }
        // The subscription is renewed on the second link, and the read ends after that.
        let renewal: [UInt8] = [0x12, 0x13, 0x00, 0x01, 0x00]
        #expect(try await adapter.until { $0.channels.count == 2 && $0.channels[1].sent.last == renewal })
        #expect(try await peripheral.read(level.valueHandle) == [0x64])
        #expect(await peripheral.isConnected)
        await peripheral.disconnect()
        var iterator = events.makeAsyncIterator()
        #expect(try await iterator.next() == .disconnected(.requested))
        try await Central(adapter).connect(to: Script.device)
        #expect(try await iterator.next() == .connected)
        withExtendedLifetime(values) {}
    }

    @Test("A characteristic that neither notifies nor indicates is refused")
    func notSubscribable() async throws {
        let (_, peripheral, level) = try await connected()
        var silent = level
        silent.properties = [.read]
        await #expect(throws: BluetoothError.procedure(.notSubscribable(level.valueHandle))) {
            try await peripheral.subscribe(to: silent)
        }
    }
}

/// Sum to which a sink adds values.
private final class Total: Sendable {
    private let sum = Atomic<Int>(0)
    var value: Int { sum.load(ordering: .relaxed) }
    func add(_ number: Int) { sum.add(number, ordering: .relaxed) }
}

extension BluetoothAdapter {
    /// Cancels two callers that wait for one connection, immediately after each other.
    ///
    /// Returns the number of attempts started, and of attempts cancelled after the first and after the second caller.
    fileprivate func cancelsTwoWaiters() throws -> [Int] {
        let central = roles.value.central
        let waiters = try (1...2).map { _ in try central.connect(Script.device, nil, .none, Reply<Void>()) }
        let begun = try fake(\.begun)
        return try [begun]
            + waiters.map { waiter in
                central.peripheral(Script.device).cancel(waiter)
                return try fake(\.cancelled)
            }
    }
}
