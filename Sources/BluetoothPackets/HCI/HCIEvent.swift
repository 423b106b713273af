// SPDX-License-Identifier: GPL-2.0-or-later

/// View of an HCI event from the controller; the packet's bytes are not copied (Core 6.0, Vol 4, Part E, 5.4.4 and
/// 7.7).
public enum HCIEvent: ~Escapable {
    /// Command Complete (0x0E, 7.7.14), with the number of commands that the controller accepts and the return
    /// parameters.
    case commandComplete(commandPackets: UInt8, opcode: HCIOpcode, returnParameters: Span<UInt8>)
    /// Command Status (0x0F, 7.7.15), which reports that a command was started or rejected.
    case commandStatus(status: HCIStatus, commandPackets: UInt8, opcode: HCIOpcode)
    /// Disconnection Complete (0x05, 7.7.5).
    case disconnectionComplete(status: HCIStatus, handle: UInt16, reason: HCIStatus)
    /// Hardware Error (0x10, 7.7.16), with a vendor-specific code.
    case hardwareError(code: UInt8)
    /// LE Meta (0x3E, 7.7.65), with the subevent code and the subevent's parameters.
    case leMeta(subevent: LESubevent, parameters: Span<UInt8>)
    case other(code: UInt8, parameters: Span<UInt8>)

    /// Event codes (Core 6.0, Vol 4, Part E, 7.7).
    public enum Code {
        /// Disconnection Complete.
        public static let disconnectionComplete: UInt8 = 0x05
        /// Encryption Change [v1] (7.7.8), parsed by `EncryptionChange`.
        public static let encryptionChange: UInt8 = 0x08
        /// Encryption Key Refresh Complete (7.7.39), parsed by `EncryptionChange`.
        public static let encryptionKeyRefreshComplete: UInt8 = 0x30
        /// Command Complete.
        public static let commandComplete: UInt8 = 0x0E
        /// Command Status.
        public static let commandStatus: UInt8 = 0x0F
        /// Hardware Error.
        public static let hardwareError: UInt8 = 0x10
        /// Number Of Completed Packets (7.7.19), parsed by `CompletedPackets`.
        public static let numberOfCompletedPackets: UInt8 = 0x13
        /// Data Buffer Overflow (7.7.26).
        public static let dataBufferOverflow: UInt8 = 0x1A
        /// LE Meta.
        @inlinable @inline(__always)
        public static var leMeta: UInt8 { 0x3E }
    }

    /// Parses a complete packet from an HCI socket, including its indicator (0x04).
    ///
    /// The length field must equal the number of bytes after it, and an event of fixed length must have that length.
    @inlinable @inline(__always)
    @_lifetime(copy packet)
    public init(_ packet: Span<UInt8>) throws(DecodingError) {
        guard packet.count >= Self.header, packet[0] == Self.indicator,
            Int(packet[2]) == packet.count &- Self.header
        else { throw Self.headerError(packet) }
        let parameters = packet.extracting(droppingFirst: Self.header)
        if packet[1] == Code.leMeta, !parameters.isEmpty {
            self = .leMeta(
                subevent: LESubevent(rawValue: parameters[0]),
                parameters: parameters.extracting(droppingFirst: 1)
            )
        } else {
            try self.init(code: packet[1], parameters: parameters)
        }
    }

    /// Packet indicator of an event: the raw value of `HCIPacketType.event`.
    @inlinable @inline(__always)
    static var indicator: UInt8 { 0x04 }
    /// Length of the header, in bytes: indicator, event code and length.
    @inlinable @inline(__always)
    static var header: Int { 3 }

    /// Returns the error for a packet with an invalid header.
    @usableFromInline @inline(never)
    static func headerError(_ packet: Span<UInt8>) -> DecodingError {
        var reader = ByteReader(packet, packet: "HCI Event")
        do throws(DecodingError) {
            try readHeader(&reader)
        } catch {
            return error
        }
        return reader.error("end", .trailing(count: reader.remaining))
    }

    /// Reads a packet's header and parameters.
    ///
    /// It is a separate function because the Swift 6.2 optimiser mishandles a reader that leaves scope on several
    /// paths.
    @_lifetime(reader: copy reader)
    private static func readHeader(_ reader: inout ByteReader) throws(DecodingError) {
        let indicator = try reader.readUInt8("Packet Indicator")
        guard indicator == Self.indicator else {
            throw DecodingError(
                packet: "HCI Event",
                field: "Packet Indicator",
                offset: 0,
                reason: .unexpectedCode(UInt16(indicator))
            )
        }
        _ = try reader.readUInt8("Event_Code")
        let length = Int(try reader.readUInt8("Parameter_Total_Length"))
        _ = try reader.readSpan(count: length, "Parameters")
    }

