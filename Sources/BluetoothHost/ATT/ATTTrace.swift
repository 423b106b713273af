// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// Finds the ATT PDUs in recorded HCI traffic: joins ACL fragments to L2CAP PDUs and keeps those of the ATT channel.
///
/// A pure observer of both directions of any number of connections; what is malformed is counted and left out. Core
/// 6.0, Vol 4, Part E, 5.4.2; Vol 3, Part A, 3.1.
public struct ATTTrace: Sendable {
    /// One ATT PDU that was found.
    public struct Packet: Equatable, Sendable {
        /// The controller.
        public var index: ControllerIndex
        /// The connection's handle.
        public var connection: UInt16
        /// Its direction.
        public var direction: MonitorOpcode.Direction
        /// The time of its last fragment, in microseconds since the beginning of 1970 (UTC).
        public var time: Int64
        /// The PDU.
        public var pdu: [UInt8]
    }

    private struct Key: Hashable, Sendable {
        var index: ControllerIndex
        var connection: UInt16
        var direction: MonitorOpcode.Direction
    }

    /// The fixed channel of the Attribute Protocol (Core 6.0, Vol 3, Part A, 2.1).
    private static let attributeChannel: UInt16 = 0x0004
    /// The length and the channel before an L2CAP PDU's payload.
    private static let basicHeader = 4
    /// The connections of both directions that may have a PDU under way; more are forgotten, and counted.
    private static let capacity = 64

    private var partial: [Key: [UInt8]] = [:]

    /// The number of packets, and beginnings of packets, that could not be read.
    public private(set) var malformed = 0

    /// A trace of nothing yet.
    public init() {}

    /// Takes the next record; the PDU that it completes, if it does and if it is one of ATT.
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
        // The packet boundary flag: 1 continues, all else begins. Core 6.0, Vol 4, Part E, 5.4.2.
        let isContinuation = flags &>> 12 & 0b11 == 0b01
        if isContinuation {
            // A rest whose beginning was not recorded is left out.
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

/// The choice of records for a capture: those of one controller, and none between other programs and the kernel.
///
/// The controller may become known only after its first packets: until then they wait, within a bound.
public struct CaptureSelection: Sendable {
    /// The most bytes of packets that wait for the controller to be known; more are dropped and counted.
    public static let waitingCapacity = 1 << 18

    private var index: ControllerIndex?
    private var waiting: [BtsnoopRecord] = []
    private var waitingBytes = 0
    private var dropped: UInt32 = 0

    /// A selection that waits to be told the controller.
    public init() {}

    /// Keeps the records of this controller from now on, and returns those that have waited.
    public mutating func follow(_ index: ControllerIndex) -> [BtsnoopRecord] {
        self.index = index
        defer { waiting = [] }
        waitingBytes = 0
        return waiting.filter { $0.index == index }
    }

    /// The record as it is to be written; nil for one that is left out or waits.
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
