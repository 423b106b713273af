// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import TestSupport
import Testing

@Suite struct GATTClientTests {
    private static let service = GATTService(handles: .all, uuid: GATTAttributeType.primaryService)

    @Test("T19: random hostile servers: every procedure ends within its bounds")
    func hostileServers() {
        let runs = RunCount.from("BLEWEDGE_HOSTILE_SERVERS", usual: RunCount.isOptimized ? 100_000 : 10_000)
        var histogram: [Int: Int] = [:]
        var most = 0
        var failed = 0
        var lively = 0
        var sum = 0
        var longest = Duration.zero
        for seed in 0..<UInt64(runs) {
            var run = GATTHostileRun(seed: seed)
            if let broken = run.run() { Issue.record("seed \(seed): \(broken)") }
            most = max(most, run.requests.max() ?? 0)
            let total = run.requests.reduce(0, +)
            sum += total
            histogram[total == 0 ? 0 : Int.bitWidth - total.leadingZeroBitCount, default: 0] += 1
            if total > 10 { lively += 1 }
            if run.client.failure != nil { failed += 1 }
            longest = max(longest, run.now)
        }
        let percent = lively * 100 / max(1, runs)
        print("T19: \(runs) hostile servers, \(sum) requests, \(lively) servers (\(percent) %) lived past ten of them")
        print("T19: \(failed) bearers failed, longest \(longest), most requests of a procedure \(most)")
        for (bits, count) in histogram.sorted(by: { $0.key < $1.key }) {
            let low = bits == 0 ? 0 : 1 << (bits - 1)
            print("T19: \(low)...\(bits == 0 ? 0 : (1 << bits) - 1) requests: \(count) servers")
        }
        #expect(percent >= 30)
        #expect(most > 256)
        #expect(most <= 1024)
        #expect(failed > runs / 100)
        #expect(failed < runs)
    }

    @Test("T19: a discovery that never ends stops at 512 attributes", arguments: [1, 2, 4, 5, 6, 9])
    func endless(kind: Int) throws {
        var client = GATTClient()
        let characteristic = GATTCharacteristic(
            declaration: AttributeHandle(2),
            valueHandle: AttributeHandle(3),
            end: .last,
            properties: .notify,
            uuid: GATTAttributeType.characteristic
        )
        switch kind {
        case 1: _ = try client.discoverPrimaryServices(now: .zero)
        case 2: _ = try client.discoverPrimaryServices(BluetoothUUID(UInt16(0x180A)), now: .zero)
        case 4: _ = try client.discoverCharacteristics(of: Self.service, now: .zero)
        case 5: _ = try client.discoverDescriptors(of: characteristic, now: .zero)
        case 6: _ = try client.subscribe(characteristic, now: .zero)
        default: _ = try client.read(BluetoothUUID(UInt16(0x2A00)), now: .zero)
        }
        #expect(Self.serve(&client) == 513)
        #expect(client.nextEvent()?.result == .failure(.tooManyAttributes(limit: 512)))
        #expect(client.isIdle)
        #expect(client.failure == nil)
        #expect(client.subscriptions.isEmpty)
    }

    @Test("T19: a procedure stops at its number of requests")
    func requestBudget() throws {
        var limits = GATTClient.Limits()
        limits.requests = 10
        var client = GATTClient(limits: limits)
        _ = try client.discoverIncludedServices(of: Self.service, now: .zero)
        #expect(Self.serve(&client) == 10)
        #expect(client.nextEvent()?.result == .failure(.tooManyRequests(limit: 10)))
        #expect(client.isIdle)
    }

    @Test("T19: a procedure stops when its time is over, however soon each answer comes")
    func timeBudget() throws {
        var limits = GATTClient.Limits()
        limits.procedureTime = .seconds(5)
        var client = GATTClient(limits: limits)
        _ = try client.discoverIncludedServices(of: Self.service, now: .zero)
        #expect(Self.serve(&client, after: .seconds(1)) == 6)
        #expect(client.nextEvent()?.result == .failure(.tookTooLong(limit: .seconds(5))))
        #expect(client.isIdle)
    }

    @Test("T19: a value that never ends stops at 4,096 bytes, and is refused by name")
    func endlessValue() throws {
        var client = GATTClient()
        _ = try client.readLong(AttributeHandle(3), now: .zero)
        #expect(Self.serve(&client, hasLongValues: true) == 187)
        #expect(client.nextEvent()?.result == .failure(.valueTooLong(limit: 4096)))
        #expect(GATTError.valueTooLong(limit: 4096).description == "value longer than 4096 bytes")
        _ = try client.exchangeMTU(now: .zero)
        let request = client.nextOutgoing()
        #expect(request == [0x02, 0x05, 0x02])
        // 4096 is a multiple of 257 - 1, so a value of exactly the maximum length ends without another request.
        _ = client.receive([0x03, 0x01, 0x01].span, now: .zero)
        #expect(client.nextEvent()?.result == .success(.mtu(257)))
        _ = try client.readLong(AttributeHandle(3), now: .zero)
        #expect(Self.serve(&client, hasLongValues: true) == 16)
        let event = client.nextEvent()
        #expect(try event?.result.get().count == 4096)
    }

