// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import Testing

@Suite struct LowEnergyHostTests {
    static let peer = DeviceAddress(BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F5), .random)
    static let other = DeviceAddress(BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F6), .random)

    static func opcodes(_ commands: [[UInt8]]) -> [HCIOpcode] {
        commands.map { HCIOpcode(rawValue: UInt16($0[1]) | UInt16($0[2]) << 8) }
    }

    static func connected(
        _ role: ConnectionRole = .central,
        buffers: DataBuffers = DataBuffers(dataLength: 27, packetCount: 4)
    ) -> ModelController {
        var controller = ModelController.ready(buffers: buffers)
        if role == .central { controller.host.connect(to: peer, timeout: .seconds(10), now: .zero) }
        controller.pump()
        controller.connect(0x40, role: role, peer: peer)
        controller.events = []
        controller.commands = []
        return controller
    }

    @Test("The controller is initialised in the order that every controller takes")
    func initialises() {
        var controller = ModelController()
        controller.pump()
        #expect(
            Self.opcodes(controller.commands) == [
                .reset, .readLocalSupportedCommands, .readLocalSupportedFeatures, .readBDADDR, .leReadBufferSize,
                .leReadLocalSupportedFeatures, .setEventMask, .leSetEventMask,
            ]
        )
        #expect(controller.events == [.ready])
        #expect(controller.host.ownAddress == DeviceAddress(BluetoothAddress(rawValue: 0x0605_0403_0201), .public))
    }

    @Test("CB-15: a controller without a public address is given a static random one")
    func randomAddress() {
        var controller = ModelController(randomAddress: BluetoothAddress(rawValue: 1))
        controller.address = [0, 0, 0, 0, 0, 0]
        controller.pump()
        #expect(Self.opcodes(controller.commands).last == .leSetRandomAddress)
        #expect(controller.host.ownAddress?.kind == .staticRandom)
        #expect(controller.events == [.ready])
    }

    @Test(
        "A controller that refuses, or does not answer, any command of the beginning is given up in bounded time",
        arguments: [
            HCIOpcode.reset, .readLocalSupportedCommands, .readLocalSupportedFeatures, .readBDADDR, .leReadBufferSize,
            .leReadLocalSupportedFeatures, .setEventMask, .leSetEventMask,
        ]
    )
    func initialisationFails(_ opcode: HCIOpcode) {
        var controller = ModelController()
        controller.refusals = [opcode: .unknownHCICommand]
        controller.pump()
        #expect(controller.events == [.failed(.refused(opcode, .unknownHCICommand))])
        var silent = ModelController()
        silent.unanswered = [opcode]
        silent.pump()
        #expect(silent.events.isEmpty)
        silent.advance(to: .seconds(3))
        #expect(silent.events == [.failed(.noAnswer(opcode))])
        #expect(silent.host.deadline == nil)
        #expect(silent.host.nextOutgoing(now: .seconds(9)) == nil)
    }

    @Test("Where LE has no buffers of its own, those of BR/EDR are asked for; none at all is no controller")
    func sharedBuffers() {
        var controller = ModelController()
        controller.buffers = DataBuffers(dataLength: 0, packetCount: 0)
        controller.refusals = [.readBufferSize: .unknownHCICommand]
        controller.pump()
        #expect(controller.events == [.failed(.refused(.readBufferSize, .unknownHCICommand))])
    }

    @Test("A hardware error ends everything once")
    func hardwareError() {
        var controller = Self.connected()
        controller.sendEvent(0x10, [0x42])
        controller.sendEvent(0x10, [0x43])
        #expect(controller.events == [.failed(.hardwareError(0x42))])
        #expect(controller.host.connections.isEmpty)
    }

    @Test("Connecting, in both generations of commands", arguments: [true, false])
    func connects(_ isExtended: Bool) throws {
        var controller = ModelController.ready(isExtended: isExtended)
        controller.host.connect(to: Self.peer, timeout: .seconds(10), now: .zero)
        controller.pump()
        #expect(
            Self.opcodes(controller.commands) == [isExtended ? .leExtendedCreateConnection : .leCreateConnection]
        )
        controller.connect(0x40, role: .central, peer: Self.peer)
        let connection = try #require(controller.host.connections.first)
        #expect(controller.events == [.connected(connection)])
        #expect(connection.role == .central && connection.handle == 0x40 && connection.peer == Self.peer)
        controller.disconnect(0x40, reason: 0x08)
        #expect(controller.events.last == .disconnected(connection, reason: .connectionTimeout))
    }

    @Test("An attempt that takes too long is cancelled, and reported once")
    func connectionTimesOut() {
        var controller = ModelController.ready()
        controller.host.connect(to: Self.peer, timeout: .seconds(5), now: .zero)
        controller.host.connect(to: Self.other, timeout: .seconds(50), now: .zero)
        controller.pump()
        controller.advance(to: .seconds(6))
        #expect(Self.opcodes(controller.commands) == [.leExtendedCreateConnection, .leCreateConnectionCancel])
        controller.connect(0, role: .central, peer: Self.peer, status: 0x02)
        #expect(controller.events == [.connectionFailed(Self.peer, .timedOut)])
        // The next attempt starts.
        #expect(Self.opcodes(controller.commands).last == .leExtendedCreateConnection)
        #expect(controller.commands.count == 3)
    }

    @Test("A cancelled attempt says nothing, and a connection that came all the same is ended")
    func cancels() {
        var controller = ModelController.ready()
        controller.host.connect(to: Self.peer, timeout: .seconds(5), now: .zero)
        controller.pump()
        controller.host.cancelConnection(to: Self.peer, now: .zero)
        controller.refusals = [.leCreateConnectionCancel: .commandDisallowed]
        controller.connect(0x40, role: .central, peer: Self.peer)
        #expect(controller.events.isEmpty)
        #expect(Self.opcodes(controller.commands).contains(.disconnect))
        controller.disconnect(0x40, reason: 0x16)
        #expect(controller.events.isEmpty)
        #expect(controller.host.connections.isEmpty)
    }

    @Test("A controller that never ends a cancelled attempt does not hold up the next one for long")
    func cancelForgotten() {
        var controller = ModelController.ready()
        controller.host.connect(to: Self.peer, timeout: .seconds(5), now: .zero)
        controller.pump()
        controller.advance(to: .seconds(11))
        #expect(controller.events == [.connectionFailed(Self.peer, .timedOut)])
    }

    @Test("A connection that the controller does not end fails the host in bounded time")
    func disconnectionForgotten() {
        var controller = Self.connected()
        controller.host.disconnect(0x40, now: controller.now)
        controller.pump()
        #expect(Self.opcodes(controller.commands) == [.disconnect])
        controller.advance(to: .seconds(41))
        #expect(controller.events == [.failed(.lostDisconnection(handle: 0x40))])
    }

    @Test("A controller that forgets completions fails the host in bounded time")
    func completionsForgotten() {
        var controller = Self.connected()
        let isTaken1 = controller.host.send([1, 2, 3], on: 0x40)
        #expect(isTaken1)
        controller.pump()
        controller.advance(to: .seconds(39))
        #expect(controller.events.isEmpty)
        controller.advance(to: .seconds(41))
        #expect(controller.events == [.failed(.lostCompletions(handle: 0x40))])
    }

    @Test("A command of the scan that waits for another's answer gives no time that passes without anything to do")
    func waitingCommand() {
        var controller = ModelController.ready()
        controller.unanswered = [.leSetExtendedScanEnable, .leSetExtendedAdvertisingEnable]
        let isScanning = controller.host.startScanning(ScanParameters(type: .active), devices: DeviceTable())
        controller.pump()
        let isAdvertising = controller.host.advertise(
            AdvertisingParameters(kind: .connectable, interval: 160),
            data: [],
            scanResponse: []
        )
        #expect(isScanning && isAdvertising)
        // The scan's first command is answered with no room for another command.
        let opcode = HCIOpcode.leSetExtendedScanEnable.rawValue
        controller.sendEvent(0x0E, [0, UInt8(opcode & 0xFF), UInt8(opcode >> 8), 0])
        #expect(controller.commands.count == 1)
        #expect(controller.host.deadline == .seconds(2))
        controller.now = .seconds(2)
        controller.host.handleDeadline(now: controller.now)
        controller.pump()
        #expect(controller.commands.count == 2)
        #expect(controller.host.deadline == .seconds(4))
    }

    @Test("Data never exceeds the controller's buffers, and a disconnection gives them back")
    func credits() {
        var controller = Self.connected(buffers: DataBuffers(dataLength: 27, packetCount: 4))
        for _ in 0..<5 {
            let isTaken = controller.host.send([UInt8](repeating: 7, count: 60), on: 0x40)
            #expect(isTaken)
        }
        controller.pump()
        #expect(controller.data.count == 4)
        controller.complete(0x40, 2)
        #expect(controller.data.count == 6)
        controller.complete(0x40, 100)
        #expect(controller.data.count == 10)
        #expect(controller.host.counters.falseCompletions == 1)
        controller.complete(0x41, 5)
        #expect(controller.data.count == 10)
        controller.disconnect(0x40)
        #expect(controller.host.freeBufferCount == 4)
    }

    @Test("A full queue refuses, and says once when there is room")
    func writable() {
        var controller = Self.connected(buffers: DataBuffers(dataLength: 27, packetCount: 1))
        var taken = 0
        while controller.host.send([1, 2, 3], on: 0x40) { taken += 1 }
        #expect(taken == 28)
        controller.pump()
        for _ in 0..<taken { controller.complete(0x40, 1) }
        #expect(controller.events == [.writable(handle: 0x40)])
    }

    @Test("Every length from 0 to 600 over every buffer size arrives whole, and comes back whole")
    func fragmentation() throws {
        for size in [1, 2, 3, 4, 5, 23, 27, 31, 64, 251, 255, 512, 604, 1021] as [UInt16] {
            var controller = Self.connected(buffers: DataBuffers(dataLength: size, packetCount: 255))
            for length in 0...600 {
                let pdu = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 7) }
                controller.data = []
                let isTaken2 = controller.host.send(pdu, on: 0x40)
                #expect(isTaken2)
                controller.pump()
                var frame: [UInt8] = []
                while frame.count < length + 4 {
                    let packets = controller.data
                    controller.data = []
                    try #require(!packets.isEmpty)
                    for bytes in packets {
                        let packet = try ACLPacket(bytes.span)
                        #expect(packet.boundary == (frame.isEmpty ? .firstNonFlushable : .continuing))
                        #expect(packet.data.count <= Int(size))
                        frame += [UInt8](copying: packet.data)
                    }
                    controller.complete(0x40, UInt16(packets.count))
                }
                #expect(frame == L2CAPFrame.encoded(.attribute, pdu))
                controller.events = []
                controller.sendFrame(0x40, channel: .attribute, pdu, fragments: Int(size))
                #expect(controller.events == [.received(handle: 0x40, pdu: pdu)])
            }
        }
    }

    @Test("Fragments that break L2CAP's rules are dropped and counted, and the next frame is read")
    func badFragments() {
        let bad: [[(ACLPacket.Boundary, [UInt8])]] = [
            [(.continuing, [1, 2, 3])],
            [(.first, [5, 0, 4, 0, 1])],
            [(.first, [1, 0, 4, 0, 1, 2])],
            [(.first, [0xFF, 0xFF, 4, 0])],
            [(.complete, [1, 0, 4, 0, 1])],
            [(.first, [3, 0, 4, 0]), (.continuing, [1, 2, 3, 4])],
        ]
        for fragments in bad {
            var controller = Self.connected()
            for (boundary, data) in fragments {
                controller.send(ACLPacket.encoded(handle: 0x40, boundary, data.span))
            }
            #expect(controller.events.isEmpty)
            controller.sendFrame(0x40, channel: .attribute, [9])
            #expect(controller.events == [.received(handle: 0x40, pdu: [9])])
            #expect(controller.host.counters.badFrames == 1)
        }
    }

    @Test("Data that overtakes the event of its connection is read after it")
    func earlyData() throws {
        var controller = ModelController.ready()
        for _ in 0..<20 { controller.sendFrame(0x40, channel: .attribute, [2, 5, 2]) }
        #expect(controller.events.isEmpty)
        controller.connect(0x40, role: .peripheral, peer: Self.peer)
        let connection = try #require(controller.host.connections.first)
        #expect(
            controller.events
                == [.connected(connection)]
                + [LowEnergyHost.Event](repeating: .received(handle: 0x40, pdu: [2, 5, 2]), count: 8)
        )
    }

    @Test("Data that comes behind the end of a connection is not the next one's of the same handle")
    func lateData() throws {
        var controller = ModelController.ready()
        controller.connect(0x40, role: .peripheral, peer: Self.peer)
        let first = try #require(controller.host.connections.first)
        controller.disconnect(0x40)
        controller.sendFrame(0x40, channel: .attribute, [0x1B, 3, 0, 0x31])
        controller.now += .milliseconds(501)
        controller.connect(0x40, role: .peripheral, peer: Self.other)
        let second = try #require(controller.host.connections.first)
        #expect(
            controller.events
                == [
                    .connected(first), .disconnected(first, reason: .remoteUserTerminatedConnection),
                    .connected(second),
                ]
        )
        #expect(controller.host.counters.strayPackets == 1)
    }

    @Test("Links take turns")
    func fairness() {
        var controller = Self.connected(buffers: DataBuffers(dataLength: 27, packetCount: 1))
        controller.connect(0x41, role: .peripheral, peer: Self.other)
        for _ in 0..<3 {
            let isTaken3 = controller.host.send([1], on: 0x40)
            #expect(isTaken3)
            let isTaken4 = controller.host.send([2], on: 0x41)
            #expect(isTaken4)
        }
        controller.pump()
        for _ in 0..<6 {
            guard let last = controller.data.last else { break }
            controller.complete(UInt16(last[1]), 1)
        }
        #expect(controller.data.map { $0[1] } == [0x40, 0x41, 0x40, 0x41, 0x40, 0x41])
    }
}
