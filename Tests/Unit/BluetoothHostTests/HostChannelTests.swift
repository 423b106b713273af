// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import Testing

/// Responses of a host on the other L2CAP channels, and its advertising and scanning.
@Suite struct HostChannelTests {
    /// Returns the frames that the host sent, without packet headers.
    private func frames(_ controller: ModelController) throws -> [[UInt8]] {
        try controller.data.map { bytes in [UInt8](copying: try ACLPacket(bytes.span).data) }
    }

    @Test("Pairing is refused, in either role; what is no beginning of it, and a refusal, is not answered")
    func pairing() throws {
        let pairingRequest: [UInt8] = [1, 3, 0, 1, 16, 1, 1]
        let cases: [(ConnectionRole, [UInt8], PairingFailure)] = [
            (.central, pairingRequest, .commandNotSupported), (.central, [0x0B, 1], .pairingNotSupported),
            (.peripheral, pairingRequest, .pairingNotSupported), (.peripheral, [0x0B, 1], .commandNotSupported),
        ]
        for (role, request, reason) in cases {
            var controller = LowEnergyHostTests.connected(role)
            controller.sendFrame(0x40, channel: .securityManager, request)
            #expect(try frames(controller) == [[2, 0, 6, 0, 0x05, reason.rawValue]])
        }
        for frame in [[0x0C] + [UInt8](repeating: 1, count: 64), [0xEE]] as [[UInt8]] {
            var controller = LowEnergyHostTests.connected()
            controller.sendFrame(0x40, channel: .securityManager, frame)
            #expect(controller.data.isEmpty)
        }
        var controller = LowEnergyHostTests.connected()
        controller.sendFrame(0x40, channel: .securityManager, [5, 5])
        #expect(controller.data.isEmpty)
    }

    @Test("A peripheral's wish for other parameters is granted within the limits, one at a time")
    func parameterUpdate() throws {
        var controller = LowEnergyHostTests.connected(.central)
        let wish: [UInt8] = [0x12, 7, 8, 0, 6, 0, 12, 0, 0, 0, 0xC8, 0]
        controller.sendFrame(0x40, channel: .signalling, wish)
        #expect(try frames(controller) == [[6, 0, 5, 0, 0x13, 7, 2, 0, 0, 0]])
        #expect(LowEnergyHostTests.opcodes(controller.commands) == [.leConnectionUpdate])
        controller.data = []
        controller.sendFrame(0x40, channel: .signalling, wish)
        #expect(try frames(controller) == [[6, 0, 5, 0, 0x13, 7, 2, 0, 1, 0]])
        controller.sendEvent(0x3E, [3, 0, 0x40, 0, 12, 0, 0, 0, 0xC8, 0])
        controller.data = []
        controller.sendFrame(0x40, channel: .signalling, [0x12, 8, 8, 0, 6, 0, 12, 0, 0, 0, 1, 0])
        #expect(try frames(controller) == [[6, 0, 5, 0, 0x13, 8, 2, 0, 1, 0]])
        #expect(controller.commands.count == 1)
    }

    @Test("A central's L2CAP wish for other parameters is rejected, as everything that is not known")
    func rejects() throws {
        let cases: [([UInt8], [UInt8])] = [
            ([0x12, 7, 8, 0, 6, 0, 12, 0, 0, 0, 0xC8, 0], [6, 0, 5, 0, 1, 7, 2, 0, 0, 0]),
            ([0x08, 9, 0, 0], [6, 0, 5, 0, 1, 9, 2, 0, 0, 0]),
            ([0x06, 3, 4, 0, 0x40, 0, 0x41, 0], [10, 0, 5, 0, 1, 3, 6, 0, 2, 0, 0x40, 0, 0x41, 0]),
            (
                [0x14, 3, 10, 0, 0x80, 0, 0x40, 0, 64, 0, 64, 0, 1, 0],
                [14, 0, 5, 0, 0x15, 3, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0]
            ),
            (
                [0x17, 3, 10, 0, 0x27, 0, 64, 0, 64, 0, 1, 0, 0x40, 0],
                [12, 0, 5, 0, 0x18, 3, 8, 0, 0, 0, 0, 0, 0, 0, 2, 0]
            ),
            // The length field is wrong, so the command is rejected as not understood.
            ([0x12, 7, 9, 0, 6, 0], [6, 0, 5, 0, 1, 7, 2, 0, 0, 0]),
        ]
        for (request, answer) in cases {
            var controller = LowEnergyHostTests.connected(.peripheral)
            controller.sendFrame(0x40, channel: .signalling, request)
            #expect(try frames(controller) == [answer])
        }
        for silent in [[0x01, 7, 2, 0, 0, 0], [0x13, 7, 2, 0, 0, 0], [0x13, 7, 1, 0, 0], [0x08, 0, 0, 0], [0x08]]
            as [[UInt8]]
        {
            var controller = LowEnergyHostTests.connected(.peripheral)
            controller.sendFrame(0x40, channel: .signalling, silent)
            #expect(controller.data.isEmpty)
        }
    }

