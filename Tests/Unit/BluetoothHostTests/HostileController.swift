// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import TestSupport

/// Controller that answers some commands correctly and others arbitrarily, and sends false events.
struct HostileController {
    var random: SeededGenerator
    /// Number of correctly executed commands per thousand.
    var honesty: Int
    /// Number of turns per hundred in which it sends something on its own.
    let talk: Int
    /// False once the controller must behave correctly.
    var isHostile = true
    private let model: ModelController
    /// Connections that exist for the controller.
    private(set) var handles: [UInt16] = []
    /// Address of the device to connect to, as bytes of the command.
    private var wanted: [UInt8]?
    private var nextHandle: UInt16 = 1

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        honesty = [1000, 999, 997, 990, 950, 700][random.below(6)]
        talk = [0, 2, 20, 80][random.below(4)]
        var model = ModelController()
        model.isExtended = random.chance(50)
        model.buffers = DataBuffers(
            dataLength: UInt16([1, 27, 251, 1000][random.below(4)]),
            packetCount: UInt16([1, 2, 8, 255][random.below(4)])
        )
        self.model = model
    }

    // MARK: Answers

    /// Returns the packets that result from a packet of the host, in order.
    mutating func answers(to packet: [UInt8]) -> [[UInt8]] {
        guard packet[0] == 1 else { return answers(toData: packet) }
        let honest = honestAnswers(to: packet)
        guard isHostile, random.below(1000) >= honesty else { return honest }
        switch random.below(10) {
        // No answer, or only a part of it.
        case 0: return []
        case 1: return Array(honest.dropFirst())
        case 2: return honest.isEmpty ? [] : [honest[0]]
        // An error status.
        case 3: return [complete(packet, [random.byte()])]
        case 4: return [[4, 0x0F, 4, 1 + UInt8(random.below(0x45)), 1, packet[1], packet[2]]]
        // The answer twice.
        case 5: return honest + honest
        // An answer of another length, with a correct or incorrect length field.
        case 6: return honest.map { answer in random.chance(50) ? cut(answer) : resized(answer) }
        // An answer to another command, or one that allows no more commands.
        case 7: return honest.map { answer in changed(answer) }
        case 8: return honest.map { answer in withCredits(answer, random.chance(50) ? 0 : random.byte()) }
        default: return [[4, 0x10, 1, random.byte()]]
        }
    }

    private mutating func honestAnswers(to packet: [UInt8]) -> [[UInt8]] {
        let opcode = HCIOpcode(rawValue: UInt16(packet[1]) | UInt16(packet[2]) << 8)
        let status: (UInt8) -> [UInt8] = { [4, 0x0F, 4, $0, 1, packet[1], packet[2]] }
        switch opcode {
        case .leCreateConnection, .leExtendedCreateConnection:
            let start = opcode == .leCreateConnection ? 9 : 6
            guard packet.count >= start + 7 else { return [status(0x12)] }
            let peer = Array(packet[start..<(start + 7)])
            // Some of these events are omitted.
            guard random.chance(70) else {
                wanted = peer
                return [status(0)]
            }
            return [status(0), connected(peer, role: 0)]
        case .leCreateConnectionCancel:
            guard let peer = wanted else { return [complete(packet, [0x0C])] }
            wanted = nil
            return [
                complete(packet, [0]),
                meta(1, [0x02, 0, 0, 0, peer[0]] + peer[1...] + [0x18, 0, 0, 0, 0x90, 1, 0]),
            ]
        case .disconnect:
            let handle = UInt16(packet[4]) | UInt16(packet[5]) << 8
            guard let index = handles.firstIndex(of: handle) else { return [status(0x02)] }
            handles.remove(at: index)
            return [status(0), [4, 0x05, 4, 0, packet[4], packet[5], 0x16]]
        case .leConnectionUpdate:
            return [status(0), meta(3, [0, packet[4], packet[5], 0x18, 0, 0, 0, 0x90, 1])]
        default: return [complete(packet, [0] + model.returns(opcode))]
        }
    }

    /// Reports completed packets now, never, for another connection, or too many of them.
    private mutating func answers(toData packet: [UInt8]) -> [[UInt8]] {
        let handle = (UInt16(packet[1]) | UInt16(packet[2]) << 8) & 0x0FFF
        guard isHostile, random.below(1000) >= honesty else { return [completed(handle, 1)] }
        switch random.below(4) {
        case 0: return []
        case 1: return [completed(handle, UInt16.random(in: 0 ... .max, using: &random))]
        case 2: return [completed(UInt16.random(in: 0 ... .max, using: &random), 1)]
        default: return [completed(handle, 1), completed(handle, 1)]
        }
    }

    // MARK: Unsolicited packets

    /// Returns an unsolicited event or data packet.
    mutating func whim() -> [UInt8] {
        let handle = random.chance(70) ? handles.randomElement(using: &random) ?? 0x40 : UInt16(random.below(0x10000))
        let low = UInt8(truncatingIfNeeded: handle)
        let high = UInt8(truncatingIfNeeded: handle >> 8)
        switch random.below(14) {
        case 0: return connected([random.byte() & 1] + random.bytes(6), role: UInt8(random.below(2)))
        case 1: return [4, 0x05, 4, random.chance(80) ? 0 : random.byte(), low, high, random.byte()]
        case 2: return completed(handle, UInt16(random.below(4)))
        case 3: return meta(UInt8(random.below(0x30)), random.bytes(random.below(40)))
        case 4: return [4, random.byte(), UInt8(12)] + random.bytes(12)
        case 5: return random.bytes(random.below(60))
        case 6, 7: return data(handle, random.bytes(random.below(30)), UInt8(random.below(4)))
        // A frame of the Attribute Protocol, the signalling channel, or the Security Manager.
        case 8, 9, 10:
            let payload = random.bytes(random.below(24))
            let channel = UInt8([4, 5, 6, 7][random.below(4)])
            return data(handle, [UInt8(payload.count), 0, channel, 0] + payload, 2)
        // A parameter request from the peer, and one from the controller.
        case 11: return data(handle, [12, 0, 5, 0, 0x12, 1, 8, 0, 6, 0, 12, 0, 0, 0, 200, 0], 2)
        case 12: return meta(6, [low, high, 6, 0, 12, 0, 0, 0, 200, 0])
        default: return meta(5, [low, high] + random.bytes(10))
        }
    }

    private mutating func connected(_ peer: [UInt8], role: UInt8) -> [UInt8] {
        nextHandle = nextHandle % 0x0EFF + 1
        let handle = isHostile && random.chance(10) ? UInt16(random.below(0x1000)) : nextHandle
        if !handles.contains(handle) { handles.append(handle) }
        wanted = nil
        return meta(
            1,
            [0, UInt8(handle & 0xFF), UInt8(handle >> 8), role] + peer + [0x18, 0, 0, 0, 0x90, 1, 0]
        )
    }

    /// Reports that a central has connected correctly.
    mutating func central() -> [UInt8] { connected([0, 9, 9, 9, 9, 9, 9], role: 1) }

    private func meta(_ subevent: UInt8, _ parameters: [UInt8]) -> [UInt8] {
        [4, 0x3E, UInt8(parameters.count + 1), subevent] + parameters
    }

    private func complete(_ packet: [UInt8], _ returned: [UInt8]) -> [UInt8] {
        [4, 0x0E, UInt8(3 + returned.count), 1, packet[1], packet[2]] + returned
    }

    private func completed(_ handle: UInt16, _ count: UInt16) -> [UInt8] {
        [4, 0x13, 5, 1, UInt8(handle & 0xFF), UInt8(handle >> 8), UInt8(count & 0xFF), UInt8(count >> 8)]
    }

    private func data(_ handle: UInt16, _ bytes: [UInt8], _ boundary: UInt8) -> [UInt8] {
        let header = handle & 0x0FFF | UInt16(boundary) << 12
        return [2, UInt8(header & 0xFF), UInt8(header >> 8), UInt8(bytes.count), 0] + bytes
    }

    // MARK: Damaged packets

    private mutating func cut(_ packet: [UInt8]) -> [UInt8] { Array(packet.prefix(random.below(packet.count))) }

    /// Returns the packet with fewer or more parameters and a correct length field.
    private mutating func resized(_ packet: [UInt8]) -> [UInt8] {
        var packet =
            random.chance(50) ? packet + random.bytes(1 + random.below(5)) : Array(packet.dropLast(1 + random.below(5)))
        if packet.count > 2 { packet[2] = UInt8(clamping: packet.count - 3) }
        return packet
    }

    private mutating func changed(_ packet: [UInt8]) -> [UInt8] {
        var packet = packet
        packet[1 + random.below(packet.count - 1)] = random.byte()
        return packet
    }

    private func withCredits(_ packet: [UInt8], _ credits: UInt8) -> [UInt8] {
        var packet = packet
        let index = packet[1] == 0x0E ? 3 : 4
        if packet[1] == 0x0E || packet[1] == 0x0F, packet.count > index { packet[index] = credits }
        return packet
    }
}
