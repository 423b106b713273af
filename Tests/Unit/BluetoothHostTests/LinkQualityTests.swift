// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import Testing

/// Connection parameters, RSSI and faster link settings, on controllers that support them, reject them, or do not
/// answer.
@Suite(.timeLimit(.minutes(10)))
struct LinkQualityTests {
    private static let peer = LowEnergyHostTests.peer

    private static func little(_ value: UInt16) -> [UInt8] { [UInt8(value & 0xFF), UInt8(value >> 8)] }

    private struct Wish {
        var interval: ClosedRange<UInt16>
        var latency: UInt16 = 0
        var timeout: UInt16 = 400
        /// Longest interval that is accepted; nil if the request is rejected.
        var granted: UInt16?

        var bytes: [UInt8] {
            [interval.lowerBound, interval.upperBound, latency, timeout].flatMap(LinkQualityTests.little)
        }
        var grantedBytes: [UInt8]? {
            granted.map { [interval.lowerBound, $0, latency, timeout].flatMap(LinkQualityTests.little) }
        }
    }

    private static let wishes = [
        Wish(interval: 6...12, granted: 12), Wish(interval: 160...160, granted: 160), Wish(interval: 161...200),
        // 30 ms to 1 s: values within the limits are accepted.
        Wish(interval: 24...800, timeout: 600, granted: 160),
        // (latency + 1) × interval: 2 s, and longer.
        Wish(interval: 160...160, latency: 9, timeout: 600, granted: 160),
        Wish(interval: 160...160, latency: 10, timeout: 600),
        Wish(interval: 24...24, latency: 30, timeout: 600, granted: 24),
        Wish(interval: 12...24, latency: 99, timeout: 1000, granted: 16),
        // Supervision time-out: 1 s to 10 s.
        Wish(interval: 12...24, timeout: 99), Wish(interval: 12...24, timeout: 100, granted: 24),
        Wish(interval: 12...24, timeout: 1000, granted: 24), Wish(interval: 12...24, timeout: 1001),
        // Invalid parameters.
        Wish(interval: 5...12), Wish(interval: 12...24, latency: 500), Wish(interval: 12...3201),
    ]

