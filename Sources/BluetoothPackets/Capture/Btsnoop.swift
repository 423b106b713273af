// SPDX-License-Identifier: GPL-2.0-or-later

/// The btsnoop file format with records of the kernel's monitor channel, as used by btmon and Wireshark.
///
/// The file's own fields are big-endian; packets are stored as sent over the transport. The format is that of RFC 1761
/// with a different identification and different timestamps. Datalink type 2001 is defined by BlueZ, and called
/// `BLUETOOTH_LINUX_MONITOR` in Wireshark. Unlike datalink type 1002 (H4), its records contain the controller and the
/// direction, and can contain the controller's address.
public enum Btsnoop {
    /// The first eight bytes of a file.
    public static let identification: [UInt8] = Array("btsnoop\0".utf8)
    /// The only defined version.
    public static let version: UInt32 = 1
    /// The datalink type for monitor channel records.
    public static let monitorDatalink: UInt32 = 2001
    /// Length of the file header in bytes.
    public static let headerByteCount = 16
    /// Length of a record header in bytes.
    public static let recordHeaderByteCount = 24
    /// Maximum packet length in bytes accepted by a reader: the limit of a 16-bit length.
    public static let packetCapacity = 65_535
    /// The beginning of 1970 as a file timestamp in microseconds.
    ///
    /// Timestamps count from "the year 0", which BlueZ and Wireshark place 719,540 days before 1970.
    public static let unixEpoch: Int64 = 0x00DC_DDB3_0F2F_8000

    /// The header of a file with monitor channel records.
    public static let header: [UInt8] = {
        var writer = ByteWriter(reservingCapacity: headerByteCount)
        writer.write(identification)
        writer.write(version.byteSwapped)
        writer.write(monitorDatalink.byteSwapped)
        return writer.bytes
    }()

    /// Throws an error if the bytes are not the header of such a file.
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

/// One record of a btsnoop file with monitor channel records.
///
/// The layout is that of RFC 1761; the flags contain the controller and the opcode, as described at `Btsnoop`.
public struct BtsnoopRecord: Equatable, Sendable {
    /// The kind of packet.
    public var opcode: MonitorOpcode
    /// The controller it concerns.
    public var index: ControllerIndex
    /// The packet's timestamp, in microseconds since the beginning of 1970 (UTC).
    public var time: Int64
    /// Number of packets dropped so far because they were not read in time.
    public var drops: UInt32
    /// The packet's original length in bytes.
    public var originalLength: UInt32
    /// The packet, or its beginning if it was truncated.
    public var payload: [UInt8]

    /// Creates a record; without an original length, the payload is the whole packet.
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

    /// The encoded record; a payload longer than `Btsnoop.packetCapacity` is truncated.
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

    /// Reads the record at the reader's position; its packet must be complete.
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

/// An incremental parser of a btsnoop file.
///
/// It buffers only the bytes received since the last complete record.
public struct BtsnoopReader: Sendable {
    private var buffer: [UInt8] = []
    private var start = 0
    private var didReadHeader = false

    /// Creates a reader at the beginning of a file.
    public init() {}

    /// Appends the file's next bytes.
    public mutating func append(_ bytes: some Sequence<UInt8>) {
        buffer.removeFirst(start)
        start = 0
        buffer.append(contentsOf: bytes)
    }

    /// Returns the next record; nil if more bytes are needed.
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

    /// Throws an error if the file ends within its header or within a record; call it at the end of the file.
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

/// A packet of the kernel's monitor channel: a little-endian header of six bytes and a payload (Linux,
/// include/net/bluetooth/hci_mon.h, struct hci_mon_hdr).
public struct MonitorPacket: Equatable, Sendable {
    /// The kind of packet.
    public var opcode: MonitorOpcode
    /// The controller it concerns, or `none`.
    public var index: ControllerIndex
    /// The length reported by the kernel; the payload may be truncated.
    public var length: UInt16
    /// An HCI packet without its packet type, or other data as defined by the opcode.
    public var payload: [UInt8]

    /// Creates a packet with all of its fields.
    public init(opcode: MonitorOpcode, index: ControllerIndex, length: UInt16, payload: [UInt8]) {
        self.opcode = opcode
        self.index = index
        self.length = length
        self.payload = payload
    }

    /// Reads a packet from all of `bytes`; if `isTruncated`, its end may be missing.
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

/// The kind of a packet on the kernel's monitor channel (Linux, include/net/bluetooth/hci_mon.h).
public struct MonitorOpcode: RawRepresentable, Hashable, Sendable {
    /// The number.
    public let rawValue: UInt16

    /// Creates an opcode from its number, known or not.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// An HCI command: HCI_MON_COMMAND_PKT.
    public static let command = MonitorOpcode(rawValue: 2)
    /// An HCI event: HCI_MON_EVENT_PKT.
    public static let event = MonitorOpcode(rawValue: 3)
    /// ACL data to the controller: HCI_MON_ACL_TX_PKT.
    public static let aclSent = MonitorOpcode(rawValue: 4)
    /// ACL data from the controller: HCI_MON_ACL_RX_PKT.
    public static let aclReceived = MonitorOpcode(rawValue: 5)
    /// Synchronous data to the controller: HCI_MON_SCO_TX_PKT.
    public static let synchronousSent = MonitorOpcode(rawValue: 6)
    /// Synchronous data from the controller: HCI_MON_SCO_RX_PKT.
    public static let synchronousReceived = MonitorOpcode(rawValue: 7)
    /// Diagnostics in the vendor's format: HCI_MON_VENDOR_DIAG.
    public static let vendorDiagnostics = MonitorOpcode(rawValue: 11)
    /// Isochronous data to the controller: HCI_MON_ISO_TX_PKT.
    public static let isochronousSent = MonitorOpcode(rawValue: 18)
    /// Isochronous data from the controller: HCI_MON_ISO_RX_PKT.
    public static let isochronousReceived = MonitorOpcode(rawValue: 19)

    /// The direction of a packet.
    public enum Direction: Sendable, CaseIterable {
        /// From the host to the controller.
        case sent
        /// From the controller to the host.
        case received
    }

    /// Creates the opcode for recording a packet of an HCI transport.
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

    /// True for packets between host and controller, and for events about adding and removing controllers.
    ///
    /// The other packets are log messages and management commands of other programs, which may contain keys.
    public var concernsController: Bool {
        rawValue <= Self.vendorDiagnostics.rawValue || self == .isochronousSent || self == .isochronousReceived
    }
}
