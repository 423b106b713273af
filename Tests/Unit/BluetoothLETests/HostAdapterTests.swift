// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import BluetoothPackets
import ConformanceSupport
import Glibc
import LinuxIO
import TestSupport
import Testing
import VirtualAdapters
import VirtualRadio

@Suite("Our own host on an event loop", .timeLimit(.minutes(10)))
struct HostAdapterTests {
    private static let address = BluetoothAddress(rawValue: 0xC0FF_EE00_0001)

    private typealias Opening = (outcome: Result<HostAdapter, AdapterError>, time: Duration)

    /// Opens an adapter over each transport concurrently, and measures the times.
    private func openings(on loop: EventLoop, _ transports: [any PacketTransport]) throws -> [Opening] {
        let adapters = transports.map { HostAdapter(name: "test", transport: $0, on: loop) }
        var openings = [Opening?](repeating: nil, count: adapters.count)
        let start = MonotonicClock.now
        for (index, adapter) in adapters.enumerated() {
            adapter.start { openings[index] = ($0.map { adapter }, MonotonicClock.now - start) }
            #expect(openings[index] == nil, "never from within")
        }
        #expect(try loop.run { openings.allSatisfy { $0 != nil } })
        return openings.compactMap(\.self)
    }

    private func opening(on loop: EventLoop, _ transport: any PacketTransport) throws -> Opening {
        try openings(on: loop, [transport])[0]
    }

    private func cause(_ outcome: Result<HostAdapter, AdapterError>) -> String? {
        if case .failure(let error) = outcome { error.cause } else { nil }
    }

    @Test("A controller at the end of a stream is brought up", arguments: StreamKind.allCases)
    func bringUp(_ kind: StreamKind) throws {
        let loop = try EventLoop()
        let radio = MemoryRadio(on: loop)
        let lines = H4Lines()
        let controller = radio.addController(Self.address)
        let (outcome, _) = try opening(on: loop, try lines.connect(controller, kind, on: loop))
        let adapter = try outcome.get()
        #expect(adapter.address == Self.address)
        adapter.close()
    }

    @Test("An adapter whose controller has no address of its own says that it does not keep one")
    func lastingAddress() throws {
        for (address, isKept) in [(Self.address, true), (BluetoothAddress(rawValue: 0), false)] {
            let loop = try EventLoop()
            let radio = MemoryRadio(on: loop)
            let lines = H4Lines()
            let controller = radio.addController(address)
            let adapter = try opening(on: loop, try lines.connect(controller, .unixSocket, on: loop)).0.get()
            #expect(adapter.keepsAddress == isKept)
            adapter.close()
        }
    }

    /// Transport that loses the first packet.
    private final class LateTransport: PacketTransport {
        private let way: any PacketTransport
        private var sent = 0
        let droppedBytes: UInt64 = 7

        init(_ way: any PacketTransport) { self.way = way }

        var onReceive: ((Span<UInt8>) -> Void)? {
            get { way.onReceive }
            set { way.onReceive = newValue }
        }
        var onClosed: ((String) -> Void)? {
            get { way.onClosed }
            set { way.onClosed = newValue }
        }

        func send(_ packet: [UInt8]) {
            sent += 1
            if sent > 1 { way.send(packet) }
        }

        func close() { way.close() }
    }

    @Test("Counts of controller recoveries survive the loss of the adapter")
    func counts() throws {
        let loop = try EventLoop()
        let radio = MemoryRadio(on: loop)
        let adapter = try opening(on: loop, LateTransport(radio.addController(Self.address))).0.get()
        var expected = ControllerCounts()
        expected.repeatedResets = 1
        expected.droppedBytes = 7
        let arbiter = RadioArbiter(on: loop, using: adapter)
        #expect(arbiter.counts.controllers == expected)
        arbiter.lose(.removed("test"))
        #expect(arbiter.counts.controllers == expected)
        arbiter.use(adapter)
        #expect(arbiter.counts.controllers.repeatedResets == 2 && arbiter.counts.controllers.droppedBytes == 14)
        adapter.close()
    }

    @Test("Bad input: a stream of garbage, and one that ends, is a typed error in bounded time")
    func garbage() throws {
        let streams: [[UInt8]] = [[0x00], Array("HTTP/1.1 400 Bad Request\r\n".utf8), [0x04, 0x0E, 0x04, 0x01]]
        let loop = try EventLoop()
        var peers: [H4Peer] = []
        let transports = try streams.map { bytes in
            let listener = try H4Listener(.unixSocket)
            let transport = try H4StreamTransport(to: listener.address, on: loop)
            let peer = try listener.accept(on: loop)
            peers.append(peer)
            peer.send(bytes)
            if bytes[0] == 0x04 { peer.hangUp() }
            return transport
        }
        for (bytes, opening) in zip(streams, try openings(on: loop, transports)) {
            // Everything before the answer to Reset is discarded and counted.
            let words =
                bytes[0] == 0x04 ? "ended before Reset was answered" : "\(bytes.count) bytes came that are no answer"
            #expect(cause(opening.outcome)?.contains(words) == true, "\(opening)")
            #expect(opening.time < (bytes[0] == 0x04 ? .seconds(1) : .seconds(4)))
        }
        withExtendedLifetime(peers) {}
    }