    @Test(
        "A value of 512 bytes whose server says Invalid Offset behind it is whole; so is one of 513, read to its end"
    )
    func longestValue() throws {
        for (code, rest): (UInt8, [UInt8]?) in [(0x07, nil), (0x01, nil), (0x00, [0x42])] {
            var client = GATTClient(localMTU: 257)
            _ = client.receive([0x02, 0x01, 0x01].span, now: .zero)
            _ = client.nextOutgoing()
            _ = try client.readLong(AttributeHandle(3), now: .zero)
            for opcode: UInt8 in [0x0B, 0x0D] {
                #expect(client.nextOutgoing() != nil)
                let part = [opcode] + [UInt8](repeating: 0x41, count: 256)
                _ = client.receive(part.span, now: .zero)
            }
            #expect(client.nextOutgoing() == [0x0C, 0x03, 0x00, 0x00, 0x02])
            let answer: [UInt8] = rest.map { [0x0D] + $0 } ?? [0x01, 0x0C, 0x03, 0x00, code]
            _ = client.receive(answer.span, now: .zero)
            let event = client.nextEvent()
            let count = try? event?.result.get().count
            #expect(count == (code == 0x01 ? nil : 512 + (rest?.count ?? 0)))
        }
    }

    /// Simulates an honest server with endless data and a delay per response, until the client sends no more requests.
    ///
    /// Returns the number of requests.
    private static func serve(
        _ client: inout GATTClient,
        after time: Duration = .zero,
        hasLongValues: Bool = false
    ) -> Int {
        var server = GATTHostileServer(seed: 0)
        server.honesty = 100
        server.hasLongValues = hasLongValues
        var count = 0
        while let pdu = client.nextOutgoing(), count < 5000 {
            count += 1
            guard let answer = server.answers(to: pdu, mtu: Int(client.mtu)).last else { break }
            _ = client.receive(answer.span, now: time * count)
        }
        return count
    }

    @Test("T18: 64 procedures wait or have results that nobody took; one more is refused")
    func procedureQueue() throws {
        var client = GATTClient()
        for _ in 0..<64 { _ = try client.read(AttributeHandle(3), now: .zero) }
        #expect(throws: GATTError.queueFull(limit: 64)) { try client.read(AttributeHandle(3), now: .zero) }
        #expect(client.nextOutgoing() == [0x0A, 3, 0])
        #expect(client.nextOutgoing() == nil)
        _ = client.receive([0x0B].span, now: .zero)
        #expect(throws: GATTError.queueFull(limit: 64)) { try client.read(AttributeHandle(3), now: .zero) }
        #expect(client.nextEvent()?.result == .success(.value([])))
        _ = try client.read(AttributeHandle(3), now: .zero)
        client.close()
        var failures = 0
        while let event = client.nextEvent() {
            #expect(event.result == .failure(.bearer(.closed)))
            failures += 1
        }
        #expect(failures == 64)
    }

    @Test("A refused subscription leaves the one before as it was")
    func refusedSubscription() throws {
        var limits = GATTClient.Limits()
        limits.procedures = 1
        var client = GATTClient(limits: limits)
        let characteristic = GATTCharacteristic(
            declaration: AttributeHandle(2),
            valueHandle: AttributeHandle(3),
            end: AttributeHandle(4),
            properties: [.notify, .indicate],
            uuid: GATTAttributeType.characteristic
        )
        _ = try client.subscribe(characteristic, now: .zero)
        let before = client.subscriptions
        #expect(before.map { $0.kind } == [.notifications])
        #expect(throws: GATTError.queueFull(limit: 1)) {
            try client.subscribe(characteristic, kind: .indications, now: .zero)
        }
        #expect(client.subscriptions == before)
    }

    @Test("CB-11: reliable writes of 32 values of 512 bytes fit the requests at the smallest MTU; 33 are refused")
    func reliableBounds() throws {
        var client = GATTClient()
        let item = ATTPDU.HandleValue(handle: AttributeHandle(3), value: [UInt8](repeating: 7, count: 512))
        _ = try client.writeReliably([ATTPDU.HandleValue](repeating: item, count: 32), now: .zero)
        #expect(Self.serve(&client) == 32 * 29 + 1)
        #expect(client.nextEvent()?.result == .success(.done))
        #expect(throws: GATTError.tooManyAttributes(limit: 32)) {
            try client.writeReliably([ATTPDU.HandleValue](repeating: item, count: 33), now: .zero)
        }
        #expect(throws: GATTError.tooManyAttributes(limit: 32)) { try client.writeReliably([], now: .zero) }
        #expect(throws: GATTError.valueTooLong(limit: 512)) {
            try client.writeLong([UInt8](repeating: 0, count: 513), to: AttributeHandle(3), now: .zero)
        }
        #expect(throws: GATTError.self) { try client.read(.invalid, now: .zero) }
    }

    @Test("T21: 1,000,000 notifications leave nothing behind")
    func flood() {
        var client = GATTClient()
        let pdu: [UInt8] = [0x1B, 0x03, 0x00] + [UInt8](repeating: 0x31, count: 20)
        let told = GATTClient.Reception.value(ReceivedValue(handle: AttributeHandle(3), kind: .notifications))
        var heard = 0
        for _ in 0..<1_000_000
        where client.receive(pdu.span, now: .zero) == told { heard += 1 }
        #expect(heard == 1_000_000)
        #expect(client.nextOutgoing() == nil)
        #expect(client.nextEvent() == nil)
        #expect(client.deadline == nil)
    }
}
