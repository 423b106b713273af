// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// Scripted firmware of a controller: it receives the host's bytes and returns the bytes that the script specifies.
///
/// Without a script, it is a Bluetooth 4 controller that receives no devices. It does nothing on its own and has no
/// clock: its user sends the output at the specified times.
public struct ScriptedFirmware: Sendable {
    /// Bytes that the firmware sends, with a delay.
    public struct Output: Sendable, Equatable {
        /// Delay before the bytes are sent.
        public var delay: Duration
        /// Bytes as transferred on the line.
        public var bytes: [UInt8]

        /// Creates output that is sent after a delay.
        public init(_ bytes: [UInt8], after delay: Duration = .zero) {
            self.bytes = bytes
            self.delay = delay
        }
    }

    /// Reaction to a command, instead of the correct one.
    public enum Reaction: Sendable {
        /// Ignores the command.
        case silence
        /// Sends these bytes, which can be anything.
        case says([UInt8])
        /// Sends these bytes before the correct answer.
        case saysFirst([UInt8])
        /// Answers correctly after a delay.
        case late(Duration)
        /// Answers with this status, in a Command Complete event, or in a Command Status event for commands that use
        /// it.
        case refuses(HCIStatus)
        /// Fails to connect: sends LE Connection Complete with this status.
        case failsToConnect(HCIStatus)
        /// Connects and disconnects at once: sends Disconnection Complete with this reason.
        case losesConnection(HCIStatus)
        /// Answers correctly, and then never again.
        case diesAfter
        /// Answers correctly; then a central connects, sends these L2CAP frames, and disconnects if `leaves` is true.
        case connects(central: DeviceAddress, frames: [[UInt8]], leaves: Bool)
    }

    /// Bytes that are sent when the line is opened, as if left over from an earlier host.
    public var greeting: [UInt8] = []
    /// Reactions to the next commands of each opcode, each used once, in order.
    public var script: [HCIOpcode: [Reaction]] = [:]
    /// Reactions to all commands of an opcode after its script has ended.
    public var always: [HCIOpcode: Reaction] = [:]
    /// Events that are sent when scanning is enabled.
    public var reports: [UInt8] = []
    /// Commands that the controller reports as supported.
    public var commands = SupportedCommands(Self.legacy)
    /// Its LMP features: LE, and no BR/EDR.
    public var features: UInt64 = 0x60 << 32
    /// True for a peer that disconnects when it receives an MTU request.
    public var hangsUpAtMTU = false
    /// True once the firmware has stopped reacting and sending.
    public var isDead = false
    /// True while scanning is enabled.
    public private(set) var isScanning = false

    /// True while the only connection exists.
    public private(set) var isConnected = false

    /// Received commands, in order.
    public private(set) var heard: [(opcode: HCIOpcode, parameters: [UInt8])] = []
    /// Received ATT requests, starting with the opcode.
    public private(set) var requests: [[UInt8]] = []

    private var reader = H4Reader(from: .host)

    /// Supported commands of a Bluetooth 4 controller.
    public static let legacy: Set<SupportedCommands.Bit> = [
        .readLocalSupportedFeatures, .leSetScanParameters, .leSetScanEnable, .leSetAdvertisingEnable,
        .leCreateConnection, .leCreateConnectionCancel,
    ]
    /// Supported commands of a Bluetooth 5 controller.
    public static let extended = legacy.union([
        .leSetExtendedScanParameters, .leSetExtendedScanEnable, .leExtendedCreateConnection,
        .leSetExtendedAdvertisingParameters, .leSetExtendedAdvertisingData, .leSetExtendedScanResponseData,
        .leSetExtendedAdvertisingEnable,
    ])
    /// Handle of every connection.
    private static let handle: [UInt8] = [0x40, 0x00]
    /// Commands that are answered by Command Status.
    private static let slow: Set<HCIOpcode> = [.disconnect, .leCreateConnection, .leExtendedCreateConnection]

    /// Creates a firmware without a script.
    public init() {}

    /// Returns the number of received commands with this opcode.
    public func count(_ opcode: HCIOpcode) -> Int { heard.count { $0.opcode == opcode } }

    /// Returns an LE Advertising Report of a connectable device.
    public static func report(_ sender: DeviceAddress, _ data: [UInt8], rssi: Int8) -> [UInt8] {
        let address = (0..<6).map { UInt8(truncatingIfNeeded: sender.address.rawValue >> ($0 * 8)) }
        let parameters =
            [0x02, 1, 0, sender.type.rawValue] + address + [UInt8(data.count)] + data + [UInt8(bitPattern: rssi)]
        return [0x04, 0x3E, UInt8(parameters.count)] + parameters
    }

    /// Handles bytes from the host, in blocks of any size.
    public mutating func receive(_ bytes: [UInt8]) -> [Output] {
        var packets: [[UInt8]] = []
        // Bytes that are not valid H4 are ignored.
        try? reader.read(bytes.span) { packet in packets.append((0..<packet.count).map { packet[$0] }) }
        return packets.flatMap { take($0) }
    }

    // MARK: Reactions

