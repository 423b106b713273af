// SPDX-License-Identifier: GPL-2.0-or-later

/// Format of a btsnoop file that contains records of the kernel's monitor channel, as used by btmon and Wireshark.
///
/// The file's own fields are big-endian; packets are stored as they were sent over the transport. The format is that of
/// RFC 1761, but with a different identification and different timestamps. BlueZ defines datalink type 2001, which
/// Wireshark calls `BLUETOOTH_LINUX_MONITOR`. Unlike datalink type 1002 (H4), its records contain the controller and
/// the direction, and can contain the controller's address.
public enum Btsnoop {
    /// First eight bytes of a file.
    public static let identification: [UInt8] = Array("btsnoop\0".utf8)
    /// The only version that the format defines.
    public static let version: UInt32 = 1
    /// Datalink type of monitor channel records.
    public static let monitorDatalink: UInt32 = 2001
    /// Length of the file header, in bytes.
    public static let headerByteCount = 16
    /// Length of a record header, in bytes.
    public static let recordHeaderByteCount = 24
    /// Maximum packet length that a reader accepts, in bytes; packet lengths have 16 bits.
    public static let packetCapacity = 65_535
    /// Timestamp of the beginning of 1970, in microseconds.
    ///
    /// Timestamps are counted from "the year 0", which BlueZ and Wireshark place 719,540 days before 1970.
    public static let unixEpoch: Int64 = 0x00DC_DDB3_0F2F_8000

    /// Header of a file with monitor channel records.
    public static let header: [UInt8] = {
        var writer = ByteWriter(reservingCapacity: headerByteCount)
        writer.write(identification)
        writer.write(version.byteSwapped)
        writer.write(monitorDatalink.byteSwapped)
        return writer.bytes
    }()

    /// Throws an error unless the bytes are the header of a file with monitor channel records.
    public static func checkHeader(_ bytes: Span<UInt8>) throws(DecodingError) {
        var reader = ByteReader(bytes, packet: "btsnoop file")
        for byte in identification where try reader.readUInt8("Identification Pattern") != byte {
            throw DecodingError(
                packet: "btsnoop file",
                field: "Identification Pattern",
                offset: reader.offset &- 1,
                reason: .invalidValue(UInt64(bytes[reader.offset &- 1]))
            )
        }
        let version = try reader.readUInt32("Version Number").byteSwapped
        guard version == Self.version else { throw reader.error("Version Number", .invalidValue(UInt64(version))) }
        let datalink = try reader.readUInt32("Datalink Type").byteSwapped
        guard datalink == monitorDatalink else {
            throw reader.error("Datalink Type", .invalidValue(UInt64(datalink)))
        }
    }
}

/// Record of a btsnoop file with monitor channel records.
///
/// The layout is that of RFC 1761; the flags field contains the controller and the opcode (see `Btsnoop`).
public struct BtsnoopRecord: Equatable, Sendable {
    /// Kind of the packet.
    public var opcode: MonitorOpcode
    /// Controller that sent or received the packet, or that the record is about.
    public var index: ControllerIndex
    /// Time of the packet, in microseconds since the beginning of 1970 (UTC).
    public var time: Int64
    /// Number of packets that have been lost so far because they were not read in time.
    public var drops: UInt32
    /// Original length of the packet, in bytes.
    public var originalLength: UInt32
    /// Bytes of the packet, or its beginning if it was truncated.
    public var payload: [UInt8]

    /// Creates a record; if no original length is given, the payload is the whole packet.
    public init(
        opcode: MonitorOpcode,
        index: ControllerIndex,
        time: Int64,
        drops: UInt32 = 0,
        originalLength: UInt32? = nil,
        payload: [UInt8]
    ) {
        self.opcode = opcode
        self.index = index
        self.time = time
        self.drops = drops
        self.originalLength = originalLength ?? UInt32(truncatingIfNeeded: payload.count)
        self.payload = payload
    }

    /// The record in encoded form; truncates a payload longer than `Btsnoop.packetCapacity`.
    public var encoded: [UInt8] {
        let included = payload.prefix(Btsnoop.packetCapacity)
        let flags = UInt32(index.rawValue) &<< 16 | UInt32(opcode.rawValue)
        var writer = ByteWriter(reservingCapacity: Btsnoop.recordHeaderByteCount + included.count)
        writer.write(originalLength.byteSwapped)
        writer.write(UInt32(included.count).byteSwapped)
        writer.write(flags.byteSwapped)
        writer.write(drops.byteSwapped)
        writer.write(UInt64(bitPattern: time &+ Btsnoop.unixEpoch).byteSwapped)
        writer.write(included)
        return writer.bytes
    }

