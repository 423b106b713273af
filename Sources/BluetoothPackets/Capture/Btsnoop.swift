// SPDX-License-Identifier: GPL-2.0-or-later

/// The btsnoop file format, with records of the kernel's monitor channel: btmon's own format, which Wireshark reads
/// too.
///
/// All of a file's own fields are big-endian; the packets in it are as they went over the transport. The format is that
/// of RFC 1761 with another identification and other timestamps; datalink type 2001 is BlueZ's, and Wireshark's
/// `BLUETOOTH_LINUX_MONITOR`. Its records name the controller and the direction, and there is a place for the
/// controller's own address, all of which datalink type 1002 (H4) lacks.
public enum Btsnoop {
    /// The eight bytes that a file begins with.
    public static let identification: [UInt8] = Array("btsnoop\0".utf8)
    /// The only version there is.
    public static let version: UInt32 = 1
    /// The datalink type of records of the monitor channel.
    public static let monitorDatalink: UInt32 = 2001
    /// The bytes before the first record.
    public static let headerByteCount = 16
    /// The bytes before each record's packet.
    public static let recordHeaderByteCount = 24
    /// The longest packet that a reader accepts: what a 16-bit length allows.
    public static let packetCapacity = 65_535
    /// The beginning of 1970 in the microseconds of the file.
    ///
    /// They count from "the year 0", which every program takes as 719,540 days before: BlueZ's and Wireshark's number
    /// too.
    public static let unixEpoch: Int64 = 0x00DC_DDB3_0F2F_8000

    /// The header of a file of the monitor's records.
    public static let header: [UInt8] = {
        var writer = ByteWriter(reservingCapacity: headerByteCount)
        writer.write(identification)
        writer.write(version.byteSwapped)
        writer.write(monitorDatalink.byteSwapped)
        return writer.bytes
    }()

    /// Refuses bytes that are not the header of such a file.
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

/// One packet of a btsnoop file of the monitor's records.
///
/// RFC 1761, with the fields' meanings of `Btsnoop`: the flags are the controller and the opcode.
public struct BtsnoopRecord: Equatable, Sendable {
    /// The kind of packet.
    public var opcode: MonitorOpcode
    /// The controller it concerns.
    public var index: ControllerIndex
    /// The time of its passing, in microseconds since the beginning of 1970 (UTC).
    public var time: Int64
    /// The number of packets dropped so far because nobody took them in time.
    public var drops: UInt32
    /// The packet's length when it passed.
    public var originalLength: UInt32
    /// The packet, or its beginning.
    public var payload: [UInt8]

    /// A record; without an original length, of a whole packet.
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

    /// The record as it stands in a file; a payload longer than `Btsnoop.packetCapacity` is cut.
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

    /// The record at the reader's place, whose packet must be whole within the bytes.
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

/// Takes a btsnoop file piece by piece and gives its records.
///
/// It holds no more than what was given since the last whole record.
public struct BtsnoopReader: Sendable {
    private var buffer: [UInt8] = []
    private var start = 0
    private var didReadHeader = false

    /// A reader at the beginning of a file.
    public init() {}

    /// Takes the file's next bytes.
    public mutating func append(_ bytes: some Sequence<UInt8>) {
        buffer.removeFirst(start)
        start = 0
        buffer.append(contentsOf: bytes)
    }

    /// The next record; nil when more bytes are needed.
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

    /// To be called at the file's end: refuses one that ends within its header or within a record.
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

/// One packet as the kernel's monitor channel delivers it: a header of six bytes, little-endian, and the rest (Linux,
/// include/net/bluetooth/hci_mon.h, struct hci_mon_hdr).
public struct MonitorPacket: Equatable, Sendable {
    /// The kind of packet.
    public var opcode: MonitorOpcode
    /// The controller it concerns, or `none`.
    public var index: ControllerIndex
    /// The length that the kernel names; the payload may have been cut.
    public var length: UInt16
    /// An HCI packet without its packet type, or the data that belongs to the opcode.
    public var payload: [UInt8]

    /// A packet with all of its fields.
    public init(opcode: MonitorOpcode, index: ControllerIndex, length: UInt16, payload: [UInt8]) {
        self.opcode = opcode
        self.index = index
        self.length = length
        self.payload = payload
    }

    /// Reads a packet from all of `bytes`, of which the end may have been cut off when `isTruncated`.
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

    /// The opcode of a number, known or not.
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
    /// Diagnostics in a form of the controller's maker: HCI_MON_VENDOR_DIAG.
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

    /// The opcode under which a packet of an HCI transport is recorded.
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

    /// True for packets between host and controller, and for the coming and going of controllers.
    ///
    /// The other packets are other programs': their log lines, and their management commands, which may carry keys.
    public var concernsController: Bool {
        rawValue <= Self.vendorDiagnostics.rawValue || self == .isochronousSent || self == .isochronousReceived
    }
}
