// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// The firmware of a controller at the end of a line: what the host writes goes in, byte by byte, and what it is told comes
/// out, as the script has it.
///
/// Without a script it is a controller of Bluetooth 4 that hears nobody. It does nothing by itself, and knows no time: the
/// player sends what it says when it says so.
public struct ScriptedFirmware: Sendable {
    /// What the firmware says, and when.
    public struct Output: Sendable, Equatable {
        /// The time until it is said.
        public var delay: Duration
        /// The bytes, as they pass the line.
        public var bytes: [UInt8]

        /// What is said at once, or after a time.
        public init(_ bytes: [UInt8], after delay: Duration = .zero) {
            self.bytes = bytes
            self.delay = delay
        }
    }

    /// What it does at a command, in the place of what it should.
    public enum Reaction: Sendable {
        /// Nothing at all.
        case silence
        /// These bytes, whatever they are.
        case says([UInt8])
        /// What it should, but these bytes before.
        case saysFirst([UInt8])
        /// What it should, later.
        case late(Duration)
        /// Command Complete, or for commands that take their time Command Status, with this status.
        case refuses(HCIStatus)
        /// The connection comes to nothing: LE Connection Complete with this status.
        case failsToConnect(HCIStatus)
        /// The connection is there, and gone at once: Disconnection Complete with this reason.
        case losesConnection(HCIStatus)
        /// What it should, and nothing ever after.
        case diesAfter
    }

    /// What comes out of the line as soon as somebody opens it: what the host before has left.
    public var greeting: [UInt8] = []
    /// What it does at the next commands of a kind, each once, in order.
    public var script: [HCIOpcode: [Reaction]] = [:]
    /// What it does at every command of a kind whose script is over.
    public var always: [HCIOpcode: Reaction] = [:]
    /// What it says when a scan was switched on: whole events.
    public var reports: [UInt8] = []
    /// The commands that it says it knows.
    public var commands = SupportedCommands(Self.legacy)
    /// Its LMP features: LE, and no BR/EDR.
    public var features: UInt64 = 0x60 << 32
    /// True for a peer that ends its connection when it is asked for its MTU.
    public var hangsUpAtMTU = false
    /// True once it has died: it hears nothing and says nothing.
    public var isDead = false
    /// True while it is told to scan.
    public private(set) var isScanning = false

    /// True while its one connection stands.
    public private(set) var isConnected = false

    /// What it was told, in order.
    public private(set) var heard: [(opcode: HCIOpcode, parameters: [UInt8])] = []
    /// The ATT requests that came, each with its opcode first.
    public private(set) var requests: [[UInt8]] = []

    private var reader = H4Reader(from: .host)

    /// The commands of Bluetooth 4.
    public static let legacy: Set<SupportedCommands.Bit> = [
        .readLocalSupportedFeatures, .leSetScanParameters, .leSetScanEnable, .leSetAdvertisingEnable,
        .leCreateConnection, .leCreateConnectionCancel,
    ]
    /// The same, and those of Bluetooth 5.
    public static let extended = legacy.union([
        .leSetExtendedScanParameters, .leSetExtendedScanEnable, .leExtendedCreateConnection,
        .leSetExtendedAdvertisingParameters, .leSetExtendedAdvertisingData, .leSetExtendedScanResponseData,
        .leSetExtendedAdvertisingEnable,
    ])
    /// The handle of each connection.
    private static let handle: [UInt8] = [0x40, 0x00]
    /// The commands that are answered by Command Status.
    private static let slow: Set<HCIOpcode> = [.disconnect, .leCreateConnection, .leExtendedCreateConnection]

    /// A firmware without a script.
    public init() {}

    /// The commands of one kind that came.
    public func count(_ opcode: HCIOpcode) -> Int { heard.count { $0.opcode == opcode } }

    /// An LE Advertising Report of a device that can be connected to.
    public static func report(_ sender: DeviceAddress, _ data: [UInt8], rssi: Int8) -> [UInt8] {
        let address = (0..<6).map { UInt8(truncatingIfNeeded: sender.address.rawValue >> ($0 * 8)) }
        let parameters =
            [0x02, 1, 0, sender.type.rawValue] + address + [UInt8(data.count)] + data + [UInt8(bitPattern: rssi)]
        return [0x04, 0x3E, UInt8(parameters.count)] + parameters
    }

    /// Takes bytes from the host, however they are cut.
    public mutating func receive(_ bytes: [UInt8]) -> [Output] {
        var packets: [[UInt8]] = []
        // What is no H4 goes nowhere.
        try? reader.read(bytes.span) { packet in packets.append((0..<packet.count).map { packet[$0] }) }
        return packets.flatMap { take($0) }
    }

    // MARK: What it does

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

    /// A packet of data leaves at once; its peer has no attributes.
    private mutating func takeData(_ packet: [UInt8]) -> [Output] {
        guard isConnected else { return [] }
        let completed = Output([0x04, 0x13, 5, 1] + Self.handle + [1, 0])
        guard packet.count > 9, packet[7] == 4, packet[8] == 0 else { return [completed] }
        let request = Array(packet.dropFirst(9))
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