    /// Reads the record at the reader's position; throws an error if the packet is incomplete.
    @_lifetime(reader: copy reader)
    init(_ reader: inout ByteReader) throws(DecodingError) {
        originalLength = try reader.readUInt32("Original Length").byteSwapped
        let included = try reader.readUInt32("Included Length").byteSwapped
        guard included <= UInt32(Btsnoop.packetCapacity), included <= originalLength else {
            throw reader.error("Included Length", .invalidLength(Int(clamping: included)))
        }
        let flags = try reader.readUInt32("Packet Flags").byteSwapped
        index = ControllerIndex(rawValue: UInt16(truncatingIfNeeded: flags &>> 16))
        opcode = MonitorOpcode(rawValue: UInt16(truncatingIfNeeded: flags))
        drops = try reader.readUInt32("Cumulative Drops").byteSwapped
        time = Int64(bitPattern: try reader.readUInt64("Timestamp").byteSwapped) &- Btsnoop.unixEpoch
        payload = try reader.readBytes(count: Int(included), "Packet Data")
    }
}

extension BtsnoopRecord {
    /// Length of the packet that announces a controller, in bytes: its type, bus, address and name.
    private static let newIndexByteCount = 16
    /// Number of bytes before the name in this packet.
    private static let nameOffset = 8

    /// Creates a record that announces a controller by its name, of which eight bytes are stored.
    package init(naming name: String, index: ControllerIndex, time: Int64) {
        let name = Array(name.utf8.prefix(Self.newIndexByteCount &- Self.nameOffset))
        let padding = [UInt8](repeating: 0, count: Self.newIndexByteCount &- Self.nameOffset &- name.count)
        let payload = [UInt8](repeating: 0, count: Self.nameOffset) + name + padding
        self.init(opcode: .newIndex, index: index, time: time, payload: payload)
    }

    /// The controller's name; nil if the record does not announce a controller, or contains no name.
    package var controllerName: String? {
        guard opcode == .newIndex, payload.count >= Self.newIndexByteCount else { return nil }
        let name = payload[Self.nameOffset..<Self.newIndexByteCount].prefix { $0 != 0 }
        return name.isEmpty ? nil : String(decoding: name, as: UTF8.self)
    }
}

/// Incremental parser of a btsnoop file.
///
/// It buffers only the bytes after the last complete record.
public struct BtsnoopReader: Sendable {
    private var buffer: [UInt8] = []
    private var start = 0
    private var didReadHeader = false

    /// Creates a parser at the start of a file.
    public init() {}

    /// Appends the next bytes of the file.
    public mutating func append(_ bytes: some Sequence<UInt8>) {
        buffer.removeFirst(start)
        start = 0
        buffer.append(contentsOf: bytes)
    }

    /// Returns the next record, or nil if more bytes are needed.
    public mutating func next() throws(DecodingError) -> BtsnoopRecord? {
        if !didReadHeader {
            guard buffer.count &- start >= Btsnoop.headerByteCount else { return nil }
            try Btsnoop.checkHeader(buffer.span.extracting(start..<(start &+ Btsnoop.headerByteCount)))
            start &+= Btsnoop.headerByteCount
            didReadHeader = true
        }
        var reader = ByteReader(buffer.span.extracting(start..<buffer.count), packet: "btsnoop record")
        do throws(DecodingError) {
            let record = try BtsnoopRecord(&reader)
            start &+= reader.offset
            return record
        } catch {
            guard case .truncated = error.reason else { throw error }
            return nil
        }
    }

    /// Throws an error if the file ends within its header or within a record; must be called at the end of the file.
    public func finish() throws(DecodingError) {
        let rest = buffer.count &- start
        if !didReadHeader {
            throw DecodingError(
                packet: "btsnoop file",
                field: "header",
                offset: 0,
                reason: .truncated(needed: Btsnoop.headerByteCount, available: rest)
            )
        }
        guard rest == 0 else {
            throw DecodingError(
                packet: "btsnoop record",
                field: "Packet Data",
                offset: 0,
                reason: .truncated(needed: Btsnoop.recordHeaderByteCount, available: rest)
            )
        }
    }
}