    private mutating func take(_ packet: [UInt8]) -> [Output] {
        guard !isDead else { return [] }
        guard packet[0] == HCIPacketType.command.rawValue else { return takeData(packet) }
        let opcode = HCIOpcode(rawValue: UInt16(packet[1]) | UInt16(packet[2]) << 8)
        heard.append((opcode, Array(packet.dropFirst(4))))
        var reaction = always[opcode]
        if script[opcode]?.isEmpty == false { reaction = script[opcode]?.removeFirst() }
        switch reaction {
        case .silence: return []
        case .says(let bytes): return [Output(bytes)]
        case .saysFirst(let bytes): return [Output(bytes)] + answer(opcode, packet)
        case .late(let delay): return answer(opcode, packet).map { Output($0.bytes, after: $0.delay + delay) }
        case .refuses(let status): return [Output(Self.answer(opcode, status))]
        case .failsToConnect(let status):
            return [Output(Self.answer(opcode, .success)), Output(connected(opcode, packet, status))]
        case .losesConnection(let reason):
            let begun = answer(opcode, packet)
            isConnected = false
            return begun + [Output([0x04, 0x05, 4, 0] + Self.handle + [reason.rawValue])]
        case .diesAfter:
            isDead = true
            return answer(opcode, packet)
        case .connects(let central, let frames, let leaves):
            let address = (0..<6).map { UInt8(truncatingIfNeeded: central.address.rawValue >> ($0 * 8)) }
            let peer = [central.type.rawValue] + address
            let connection = [0x04, 0x3E, 0x13, 0x01, 0] + Self.handle + [1] + peer + [0x18, 0, 0, 0, 0x90, 0x01, 0]
            isConnected = !leaves
            let data = frames.map { [0x02, 0x40, 0x20, UInt8($0.count), 0] + $0 }
            let end = [0x04, 0x05, 4, 0] + Self.handle + [HCIStatus.remoteUserTerminatedConnection.rawValue]
            let packets = [connection] + data + (leaves ? [end] : [])
            return answer(opcode, packet) + packets.map { Output($0) }
        case nil: return answer(opcode, packet)
        }
    }

    private mutating func answer(_ opcode: HCIOpcode, _ packet: [UInt8]) -> [Output] {
        let answer = Output(Self.answer(opcode, .success, returns(opcode)))
        switch opcode {
        case .leSetScanEnable, .leSetExtendedScanEnable:
            isScanning = packet[4] == 1
            return isScanning && !reports.isEmpty ? [answer, Output(reports)] : [answer]
        case .leCreateConnection, .leExtendedCreateConnection:
            isConnected = true
            return [answer, Output(connected(opcode, packet, .success))]
        case .leCreateConnectionCancel:
            return [answer, Output(connected(opcode, packet, .unknownConnectionIdentifier))]
        case .disconnect:
            isConnected = false
            return [answer, Output([0x04, 0x05, 4, 0] + Self.handle + [0x16])]
        case .reset:
            (isScanning, isConnected) = (false, false)
            return [answer]
        default: return [answer]
        }
    }

    private static func answer(_ opcode: HCIOpcode, _ status: HCIStatus, _ returned: [UInt8] = []) -> [UInt8] {
        let number = [UInt8(truncatingIfNeeded: opcode.rawValue), UInt8(truncatingIfNeeded: opcode.rawValue >> 8)]
        if slow.contains(opcode) { return [0x04, 0x0F, 4, status.rawValue, 1] + number }
        return [0x04, 0x0E, UInt8(4 + returned.count), 1] + number + [status.rawValue] + returned
    }

    private func returns(_ opcode: HCIOpcode) -> [UInt8] {
        switch opcode {
        case .readLocalSupportedCommands: commands.octets
        case .readLocalSupportedFeatures: (0..<8).map { UInt8(truncatingIfNeeded: features >> ($0 * 8)) }
        case .readBDADDR: [1, 2, 3, 4, 5, 6]
        case .leReadBufferSize: [27, 0, 4]
        case .leReadLocalSupportedFeatures: [0, 0, 0, 0, 0, 0, 0, 0]
        default: []
        }
    }

    private func connected(_ opcode: HCIOpcode, _ packet: [UInt8], _ status: HCIStatus) -> [UInt8] {
        let start = opcode == .leCreateConnection ? 9 : 6
        let peer = packet.count >= start + 7 ? Array(packet[start..<(start + 7)]) : [UInt8](repeating: 0, count: 7)
        return [0x04, 0x3E, 0x13, 0x01, status.rawValue] + Self.handle + [0] + peer + [0x18, 0, 0, 0, 0x90, 0x01, 0]
    }

    /// Completes a data packet immediately, and answers its requests (even opcodes) as a peer without attributes.
    private mutating func takeData(_ packet: [UInt8]) -> [Output] {
        guard isConnected else { return [] }
        let completed = Output([0x04, 0x13, 5, 1] + Self.handle + [1, 0])
        guard packet.count > 9, packet[7] == 4, packet[8] == 0 else { return [completed] }
        let request = Array(packet.dropFirst(9))
        guard request[0].isMultiple(of: 2) else { return [completed] }
        requests.append(request)
        if hangsUpAtMTU, request[0] == 0x02 {
            isConnected = false
            return [
                completed,
                Output([0x04, 0x05, 4, 0] + Self.handle + [HCIStatus.remoteUserTerminatedConnection.rawValue]),
            ]
        }
        let mtu: [UInt8] = [0x03, 23, 0]
        let handle = request.count > 2 ? Array(request[1...2]) : [0, 0]
        let answer = request[0] == 0x02 ? mtu : [0x01, request[0]] + handle + [0x0A]
        let frame = [UInt8(answer.count), 0, 4, 0] + answer
        return [completed, Output([0x02, 0x40, 0x20, UInt8(frame.count), 0] + frame)]
    }
}