    /// Parses the parameters of an event with the given code.
    @_lifetime(copy parameters)
    public init(code: UInt8, parameters: Span<UInt8>) throws(DecodingError) {
        switch code {
        case Code.commandComplete:
            var reader = ByteReader(parameters, packet: "Command Complete")
            let packets = try reader.readUInt8("Num_HCI_Command_Packets")
            let opcode = HCIOpcode(rawValue: try reader.readUInt16("Command_Opcode"))
            let rest = reader.readRest()
            self = .commandComplete(commandPackets: packets, opcode: opcode, returnParameters: rest)
        case Code.commandStatus:
            var reader = ByteReader(parameters, packet: "Command Status")
            let status = HCIStatus(rawValue: try reader.readUInt8("Status"))
            let packets = try reader.readUInt8("Num_HCI_Command_Packets")
            let opcode = HCIOpcode(rawValue: try reader.readUInt16("Command_Opcode"))
            try reader.expectEnd()
            self = .commandStatus(status: status, commandPackets: packets, opcode: opcode)
        case Code.disconnectionComplete:
            var reader = ByteReader(parameters, packet: "Disconnection Complete")
            let status = HCIStatus(rawValue: try reader.readUInt8("Status"))
            let handle = try reader.readUInt16("Connection_Handle") & 0x0FFF
            let reason = HCIStatus(rawValue: try reader.readUInt8("Reason"))
            try reader.expectEnd()
            self = .disconnectionComplete(status: status, handle: handle, reason: reason)
        case Code.hardwareError:
            var reader = ByteReader(parameters, packet: "Hardware Error")
            let hardwareCode = try reader.readUInt8("Hardware_Code")
            try reader.expectEnd()
            self = .hardwareError(code: hardwareCode)
        case Code.leMeta:
            var reader = ByteReader(parameters, packet: "LE Meta")
            let subevent = LESubevent(rawValue: try reader.readUInt8("Subevent_Code"))
            let rest = reader.readRest()
            self = .leMeta(subevent: subevent, parameters: rest)
        default:
            self = .other(code: code, parameters: parameters)
        }
    }
}

/// Subevent code of an LE Meta event (Core 6.0, Vol 4, Part E, 7.7.65).
public struct LESubevent: RawRepresentable, Hashable, Sendable {
    /// Subevent code as a number.
    public let rawValue: UInt8

    /// Creates a subevent from its code.
    @inlinable @inline(__always)
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// LE Advertising Report (7.7.65.2).
    @inlinable @inline(__always)
    public static var advertisingReport: LESubevent { LESubevent(rawValue: 0x02) }
    /// LE Extended Advertising Report (7.7.65.13).
    @inlinable @inline(__always)
    public static var extendedAdvertisingReport: LESubevent { LESubevent(rawValue: 0x0D) }
    /// LE Scan Timeout, which reports the end of a scan with a duration (7.7.65.17).
    public static let scanTimeout = LESubevent(rawValue: 0x11)
    /// LE Connection Complete (7.7.65.1).
    public static let connectionComplete = LESubevent(rawValue: 0x01)
    /// LE Connection Update Complete (7.7.65.3).
    public static let connectionUpdateComplete = LESubevent(rawValue: 0x03)
    /// LE Read Remote Features Complete (7.7.65.4).
    public static let readRemoteFeaturesComplete = LESubevent(rawValue: 0x04)
    /// LE Long Term Key Request (7.7.65.5).
    public static let longTermKeyRequest = LESubevent(rawValue: 0x05)
    /// LE Remote Connection Parameter Request (7.7.65.6).
    public static let remoteConnectionParameterRequest = LESubevent(rawValue: 0x06)
    /// LE Data Length Change (7.7.65.7).
    public static let dataLengthChange = LESubevent(rawValue: 0x07)
    /// LE Enhanced Connection Complete [v1] (7.7.65.10).
    public static let enhancedConnectionComplete = LESubevent(rawValue: 0x0A)
    /// LE PHY Update Complete (7.7.65.12).
    public static let phyUpdateComplete = LESubevent(rawValue: 0x0C)
    /// LE Advertising Set Terminated (7.7.65.18).
    public static let advertisingSetTerminated = LESubevent(rawValue: 0x12)
}
