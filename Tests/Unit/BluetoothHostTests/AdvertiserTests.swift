// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import Testing

@Suite struct AdvertiserTests {
    static let generations: [Advertiser.Generation] = [.legacy, .extended]
    static let content = Advertiser.Content(
        AdvertisingParameters(kind: .connectable, interval: 0x00A0),
        data: [0x02, 0x01, 0x06],
        scanResponse: [0x02, 0x09, 0x41]
    )

    /// Returns the opcodes that start advertising, in order.
    private static func opcodes(_ generation: Advertiser.Generation) -> [HCIOpcode] {
        switch generation {
        case .legacy:
            [
                .leSetAdvertisingEnable, .leSetAdvertisingParameters, .leSetAdvertisingData, .leSetScanResponseData,
                .leSetAdvertisingEnable,
            ]
        case .extended:
            [
                .leSetExtendedAdvertisingEnable, .leSetExtendedAdvertisingParameters, .leSetExtendedAdvertisingData,
                .leSetExtendedScanResponseData, .leSetExtendedAdvertisingEnable,
            ]
        }
    }

    /// Answers commands with success until there are none left, and returns their opcodes.
    private func run(
        _ advertiser: inout Advertiser,
        _ answer: (HCIOpcode) -> HCIStatus = { _ in .success }
    ) -> [HCIOpcode] {
        var sent: [HCIOpcode] = []
        while let command = advertiser.nextCommand(now: .zero), sent.count < 20 {
            sent.append(command.opcode)
            let event = ScanEvents.complete(command.opcode, answer(command.opcode))
            advertiser.handle(event.span, now: .zero)
        }
        return sent
    }

    private func started(_ generation: Advertiser.Generation) -> Advertiser {
        var advertiser = Advertiser(generation)
        advertiser.start(Self.content)
        _ = run(&advertiser)
        return advertiser
    }

    @Test("The generation is that of the commands the controller knows")
    func generation() {
        let legacy: Set<SupportedCommands.Bit> = [.leSetAdvertisingParameters, .leSetAdvertisingEnable]
        let extended: Set<SupportedCommands.Bit> = [
            .leSetExtendedAdvertisingParameters, .leSetExtendedAdvertisingEnable,
        ]
        #expect(Advertiser(SupportedCommands(legacy))?.generation == .legacy)
        #expect(Advertiser(SupportedCommands(legacy.union(extended)))?.generation == .extended)
        #expect(Advertiser(SupportedCommands([.leSetExtendedAdvertisingEnable])) == nil)
    }

    @Test("Off, parameters, data, scan response, on; then off", arguments: generations)
    func sequence(_ generation: Advertiser.Generation) {
        var advertiser = Advertiser(generation)
        #expect(advertiser.state == .idle)
        advertiser.start(Self.content)
        #expect(advertiser.state == .starting)
        #expect(run(&advertiser) == Self.opcodes(generation))
        #expect(advertiser.state == .advertising)
        advertiser.stop()
        #expect(advertiser.state == .stopping)
        #expect(run(&advertiser) == [Self.opcodes(generation)[0]])
        #expect(advertiser.state == .idle)
        advertiser.stop()
        #expect(advertiser.nextCommand(now: .zero) == nil)
    }

    @Test("At the start, advertising that is already off, or a missing set, is no failure", arguments: generations)
    func offAlready(_ generation: Advertiser.Generation) {
        var advertiser = Advertiser(generation)
        advertiser.start(Self.content)
        var isFirst = true
        _ = run(&advertiser) { _ in
            defer { isFirst = false }
            return isFirst ? (generation == .legacy ? .commandDisallowed : .unknownAdvertisingIdentifier) : .success
        }
        #expect(advertiser.state == .advertising)
    }

    @Test("The commands that start advertising, byte for byte", arguments: generations)
    func bytes(_ generation: Advertiser.Generation) {
        let zeros = String(repeating: "00", count: 28)
        let expected =
            generation == .legacy
            ? [
                "010A200100", "0106200FA000A0000000000000000000000700", "0108202003020106" + zeros,
                "0109202003020941" + zeros, "010A200101",
            ]
            : [
                "01392006000100000000", "01362019001300A00000A00000070000000000000000007F010001" + "0000",
                "0137200700030103020106", "0138200700030103020941", "01392006010100000000",
            ]
        var advertiser = Advertiser(generation)
        advertiser.start(Self.content)
        var sent: [String] = []
        for second in 0..<5 {
            guard let command = advertiser.nextCommand(now: .seconds(second)) else { break }
            sent.append(Hexadecimal.text(command.encoded))
            #expect(advertiser.state == .starting && advertiser.deadline == .seconds(second + 2))
            advertiser.handle(ScanEvents.complete(command.opcode, .success).span, now: .seconds(second))
        }
        #expect(sent == expected && advertiser.state == .advertising && advertiser.deadline == nil)
    }