    @Test("Packets on unknown channels are counted and not answered")
    func unknownChannels() {
        var controller = LowEnergyHostTests.connected()
        for channel in [0, 1, 3, 7, 0x40, 0xFFFF] as [UInt16] {
            controller.sendFrame(0x40, channel: L2CAPChannel(rawValue: channel), [1, 2, 3])
        }
        #expect(controller.data.isEmpty && controller.events.isEmpty)
        #expect(controller.host.counters.unknownChannels == 6)
    }

    @Test("The link layer's requests are answered: parameters within limits yes, others and keys no")
    func linkLayerRequests() {
        var controller = LowEnergyHostTests.connected()
        controller.sendEvent(0x3E, [6, 0x40, 0, 6, 0, 12, 0, 0, 0, 0xC8, 0])
        controller.sendEvent(0x3E, [6, 0x40, 0, 6, 0, 12, 0, 0, 0, 1, 0])
        controller.sendEvent(0x3E, [5, 0x40, 0] + [UInt8](repeating: 0, count: 10))
        controller.sendEvent(0x3E, [5, 0x41, 0] + [UInt8](repeating: 0, count: 10))
        #expect(
            LowEnergyHostTests.opcodes(controller.commands) == [
                .leRemoteConnectionParameterRequestReply, .leRemoteConnectionParameterRequestNegativeReply,
                .leLongTermKeyRequestNegativeReply,
            ]
        )
    }

    @Test("Advertising in both generations, again after a connection, and its end", arguments: [true, false])
    func advertises(_ isExtended: Bool) throws {
        let enable: HCIOpcode = isExtended ? .leSetExtendedAdvertisingEnable : .leSetAdvertisingEnable
        var controller = ModelController.ready(isExtended: isExtended)
        // An advertising set that does not exist yet cannot be disabled.
        let parameters = AdvertisingParameters(kind: .connectable, interval: 0xA0)
        let isTaken1 = controller.host.advertise(parameters, data: [2, 1, 6], scanResponse: [])
        #expect(isTaken1)
        controller.pump()
        #expect(controller.events == [.advertisingStarted])
        #expect(controller.commands.count == 5)
        controller.connect(0x40, role: .peripheral, peer: LowEnergyHostTests.peer)
        #expect(controller.commands.count == 6)
        #expect(LowEnergyHostTests.opcodes(controller.commands).last == enable)
        // The controller cannot advertise while connected, so advertising resumes after the disconnection.
        controller.refusals = [enable: .commandDisallowed]
        controller.connect(0x41, role: .peripheral, peer: LowEnergyHostTests.other)
        controller.refusals = [:]
        #expect(controller.commands.count == 7)
        controller.disconnect(0x41)
        #expect(controller.commands.count == 8)
        #expect(LowEnergyHostTests.opcodes(controller.commands).last == enable)
        controller.host.stopAdvertising()
        controller.pump()
        #expect(controller.events.last == .advertisingStopped)
        controller.disconnect(0x40)
        #expect(controller.commands.count == 9)
    }

    @Test("Advertising of more than 31 bytes is not started, and a rejection is reported once")
    func advertisingFails() {
        var controller = ModelController.ready()
        let parameters = AdvertisingParameters(kind: .connectable, interval: 0xA0)
        let long = [UInt8](repeating: 0, count: 32)
        let takesData = controller.host.advertise(parameters, data: long, scanResponse: [])
        let takesResponse = controller.host.advertise(parameters, data: [], scanResponse: long)
        #expect(!takesData && !takesResponse)
        controller.refusals = [.leSetExtendedAdvertisingParameters: .invalidHCICommandParameters]
        let isTaken2 = controller.host.advertise(parameters, data: [], scanResponse: [])
        #expect(isTaken2)
        controller.pump()
        #expect(
            controller.events == [
                .advertisingFailed(.refused(.leSetExtendedAdvertisingParameters, .invalidHCICommandParameters))
            ]
        )
    }

    @Test("Scanning begins, reports, and ends", arguments: [true, false])
    func scans(_ isExtended: Bool) {
        var controller = ModelController.ready(isExtended: isExtended)
        let isTaken3 = controller.host.startScanning(.discovery, devices: DeviceTable())
        #expect(isTaken3)
        controller.pump()
        #expect(controller.events == [.scanStarted])
        controller.sendEvent(0x3E, [2, 1, 0, 1, 1, 2, 3, 4, 5, 6, 3, 2, 1, 6, 0xC0])
        guard case .scanned(let update)? = controller.events.last else {
            Issue.record("no report")
            return
        }
        #expect(update.device.rssi == -64)
        controller.host.stopScanning()
        controller.pump()
        #expect(controller.events.last == .scanStopped)
        let generation: HCIOpcode = isExtended ? .leSetExtendedScanEnable : .leSetScanEnable
        #expect(LowEnergyHostTests.opcodes(controller.commands).last == generation)
    }
}
