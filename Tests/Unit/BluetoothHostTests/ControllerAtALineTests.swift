// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import Testing

/// Observed behavior of controllers on serial lines, in virtual time.
@Suite struct ControllerAtALineTests {
    private static let peer = LowEnergyHostTests.peer

    private func opcodes(_ controller: ModelController) -> [HCIOpcode] {
        LowEnergyHostTests.opcodes(controller.commands)
    }

    // MARK: Reset

    @Test("A Reset that is not answered is sent once more, and the answer to either is enough")
    func resetAgain() {
        var controller = ModelController()
        controller.unanswered = [.reset]
        controller.pump()
        controller.advance(to: .milliseconds(1499))
        #expect(opcodes(controller) == [.reset])
        controller.unanswered = []
        controller.advance(to: .milliseconds(1500))
        #expect(opcodes(controller).prefix(3) == [.reset, .reset, .readLocalSupportedCommands])
        #expect(controller.events == [.ready])
        #expect(controller.host.counters.repeatedResets == 1)
        // The late answer to the other Reset command is ignored.
        controller.sendEvent(0x0E, [1, 0x03, 0x0C, 0])
        #expect(controller.host.isReady)
    }

    @Test("An initialisation can begin anew where the stream was lost, three times, and not once it is over")
    func beginsAnew() {
        var controller = ModelController()
        controller.unanswered = [.readBDADDR]
        controller.pump()
        for time in 1...3 {
            let isBegun = controller.host.beginAnew()
            #expect(isBegun)
            controller.pump()
            #expect(opcodes(controller).count { $0 == .reset } == time + 1)
        }
        let isBegun = controller.host.beginAnew()
        #expect(!isBegun)
        controller.advance(to: .seconds(2))
        #expect(controller.events == [.failed(.noAnswer(.readBDADDR))])
        var ready = ModelController.ready()
        let isBegunWhenReady = ready.host.beginAnew()
        #expect(!isBegunWhenReady)
    }

    // MARK: A dual-mode controller

    @Test(
        "LE is switched on in a controller that has BR/EDR too, where it knows the command, whatever it answers",
        arguments: [HCIStatus.success, .unknownHCICommand, .commandDisallowed]
    )
    func dualMode(_ status: HCIStatus) throws {
        var controller = ModelController()
        controller.features = 0x40
        controller.known = [.writeLEHostSupport]
        if status != .success { controller.refusals = [.writeLEHostSupport: status] }
        controller.pump()
        let index = try #require(opcodes(controller).firstIndex(of: .writeLEHostSupport))
        #expect(controller.commands[index] == [0x01, 0x6D, 0x0C, 2, 1, 0])
        #expect(opcodes(controller)[index - 1] == .readLocalSupportedFeatures)
        #expect(controller.events == [.ready])
    }

    @Test("A controller without BR/EDR, or without the command, is not asked to switch LE on")
    func singleMode() {
        for (features, known) in [(0x60, [.writeLEHostSupport]), (0x40, [])]
            as [(UInt8, Set<SupportedCommands.Bit>)]
        {
            var controller = ModelController()
            controller.features = features
            controller.known = known
            controller.pump()
            #expect(!opcodes(controller).contains(.writeLEHostSupport))
            #expect(controller.events == [.ready])
        }
    }

    // MARK: Silence

    @Test("X-7: a controller that becomes silent while connected is probed after 10 s, and considered lost 2 s later")
    func silence() {
        var controller = LowEnergyHostTests.connected()
        controller.unanswered = [.readBDADDR]
        controller.advance(to: .milliseconds(9999))
        #expect(controller.commands.isEmpty)
        controller.advance(to: .seconds(10))
        #expect(opcodes(controller) == [.readBDADDR])
        #expect(controller.host.counters.probes == 1)
        controller.advance(to: .milliseconds(11_999))
        #expect(controller.events.isEmpty)
        controller.advance(to: .seconds(12))
        #expect(controller.events == [.failed(.silent(.seconds(12)))])
    }

    @Test("A quiet controller that answers is asked every 10 s and kept; one that talks is not asked")
    func quiet() {
        var controller = LowEnergyHostTests.connected()
        controller.advance(to: .seconds(65))
        #expect(opcodes(controller) == [HCIOpcode](repeating: .readBDADDR, count: 6))
        #expect(controller.host.counters.probes == 6 && controller.events.isEmpty)
        for second in 66...100 {
            controller.advance(to: .seconds(second))
            controller.sendFrame(0x40, channel: .attribute, [0x1B, 1, 0, 7])
        }
        #expect(controller.commands.count == 6)
        // Without a connection, the controller is not probed.
        controller.disconnect(0x40)
        controller.advance(to: .seconds(1000))
        #expect(controller.commands.count == 6)
        #expect(controller.host.deadline == nil)
    }