    @Test("Nobody asks a non-connectable advertiser for a scan response: none is set", arguments: generations)
    func nonConnectable(_ generation: Advertiser.Generation) {
        var advertiser = Advertiser(generation)
        advertiser.start(
            .init(AdvertisingParameters(kind: .nonConnectable, interval: 0x00A0), data: [0x02, 0x01, 0x04])
        )
        var expected = Self.opcodes(generation)
        expected.remove(at: 3)
        #expect(run(&advertiser) == expected)
    }

    @Test("A refused command fails it, with its name and status", arguments: generations, 1..<5)
    func refusals(_ generation: Advertiser.Generation, _ step: Int) {
        var advertiser = Advertiser(generation)
        advertiser.start(Self.content)
        var count = 0
        _ = run(&advertiser) { _ in
            defer { count += 1 }
            return count == step ? .invalidHCICommandParameters : .success
        }
        let opcode = Self.opcodes(generation)[step]
        #expect(advertiser.state == .failed(.refused(opcode, .invalidHCICommandParameters)))
        advertiser.start(Self.content)
        #expect(run(&advertiser) == Self.opcodes(generation))
    }

    @Test(
        "On again after a connection; refused while the controller is full, and tried again",
        arguments: generations
    )
    func resuming(_ generation: Advertiser.Generation) {
        var advertiser = started(generation)
        let enable = Self.opcodes(generation)[4]
        advertiser.resume()
        #expect(advertiser.state == .starting && advertiser.deadline == nil)
        #expect(run(&advertiser) == [enable])
        #expect(advertiser.state == .advertising)
        advertiser.resume()
        _ = run(&advertiser) { _ in .connectionLimitExceeded }
        #expect(advertiser.state == .suspended)
        advertiser.resume()
        #expect(run(&advertiser) == [enable])
        #expect(advertiser.state == .advertising)
        advertiser.stop()
        _ = run(&advertiser)
        advertiser.resume()
        #expect(advertiser.nextCommand(now: .zero) == nil)
    }

    @Test("A stop in the middle of a start ends in idle", arguments: generations)
    func stopWhileStarting(_ generation: Advertiser.Generation) {
        var advertiser = Advertiser(generation)
        advertiser.start(Self.content)
        let first = advertiser.nextCommand(now: .zero)
        advertiser.stop()
        #expect(advertiser.nextCommand(now: .zero) == nil)
        if let first { advertiser.handle(ScanEvents.complete(first.opcode, .success).span, now: .zero) }
        #expect(run(&advertiser) == [Self.opcodes(generation)[0]])
        #expect(advertiser.state == .idle)
    }

    @Test("A controller that is silent, broken or given too much", arguments: generations)
    func failures(_ generation: Advertiser.Generation) {
        var advertiser = Advertiser(generation)
        advertiser.start(Self.content)
        let opcode = advertiser.nextCommand(now: .zero)?.opcode
        advertiser.advance(now: .milliseconds(1999))
        #expect(advertiser.state == .starting)
        advertiser.advance(now: .seconds(2))
        #expect(advertiser.state == .failed(.noAnswer(opcode ?? .none)))

        advertiser = started(generation)
        advertiser.handle([0x04, 0x10, 0x01, 0x2A].span, now: .zero)
        #expect(advertiser.state == .failed(.hardwareError(0x2A)))

        let long = [UInt8](repeating: 0, count: 32)
        advertiser.start(.init(AdvertisingParameters(kind: .connectable, interval: 0x00A0), data: long))
        #expect(advertiser.state == .failed(.tooLong(data: 32, scanResponse: 0)))
        #expect(advertiser.nextCommand(now: .zero) == nil)
    }

    @Test("Commands of other programs are counted, and malformed packets have no effect", arguments: generations)
    func foreign(_ generation: Advertiser.Generation) {
        var advertiser = started(generation)
        advertiser.handle(ScanEvents.complete(Self.opcodes(generation)[4], .success).span, now: .zero)
        #expect(advertiser.foreignCommands == 1)
        advertiser.handle(ScanEvents.complete(.reset, .success).span, now: .zero)
        advertiser.handle(ScanEvents.complete(.leSetScanEnable, .success).span, now: .zero)
        #expect(advertiser.foreignCommands == 2)
        var idle = Advertiser(generation)
        idle.handle(ScanEvents.complete(.reset, .success).span, now: .zero)
        idle.handle([0x04, 0x10, 0x01, 0x2A].span, now: .zero)
        #expect(idle.foreignCommands == 0 && idle.state == .idle)
        for packet in [[], [0x04], [0x04, 0x0E, 0xFF], [0x02, 0x00]] as [[UInt8]] {
            advertiser.handle(packet.span, now: .zero)
        }
        #expect(advertiser.state == .advertising)
    }
}