    @Test(
        "Bad input: a controller that refuses, garbles, or forgets the answer to a command, or breaks, is a typed error in bounded time",
        arguments: [HCIOpcode.reset, .readBDADDR, .leReadBufferSize, .leSetEventMask]
    )
    func faults(_ opcode: HCIOpcode) throws {
        let faults: [(fault: CommandFault, words: String)] = [
            (.refuse(.unknownHCICommand), "was refused"), (.drop, "was not answered"),
            (.hardwareError(code: 0x42), "0x42"), (.corrupt(offset: 1, mask: 0xFF), "was not answered"),
        ]
        let loop = try EventLoop()
        let (radio, lines) = (MemoryRadio(on: loop), H4Lines())
        let transports = try faults.map { fault, _ in
            let controller = radio.addController(Self.address)
            controller.controller.inject(fault, into: opcode)
            return try lines.connect(controller, on: loop)
        }
        for ((fault, words), opening) in zip(faults, try openings(on: loop, transports)) {
            // A fault reported before the answer to Reset is discarded like everything else.
            let expected = opcode == .reset && words == "0x42" ? "was not answered" : words
            #expect(cause(opening.outcome)?.contains(expected) == true, "\(opcode) \(fault)")
            #expect(opening.time < .seconds(4))
        }
    }

    /// Connection of an adapter, and a function that sends packets in place of its controller, given the connection's
    /// handle.
    private struct Linked {
        let adapter: HostAdapter
        let other: HostAdapter
        let channel: any ATTChannel
        let say: ((_ handle: [UInt8]) -> [UInt8]) -> Void

        func close() {
            adapter.close()
            other.close()
        }
    }

    private func linked() throws -> Linked {
        let loop = try EventLoop()
        let radio = MemoryRadio(on: loop, speed: 20)
        let controller = radio.addController(Self.address)
        let adapter = try opening(on: loop, controller).0.get()
        let other = try opening(on: loop, radio.addController(BluetoothAddress(rawValue: 0xC0FF_EE00_0002))).0.get()
        var handle: [UInt8] = []
        let forward = controller.onReceive
        controller.onReceive = { packet in
            // LE Connection Complete or LE Enhanced Connection Complete.
            let isConnection = packet.count > 6 && packet[1] == 0x3E && [0x01, 0x0A].contains(packet[3])
            if isConnection { handle = [packet[5], packet[6]] }
            forward?(packet)
        }
        other.advertise(
            Advertisement(data: [], interval: .milliseconds(20)),
            onConnection: { _ in },
            completion: { _ in }
        )
        var made: (any ATTChannel)?
        _ = try adapter.connect(to: DeviceAddress(other.address, .public), timeout: .seconds(10)) { result in
            made = try? result.get()
            loop.stop()
        }
        try loop.run()
        return Linked(adapter: adapter, other: other, channel: try #require(made)) { packet in
            let bytes = packet(handle)
            forward?(bytes.span)
        }
    }

    @Test("D-35: a channel knows its link's timing from the beginning, and tells of each change that was carried out")
    func timing() throws {
        let linked = try linked()
        #expect((12...24).contains(linked.channel.timing?.interval ?? 0))
        var told: [ConnectionTiming] = []
        linked.channel.onTiming = { told.append($0) }
        for status: UInt8 in [0x3B, 0x00] {
            linked.say { handle in [0x04, 0x3E, 10, 0x03, status] + handle + [0x40, 0x01, 2, 0, 0x58, 0x02] }
        }
        let changed = ConnectionTiming(interval: 320, latency: 2, supervisionTimeout: 600)
        #expect(told == [changed] && linked.channel.timing == changed)
        linked.close()
    }

    @Test("A frame that is too long to be a value is counted, and the next one is taken")
    func longFrame() throws {
        let linked = try linked()
        var values: [[UInt8]] = []
        linked.channel.onReceive = { pdu in values.append([UInt8](copying: pdu)) }
        func frame(_ count: Int) {
            let pdu = [0x1B, 3, 0] + [UInt8](repeating: 0x41, count: count)
            let frame = [UInt8(pdu.count & 0xFF), UInt8(pdu.count >> 8), 4, 0] + pdu
            linked.say { handle in
                [0x02, handle[0], handle[1] | 0x20, UInt8(frame.count & 0xFF), UInt8(frame.count >> 8)] + frame
            }
        }
        frame(1022)
        #expect(linked.adapter.controllerCounts.badFrames == 1 && values.isEmpty)
        frame(1021)
        #expect(linked.adapter.controllerCounts.badFrames == 1 && values.map(\.count) == [1024])
        linked.close()
    }

