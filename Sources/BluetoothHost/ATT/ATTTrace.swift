// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// Extracts ATT PDUs from recorded HCI traffic: reassembles ACL fragments and returns the L2CAP PDUs of the ATT
/// channel.
///
/// It observes both directions of any number of connections. Malformed packets are counted and skipped. Core 6.0, Vol
/// 4, Part E, 5.4.2; Vol 3, Part A, 3.1.
public struct ATTTrace: Sendable {
    /// ATT PDU found in the recording.
    public struct Packet: Equatable, Sendable {
        /// Index of the controller that sent or received the PDU.
        public var index: ControllerIndex
        /// Handle of the connection that carried the PDU.
        public var connection: UInt16
        /// Direction of the PDU.
        public var direction: MonitorOpcode.Direction
        /// Time of the PDU's last fragment, in microseconds since the beginning of 1970 (UTC).
        public var time: Int64
        /// Bytes of the PDU.
        public var pdu: [UInt8]
    }

    private struct Key: Hashable, Sendable {
        var index: ControllerIndex
        var connection: UInt16
        var direction: MonitorOpcode.Direction
    }

    /// Fixed channel of the Attribute Protocol (Core 6.0, Vol 3, Part A, 2.1).
    private static let attributeChannel: UInt16 = 0x0004
    /// Number of bytes that precede the payload of an L2CAP PDU: its length and its channel.
    private static let basicHeader = 4
    /// Maximum number of incomplete PDUs; each connection can have one in each direction.
    ///
    /// If this number is exceeded, all incomplete PDUs except the newest are discarded and counted.
    private static let capacity = 64

    private var partial: [Key: [UInt8]] = [:]

    /// Number of malformed packets and incomplete PDUs.
    public private(set) var malformed = 0

    /// Creates an empty trace.
    public init() {}

    /// Processes the next record; returns the ATT PDU that the record completes, or nil.
    public mutating func handle(_ record: BtsnoopRecord) -> Packet? {
        let direction: MonitorOpcode.Direction
        switch record.opcode {
        case .aclSent: direction = .sent
        case .aclReceived: direction = .received
        default: return nil
        }
        do throws(DecodingError) {
            return try handle(record, direction)
        } catch {
            malformed &+= 1
            return nil
        }
    }

    private mutating func handle(
        _ record: BtsnoopRecord,
        _ direction: MonitorOpcode.Direction
    ) throws(DecodingError) -> Packet? {
        var reader = ByteReader(record.payload.span, packet: "HCI ACL Data packet")
        let flags = try reader.readUInt16("Handle")
        let length = try reader.readUInt16("Data Total Length")
        let data = try reader.readBytes(count: Int(length), "Data")
        try reader.expectEnd()
        let key = Key(index: record.index, connection: flags & 0x0FFF, direction: direction)
        // A packet boundary flag of 1 continues a PDU; all other values start a new PDU. Core 6.0, Vol 4, Part E,
        // 5.4.2.
        let isContinuation = flags &>> 12 & 0b11 == 0b01
        if isContinuation {
            // Skips a continuation fragment if the start of its PDU was not recorded.
            guard partial[key] != nil else { return nil }
            partial[key]?.append(contentsOf: data)
        } else {
            if partial.updateValue(data, forKey: key) != nil { malformed &+= 1 }
            if partial.count > Self.capacity {
                malformed &+= partial.count &- 1
                partial = [key: data]
            }
        }
        guard let joined = partial[key], joined.count >= Self.basicHeader else { return nil }
        let needed = Self.basicHeader &+ Int(UInt16(joined[0]) | UInt16(joined[1]) &<< 8)
        guard joined.count >= needed else { return nil }
        partial[key] = nil
        guard joined.count == needed else { throw reader.error("Data", .trailing(count: joined.count &- needed)) }
        guard UInt16(joined[2]) | UInt16(joined[3]) &<< 8 == Self.attributeChannel else { return nil }
        return Packet(
            index: record.index,
            connection: key.connection,
            direction: direction,
            time: record.time,
            pdu: Array(joined[Self.basicHeader...])
        )
    }
}

/// Selects the records to write to a capture: the records of one controller, without the traffic between other programs
/// and the kernel.
///
/// The controller may become known only after its first packets. Until then, packets are queued up to a maximum total
/// size.
public struct CaptureSelection: Sendable {
    /// Maximum total size of the packets queued until the controller is known, in bytes; further packets are discarded
    /// and counted.
    public static let waitingCapacity = 1 << 18

    private var index: ControllerIndex?
    private var waiting: [BtsnoopRecord] = []
    private var waitingBytes = 0
    private var dropped: UInt32 = 0

    /// Creates a selection for which the controller is not yet known.
    public init() {}

    /// Sets the controller, and returns the records that were queued for it.
    public mutating func follow(_ index: ControllerIndex) -> [BtsnoopRecord] {
        self.index = index
        defer { waiting = [] }
        waitingBytes = 0
        return waiting.filter { $0.index == index }
    }

    /// Returns the record if it is to be written now; nil if it is skipped or queued.
    public mutating func take(_ record: BtsnoopRecord) -> BtsnoopRecord? {
        guard record.opcode.concernsController, record.index != .none else { return nil }
        var record = record
        record.drops &+= dropped
        guard let index else {
            let bytes = record.payload.count &+ Btsnoop.recordHeaderByteCount
            if waitingBytes &+ bytes <= Self.waitingCapacity {
                waitingBytes &+= bytes
                waiting.append(record)
            } else {
                dropped &+= 1
            }
            return nil
        }
        return record.index == index ? record : nil
    }
}