/// Packet of the kernel's monitor channel: a little-endian header of six bytes, and a payload (Linux,
/// include/net/bluetooth/hci_mon.h, struct hci_mon_hdr).
public struct MonitorPacket: Equatable, Sendable {
    /// Kind of the packet.
    public var opcode: MonitorOpcode
    /// Controller that sent or received the packet, or `none`.
    public var index: ControllerIndex
    /// Payload length reported by the kernel, in bytes; the payload itself may be truncated.
    public var length: UInt16
    /// HCI packet without its packet indicator, or other data as defined by the opcode.
    public var payload: [UInt8]

    public init(opcode: MonitorOpcode, index: ControllerIndex, length: UInt16, payload: [UInt8]) {
        self.opcode = opcode
        self.index = index
        self.length = length
        self.payload = payload
    }

    /// Parses the whole of `bytes` as one packet; if `isTruncated` is true, the end of the packet may be missing.
    public init(_ bytes: Span<UInt8>, isTruncated: Bool = false) throws(DecodingError) {
        var reader = ByteReader(bytes, packet: "HCI monitor packet")
        opcode = MonitorOpcode(rawValue: try reader.readUInt16("opcode"))
        index = ControllerIndex(rawValue: try reader.readUInt16("index"))
        length = try reader.readUInt16("len")
        let count = isTruncated ? min(Int(length), reader.remaining) : Int(length)
        payload = try reader.readBytes(count: count, "payload")
        try reader.expectEnd()
    }
}

/// Kind of a packet on the kernel's monitor channel (Linux, include/net/bluetooth/hci_mon.h).
public struct MonitorOpcode: RawRepresentable, Hashable, Sendable {
    /// Opcode as a number.
    public let rawValue: UInt16

    /// Creates an opcode from any number, known or unknown.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// Name and address of a controller (HCI_MON_NEW_INDEX).
    public static let newIndex = MonitorOpcode(rawValue: 0)
    /// HCI command (HCI_MON_COMMAND_PKT).
    public static let command = MonitorOpcode(rawValue: 2)
    /// HCI event (HCI_MON_EVENT_PKT).
    public static let event = MonitorOpcode(rawValue: 3)
    /// ACL data to the controller (HCI_MON_ACL_TX_PKT).
    public static let aclSent = MonitorOpcode(rawValue: 4)
    /// ACL data from the controller (HCI_MON_ACL_RX_PKT).
    public static let aclReceived = MonitorOpcode(rawValue: 5)
    /// Synchronous data to the controller (HCI_MON_SCO_TX_PKT).
    public static let synchronousSent = MonitorOpcode(rawValue: 6)
    /// Synchronous data from the controller (HCI_MON_SCO_RX_PKT).
    public static let synchronousReceived = MonitorOpcode(rawValue: 7)
    /// Diagnostics in a vendor-specific format (HCI_MON_VENDOR_DIAG).
    public static let vendorDiagnostics = MonitorOpcode(rawValue: 11)
    /// Isochronous data to the controller (HCI_MON_ISO_TX_PKT).
    public static let isochronousSent = MonitorOpcode(rawValue: 18)
    /// Isochronous data from the controller (HCI_MON_ISO_RX_PKT).
    public static let isochronousReceived = MonitorOpcode(rawValue: 19)

    /// Direction of a packet.
    public enum Direction: Sendable, CaseIterable {
        /// From the host to the controller.
        case sent
        /// From the controller to the host.
        case received
    }

    /// Creates the opcode with which a packet of an HCI transport is recorded.
    public init(_ type: HCIPacketType, _ direction: Direction) {
        switch (type, direction) {
        case (.command, _): self = .command
        case (.event, _): self = .event
        case (.acl, .sent): self = .aclSent
        case (.acl, .received): self = .aclReceived
        case (.synchronous, .sent): self = .synchronousSent
        case (.synchronous, .received): self = .synchronousReceived
        case (.isochronous, .sent): self = .isochronousSent
        case (.isochronous, .received): self = .isochronousReceived
        }
    }

    /// True for packets between host and controller, and for events that report added and removed controllers.
    ///
    /// All other packets are log messages and other programs' management commands, which may contain keys.
    public var concernsController: Bool {
        rawValue <= Self.vendorDiagnostics.rawValue || self == .isochronousSent || self == .isochronousReceived
    }
}