    @Test("X-7: a controller that becomes silent while it scans, connects or advertises is detected in the same way")
    func silenceElsewhere() {
        for use in 0..<3 {
            var controller = ModelController.ready()
            switch use {
            case 0: _ = controller.host.startScanning(.discovery, devices: DeviceTable())
            case 1: controller.host.connect(to: Self.peer, timeout: .seconds(60), now: .zero)
            default:
                let parameters = AdvertisingParameters(kind: .connectable, interval: 160)
                _ = controller.host.advertise(parameters, data: [], scanResponse: [])
            }
            controller.pump()
            controller.unanswered = [.readBDADDR]
            controller.advance(to: .seconds(12))
            #expect(controller.events.last == .failed(.silent(.seconds(12))), "\(use)")
        }
    }

    // MARK: Connecting

    @Test("A connection that could not be established is tried again within its time, after a pause each")
    func notEstablished() throws {
        for isExtended in [false, true] {
            let create: HCIOpcode = isExtended ? .leExtendedCreateConnection : .leCreateConnection
            var controller = ModelController.ready(isExtended: isExtended)
            controller.host.connect(to: Self.peer, timeout: .seconds(15), now: .zero)
            controller.pump()
            for attempt in 1...5 {
                #expect(opcodes(controller) == [HCIOpcode](repeating: create, count: attempt))
                controller.connect(0, role: .central, peer: Self.peer, status: 0x3E)
                #expect(opcodes(controller).count == attempt, "at once")
                controller.advance(to: .milliseconds(100 * attempt))
            }
            controller.connect(0x40, role: .central, peer: Self.peer)
            #expect(controller.events == [.connected(try #require(controller.host.connections.first))])
            #expect(controller.host.counters.repeatedConnections == 5)
        }
    }

    @Test("Its time, and cancelling, end an attempt that cannot be established; the next has its turn")
    func notEstablishedInTime() {
        var controller = ModelController.ready()
        controller.host.connect(to: Self.peer, timeout: .milliseconds(250), now: .zero)
        controller.host.connect(to: LowEnergyHostTests.other, timeout: .seconds(10), now: .zero)
        controller.pump()
        for time in [100, 200, 250] {
            controller.connect(0, role: .central, peer: Self.peer, status: 0x3E)
            controller.advance(to: .milliseconds(time))
        }
        #expect(controller.events == [.connectionFailed(Self.peer, .timedOut)])
        #expect(controller.commands.count == 4)
        controller.connect(0, role: .central, peer: LowEnergyHostTests.other, status: 0x3E)
        controller.host.cancelConnection(to: LowEnergyHostTests.other, now: controller.now)
        controller.advance(to: .seconds(60))
        #expect(controller.commands.count == 4 && controller.events.count == 1)
        #expect(controller.host.deadline == nil)
    }

    @Test("A refused connection names the command and the status")
    func refusedConnection() {
        for (isExtended, opcode) in [(true, HCIOpcode.leExtendedCreateConnection), (false, .leCreateConnection)] {
            var controller = ModelController.ready(isExtended: isExtended)
            controller.refusals = [opcode: .commandDisallowed]
            controller.host.connect(to: Self.peer, timeout: .seconds(15), now: .zero)
            controller.pump()
            #expect(controller.events == [.connectionFailed(Self.peer, .refused(opcode, .commandDisallowed))])
        }
    }

    // MARK: Commands that a controller reports as supported

    @Test("A controller that does not know the extended commands it lists is used by those before them")
    func unknownCommands() {
        var controller = ModelController.ready()
        controller.refusals = [
            .leSetExtendedScanEnable: .unknownHCICommand, .leSetExtendedScanParameters: .unknownHCICommand,
            .leExtendedCreateConnection: .unknownHCICommand,
        ]
        _ = controller.host.startScanning(.discovery, devices: DeviceTable())
        controller.pump()
        #expect(
            opcodes(controller) == [.leSetExtendedScanEnable, .leSetScanEnable, .leSetScanParameters, .leSetScanEnable]
        )
        #expect(controller.events == [.scanStarted])
        controller.host.stopScanning()
        controller.pump()
        controller.commands = []
        controller.host.connect(to: Self.peer, timeout: .seconds(15), now: .zero)
        controller.pump()
        #expect(opcodes(controller) == [.leCreateConnection])
    }

    @Test("If the connect command is unknown, the older one is tried; if both are unknown, this is reported")
    func unknownConnection() {
        var controller = ModelController.ready()
        controller.refusals = [.leExtendedCreateConnection: .unknownHCICommand]
        controller.host.connect(to: Self.peer, timeout: .seconds(15), now: .zero)
        controller.pump()
        #expect(opcodes(controller) == [.leExtendedCreateConnection, .leCreateConnection])
        #expect(controller.events.isEmpty)
        controller = ModelController.ready()
        controller.refusals = [.leSetExtendedScanEnable: .unknownHCICommand, .leSetScanEnable: .unknownHCICommand]
        _ = controller.host.startScanning(.discovery, devices: DeviceTable())
        controller.pump()
        #expect(controller.events == [.scanFailed(.refused(.leSetScanEnable, .unknownHCICommand))])
    }
}
