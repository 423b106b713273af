// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// Finder of ATT PDUs in recorded HCI traffic: it reassembles ACL fragments to L2CAP PDUs and returns those of the ATT
/// channel.
///
/// It only observes, in both directions and for any number of connections; malformed packets are counted and omitted.
/// Core 6.0, Vol 4, Part E, 5.4.2; Vol 3, Part A, 3.1.
public struct ATTTrace: Sendable {
    /// ATT PDU from the recording.
    public struct Packet: Equatable, Sendable {
        /// Index of the controller.
        public var index: ControllerIndex
        /// Handle of the connection.
        public var connection: UInt16
        /// Direction of the PDU.
        public var direction: MonitorOpcode.Direction
        /// Time of the last fragment, in microseconds since the beginning of 1970 (UTC).
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
    /// Number of bytes of the length and the channel before an L2CAP PDU's payload.
    private static let basicHeader = 4
    /// Maximum number of incomplete PDUs, one per connection and direction; beyond it, the others are discarded and
    /// counted.
    private static let capacity = 64

    private var partial: [Key: [UInt8]] = [:]

    /// Number of malformed packets and incomplete PDUs.
    public private(set) var malformed = 0

    /// Creates an empty trace.
    public init() {}

    /// Processes the next record; returns the ATT PDU that it completes, or nil.
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
        // Packet boundary flag: 1 continues a PDU, all other values start one. Core 6.0, Vol 4, Part E, 5.4.2.
        let isContinuation = flags &>> 12 & 0b11 == 0b01
        if isContinuation {
            // A continuation whose beginning was not recorded is omitted.
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

/// Filter of the records for a capture: those of one controller, without the traffic between other programs and the
/// kernel.
///
/// The controller may become known only after its first packets; until then they are queued, within a bound.
public struct CaptureSelection: Sendable {
    /// Maximum size of the packets queued until the controller is known, in bytes; further packets are discarded and
    /// counted.
    public static let waitingCapacity = 1 << 18

    private var index: ControllerIndex?
    private var waiting: [BtsnoopRecord] = []
    private var waitingBytes = 0
    private var dropped: UInt32 = 0

    /// Creates a selection without a controller.
    public init() {}

    /// Selects the controller, and returns its queued records.
    public mutating func follow(_ index: ControllerIndex) -> [BtsnoopRecord] {
        self.index = index
        defer { waiting = [] }
        waitingBytes = 0
        return waiting.filter { $0.index == index }
    }

    /// Returns the record to write; nil if it is omitted or queued.
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