    @Test("A peripheral's wish is granted where typing does not suffer, over L2CAP and over the link layer")
    func wishes() throws {
        for wish in Self.wishes {
            var controller = LowEnergyHostTests.connected()
            controller.sendFrame(0x40, channel: .signalling, [0x12, 7, 8, 0] + wish.bytes)
            let response = try #require(controller.data.first)
            #expect(response.suffix(2) == (wish.granted == nil ? [1, 0] : [0, 0]), "\(wish)")
            #expect(controller.commands.first.map { Array($0[6..<14]) } == wish.grantedBytes, "\(wish)")
            #expect(controller.host.counters.grantedParameters == (wish.granted == nil ? 0 : 1))

            controller = LowEnergyHostTests.connected()
            controller.sendEvent(0x3E, [6, 0x40, 0] + wish.bytes)
            let reply = try #require(controller.commands.first)
            #expect(
                LowEnergyHostTests.opcodes([reply]) == [
                    wish.granted == nil
                        ? .leRemoteConnectionParameterRequestNegativeReply : .leRemoteConnectionParameterRequestReply
                ],
                "\(wish)"
            )
            #expect(Array(reply.dropFirst(6).prefix(8)) == wish.grantedBytes ?? [0x3B], "\(wish)")
            #expect(controller.host.counters.refusedParameters == (wish.granted == nil ? 1 : 0))
        }
    }

    @Test("A central's link layer may set any timing: it is the central's to choose")
    func centralChooses() {
        var controller = LowEnergyHostTests.connected(.peripheral)
        controller.sendEvent(0x3E, [6, 0x40, 0] + Wish(interval: 800...800, timeout: 600).bytes)
        #expect(LowEnergyHostTests.opcodes(controller.commands) == [.leRemoteConnectionParameterRequestReply])
    }

    @Test("The timing in force is the one that the connection began with, or the last change that was carried out")
    func timing() {
        var controller = LowEnergyHostTests.connected()
        let first = ConnectionTiming(interval: 24, latency: 0, supervisionTimeout: 400)
        #expect(controller.host.timing(of: 0x40) == first && controller.host.timing(of: 0x41) == nil)
        controller.events = []
        controller.sendEvent(0x3E, [3, 0x3B, 0x40, 0, 40, 0, 2, 0, 0x58, 2])
        #expect(controller.host.timing(of: 0x40) == first && controller.events.isEmpty)
        controller.sendEvent(0x3E, [3, 0, 0x40, 0, 40, 0, 2, 0, 0x58, 2])
        let second = ConnectionTiming(interval: 40, latency: 2, supervisionTimeout: 600)
        #expect(controller.host.timing(of: 0x40) == second && second.longestSilence == .milliseconds(150))
        #expect(controller.events == [.timed(handle: 0x40, second)])
        controller.disconnect(0x40)
        #expect(controller.host.timing(of: 0x40) == nil)
    }

    /// Returns a connection on a controller with these features, which supports these commands.
    private static func connected(
        features: [UInt8] = [2, 0],
        _ known: Set<SupportedCommands.Bit>,
        _ change: (inout ModelController) -> Void = { _ in }
    ) -> ModelController {
        var controller = ModelController()
        controller.lowEnergyFeatures = features
        controller.known = known
        controller.pump()
        controller.commands = []
        change(&controller)
        controller.host.connect(to: peer, timeout: .seconds(10), now: .zero)
        controller.pump()
        controller.connect(0x40, role: .central, peer: peer)
        controller.commands.removeFirst()
        return controller
    }

    @Test("The signal's strength is read once in its life, and is the last one that was answered")
    func signal() {
        var controller = Self.connected([.readRSSI])
        func read(_ controller: inout ModelController) -> Int8? {
            controller.host.readRSSI(of: 0x40, life: .seconds(3), now: controller.now)
            controller.pump()
            return controller.host.rssi(of: 0x40)
        }
        #expect(controller.commands.isEmpty && controller.host.rssi(of: 0x40) == nil)
        #expect(read(&controller) == -60)
        controller.signal = [0x40, 0, 0xB0]
        controller.advance(to: .milliseconds(2999))
        #expect(read(&controller) == -60)
        #expect(LowEnergyHostTests.opcodes(controller.commands) == [.readRSSI])
        controller.advance(to: .seconds(3))
        #expect(read(&controller) == -80)
        // 127 means that the RSSI is unknown; an answer for another connection is ignored.
        controller.signal = [0x40, 0, 127]
        controller.advance(to: .seconds(6))
        #expect(read(&controller) == nil)
        controller.signal = [0x41, 0, 0xC4]
        controller.advance(to: .seconds(9))
        #expect(read(&controller) == nil && controller.host.counters.badPackets == 1)
    }

    @Test("A controller that refuses to tell the signal's strength, or never answers, loses no link by that")
    func silentSignal() {
        for isSilent in [false, true] {
            var controller = Self.connected([.readRSSI]) { controller in
                if isSilent {
                    controller.unanswered = [.readRSSI]
                } else {
                    controller.refusals = [.readRSSI: .commandDisallowed]
                }
            }
            for second in 1...3 {
                controller.advance(to: .seconds(second * 5))
                controller.host.readRSSI(of: 0x40, life: .seconds(3), now: controller.now)
                controller.pump()
            }
            controller.advance(to: .seconds(19))
            let asked = LowEnergyHostTests.opcodes(controller.commands).filter { $0 == .readRSSI }
            #expect(asked.count == (isSilent ? 1 : 3))
            #expect(controller.host.failure == nil && controller.host.connections.count == 1)
        }
    }

    @Test("The longest packets and LE 2M are asked for once a link, where the features and the commands offer them")
    func improves() {
        let both: Set<SupportedCommands.Bit> = [.leSetDataLength, .leSetPHY]
        let cases: [([UInt8], Set<SupportedCommands.Bit>, [HCIOpcode])] = [
            ([2, 0], both, []), ([0x22, 0], both, [.leSetDataLength]), ([2, 1], both, [.leSetPHY]),
            ([0x22, 1], both, [.leSetDataLength, .leSetPHY]), ([0x22, 1], [], []),
        ]
        for (features, known, expected) in cases {
            let controller = Self.connected(features: features, known)
            #expect(LowEnergyHostTests.opcodes(controller.commands) == expected)
        }
        var controller = Self.connected(features: [0x22, 1], both)
        #expect(controller.host.phy(of: 0x40) == nil && controller.host.receivedDataLength(of: 0x40) == nil)
        controller.sendEvent(0x3E, [0x0C, 0x1A, 0x40, 0, 3, 3])
        #expect(controller.host.phy(of: 0x40) == nil)
        controller.sendEvent(0x3E, [0x0C, 0, 0x40, 0, 1, 2])
        controller.sendEvent(0x3E, [0x07, 0x40, 0, 27, 0, 0x48, 1, 251, 0, 0x48, 8])
        #expect(controller.host.phy(of: 0x40) == .fast && controller.host.receivedDataLength(of: 0x40) == 251)
        #expect(controller.host.counters.badPackets == 0)
    }

    @Test("A controller that refuses longer packets and LE 2M, or never answers, loses no link by that")
    func improvesNothing() {
        let both: Set<SupportedCommands.Bit> = [.leSetDataLength, .leSetPHY]
        for isSilent in [false, true] {
            var controller = Self.connected(features: [0x22, 1], both) { controller in
                if isSilent {
                    controller.unanswered = [.leSetDataLength, .leSetPHY]
                } else {
                    let status = HCIStatus(rawValue: 0x1A)
                    controller.refusals = [.leSetDataLength: status, .leSetPHY: status]
                }
            }
            // Data can be sent in the meantime.
            let isTaken = controller.host.send([0x02, 0x17, 0x00], on: 0x40)
            controller.pump()
            #expect(isTaken && controller.data.count == 1)
            controller.complete(0x40, 1)
            controller.advance(to: .seconds(9))
            #expect(controller.host.failure == nil && controller.host.connections.count == 1)
            // Commands that were not answered are not sent for the next link.
            controller.disconnect(0x40)
            controller.commands = []
            controller.host.connect(to: Self.peer, timeout: .seconds(10), now: controller.now)
            controller.pump()
            controller.connect(0x41, role: .central, peer: Self.peer)
            #expect(controller.commands.count == (isSilent ? 1 : 3))
        }
    }
}
