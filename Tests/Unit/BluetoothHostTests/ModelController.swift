// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets

/// Minimal controller that answers every command at once, and stores received packets.
struct ModelController {
    var host: LowEnergyHost
    var now = Duration.zero
    var buffers = DataBuffers(dataLength: 27, packetCount: 4)
    var isExtended = true
    var address: [UInt8] = [1, 2, 3, 4, 5, 6]
    /// Fifth octet of the LMP features: LE (0x40), without BR/EDR (0x20).
    var features: UInt8 = 0x60
    /// First two octets of the LE features.
    var lowEnergyFeatures: [UInt8] = [2, 0]
    /// Answer to Read RSSI: the handle and the RSSI.
    var signal: [UInt8] = [0x40, 0, 0xC4]
    /// Commands reported as supported, in addition to those of its generation.
    var known: Set<SupportedCommands.Bit> = []
    /// Error statuses of commands that are rejected.
    var refusals: [HCIOpcode: HCIStatus] = [:]
    /// Commands that are not answered.
    var unanswered: Set<HCIOpcode> = []
    var commands: [[UInt8]] = []
    var data: [[UInt8]] = []
    var events: [LowEnergyHost.Event] = []

    init(randomAddress: BluetoothAddress? = nil) {
        host = LowEnergyHost(randomAddress: randomAddress)
    }

    /// Returns a controller whose host is ready.
    static func ready(
        buffers: DataBuffers = DataBuffers(dataLength: 27, packetCount: 4),
        isExtended: Bool = true
    ) -> ModelController {
        var controller = ModelController()
        controller.buffers = buffers
        controller.isExtended = isExtended
        controller.pump()
        controller.events = []
        controller.commands = []
        return controller
    }

    /// Transfers packets between host and controller until there are none left.
    mutating func pump() {
        repeat {
            while let event = host.nextEvent() { events.append(event) }
            while let packet = host.nextOutgoing(now: now) {
                if packet[0] == 1 { answer(packet) } else { data.append(packet) }
            }
        } while host.hasEvents
    }

    mutating func advance(to time: Duration) {
        while let deadline = host.deadline, deadline <= time {
            now = max(now, deadline)
            host.handleDeadline(now: now)
            pump()
        }
        now = time
    }

    mutating func send(_ packet: [UInt8]) {
        host.receive(packet.span, now: now)
        pump()
    }

    mutating func sendEvent(_ code: UInt8, _ parameters: [UInt8]) {
        send([4, code, UInt8(parameters.count)] + parameters)
    }

    /// Reports a new connection.
    mutating func connect(_ handle: UInt16, role: ConnectionRole, peer: DeviceAddress, status: UInt8 = 0) {
        var writer = ByteWriter()
        writer.write([0x01, status] as [UInt8])
        writer.write(handle)
        writer.write(role.rawValue)
        writer.write(peer.type.rawValue)
        writer.write(peer.address)
        writer.write([0x18, 0, 0, 0, 0x90, 0x01, 0] as [UInt8])
        sendEvent(0x3E, writer.bytes)
    }

    mutating func disconnect(_ handle: UInt16, reason: UInt8 = 0x13) {
        sendEvent(0x05, [0, UInt8(handle & 0xFF), UInt8(handle >> 8), reason])
    }

    mutating func complete(_ handle: UInt16, _ count: UInt16) {
        sendEvent(
            0x13,
            [1, UInt8(handle & 0xFF), UInt8(handle >> 8), UInt8(count & 0xFF), UInt8(count >> 8)]
        )
    }

    /// Sends a frame of the peer in fragments of at most `size` bytes.
    mutating func sendFrame(_ handle: UInt16, channel: L2CAPChannel, _ payload: [UInt8], fragments size: Int = 27) {
        let frame = L2CAPFrame.encoded(channel, payload) ?? []
        for start in stride(from: 0, to: frame.count, by: size) {
            let piece = Array(frame[start..<min(start + size, frame.count)])
            send(ACLPacket.encoded(handle: handle, start == 0 ? .first : .continuing, piece.span))
        }
    }

    private mutating func answer(_ packet: [UInt8]) {
        commands.append(packet)
        let opcode = HCIOpcode(rawValue: UInt16(packet[1]) | UInt16(packet[2]) << 8)
        if unanswered.contains(opcode) { return }
        let status = refusals[opcode]?.rawValue ?? 0
        let hasStatusOnly: Set<HCIOpcode> = [
            .leCreateConnection, .leExtendedCreateConnection, .disconnect, .leConnectionUpdate, .leSetPHY,
        ]
        if hasStatusOnly.contains(opcode) {
            host.receive([4, 0x0F, 4, status, 1, packet[1], packet[2]].span, now: now)
            return
        }
        let returned = [status] + (status == 0 ? returns(opcode) : [])
        let event = [4, 0x0E, UInt8(3 + returned.count), 1, packet[1], packet[2]] + returned
        host.receive(event.span, now: now)
    }

    func returns(_ opcode: HCIOpcode) -> [UInt8] {
        switch opcode {
        case .readLocalSupportedCommands: return SupportedCommands(bits).octets
        case .readLocalSupportedFeatures: return [0, 0, 0, 0, features, 0, 0, 0]
        case .readBDADDR: return address
        case .leReadBufferSize:
            return [
                UInt8(buffers.dataLength & 0xFF), UInt8(buffers.dataLength >> 8),
                UInt8(truncatingIfNeeded: buffers.packetCount),
            ]
        case .leReadLocalSupportedFeatures: return lowEnergyFeatures + [0, 0, 0, 0, 0, 0]
        case .readRSSI: return signal
        case .leSetDataLength: return [0x40, 0]
        default: return []
        }
    }

    private var bits: Set<SupportedCommands.Bit> {
        let legacy: Set<SupportedCommands.Bit> = known.union([
            .readLocalSupportedFeatures, .leSetScanParameters, .leSetScanEnable, .leSetAdvertisingEnable,
            .leCreateConnection,
        ])
        return isExtended
            ? legacy.union([
                .leSetExtendedScanParameters, .leSetExtendedScanEnable, .leExtendedCreateConnection,
                .leSetExtendedAdvertisingParameters, .leSetExtendedAdvertisingData, .leSetExtendedScanResponseData,
                .leSetExtendedAdvertisingEnable,
            ]) : legacy
    }
}