    @Test("When the stream ends, connections, attempts and the scan end with it, and the loss is told once")
    func loss() throws {
        let loop = try EventLoop()
        let radio = MemoryRadio(on: loop, speed: 20)
        let lines = H4Lines()
        let listener = try H4Listener(.unixSocket)
        let transport = try H4StreamTransport(to: listener.address, on: loop)
        let peer = try listener.accept(on: loop)
        lines.attach(peer, to: radio.addController(Self.address))
        let adapter = try opening(on: loop, transport).0.get()
        let other = try opening(on: loop, radio.addController(BluetoothAddress(rawValue: 0xC0FF_EE00_0002))).0.get()

        var told: [String] = []
        adapter.onLoss = { loss in told.append("loss: \(loss.cause)") }
        other.advertise(
            Advertisement(data: [], interval: .milliseconds(20)),
            onConnection: { _ in },
            completion: { _ in }
        )
        var channel: (any ATTChannel)?
        _ = try adapter.connect(to: DeviceAddress(other.address, .public), timeout: .seconds(10)) { result in
            channel = try? result.get()
            loop.stop()
        }
        try loop.run()
        try #require(channel != nil)
        channel?.onClosed = { failure in told.append("link: \(failure)") }
        let absent = DeviceAddress(BluetoothAddress(rawValue: 1), .public)
        let attempt = try adapter.connect(to: absent, timeout: .seconds(60)) { result in
            if case .failure = result { told.append("attempt") }
        }
        adapter.advertise(Advertisement(data: []), onConnection: { _ in }, completion: { _ in })
        _ = loop.schedule(at: MonotonicClock.now + .milliseconds(50)) { peer.hangUp() }
        #expect(try loop.run { told.count >= 3 })
        // Time for anything that is told twice.
        _ = loop.schedule(at: MonotonicClock.now + .milliseconds(250)) { loop.stop() }
        try loop.run()
        #expect(told.count == 3, "\(told)")
        #expect(told.contains("attempt") && told.last == "loss: the stream from the controller ended", "\(told)")
        #expect(throws: ScanError.adapterGone) { try adapter.makeScanner() }
        #expect(throws: LinkFailure.self) { try channel?.send([0x0A, 1, 0]) }
        withExtendedLifetime(attempt) {}
        other.close()
    }

    @Test(
        "A capture has every packet that passed the stream, both ways, and nothing else; no privilege is needed"
    )
    func capture() throws {
        let path = "/tmp/blewedge-test.\(getpid()).\(UInt64.random(in: 0...UInt64.max)).btsnoop"
        defer { unlink(path) }
        let loop = try EventLoop()
        let radio = MemoryRadio(on: loop, speed: 20)
        let lines = H4Lines()
        let listener = try H4Listener(.unixSocket)
        let capture = try TrafficCapture(to: path, on: loop)
        var opened: Result<any LowEnergyAdapter, AdapterError>?
        try LowEnergyAdapters.open(.h4(listener.address), on: loop, capture: capture) { result in
            opened = result
            loop.stop()
        }
        let controller = radio.addController(Self.address)
        let peer = try listener.accept(on: loop)
        lines.attach(peer, to: controller)
        // Bytes transferred at the remote end.
        var toHost: [UInt8] = []
        let forward = controller.onReceive
        controller.onReceive = { packet in
            toHost += [UInt8](copying: packet)
            forward?(packet)
        }
        try loop.run()
        let adapter = try #require(try opened?.get())
        #expect(adapter.name == "h4:\(listener.address)")

        let other = try opening(on: loop, radio.addController(BluetoothAddress(rawValue: 0xC0FF_EE00_0002))).0.get()
        let bench = ConformanceBench(
            adapter,
            tester: other,
            on: loop,
            pace: .init(patience: .seconds(10), silence: .milliseconds(20))
        )
        let script = try #require(try ConformanceScript.all("conformance-client.txt").first)
        #expect(try bench.playClient(script) == [])
        bench.close()
        _ = loop.schedule(at: MonotonicClock.now + .milliseconds(100)) { loop.stop() }
        try loop.run()
        capture.finish()

        var reader = BtsnoopReader()
        reader.append(try FileSystem.contents(of: path, limit: 1 << 22))
        var sent: [UInt8] = []
        var received: [UInt8] = []
        while let record = try reader.next() {
            switch record.opcode {
            case .command: sent += [1] + record.payload
            case .aclSent: sent += [2] + record.payload
            case .event: received += [4] + record.payload
            case .aclReceived: received += [2] + record.payload
            default: Issue.record("\(record.opcode)")
            }
        }
        try reader.finish()
        #expect(peer.received == sent)
        // Bytes in transit when the adapter was closed were not received.
        #expect(toHost.starts(with: received))
        #expect(toHost.count - received.count < 100)
        #expect(received.count > 200 && sent.contains(2))
    }
}
