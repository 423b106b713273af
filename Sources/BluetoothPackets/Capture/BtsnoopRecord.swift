// SPDX-License-Identifier: GPL-2.0-or-later

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
