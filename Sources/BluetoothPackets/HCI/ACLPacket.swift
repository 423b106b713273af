// SPDX-License-Identifier: GPL-2.0-or-later

/// A piece of L2CAP data on its way between host and controller, a view into the packet's bytes (Core 6.0, Vol 4, Part
/// E, 5.4.2).
public struct ACLPacket: ~Escapable {
    /// The place of a packet in the L2CAP frame that it carries a piece of.
    public enum Boundary: UInt8, Hashable, Sendable {
        /// The beginning of a frame, from a host; the controller may not flush it. The only beginning that LE sends.
        case firstNonFlushable = 0
        /// A further piece of the frame that was begun.
        case continuing = 1
        /// The beginning of a frame, from a controller.
        case first = 2
        /// A whole frame on a BR/EDR link; no LE link has it.
        case complete = 3
    }

    /// The connection, 12 bits.
    public let handle: UInt16
    /// The piece's place in its frame.
    public let boundary: Boundary
    /// The broadcast flag, 0 for every LE connection.
    public let broadcast: UInt8
    /// The piece.
    public let data: Span<UInt8>

    /// The bytes before the data, the indicator included.
    public static let headerLength = 5

    /// Reads a whole packet, its indicator (0x02) included; the length must name exactly what follows it.
    @_lifetime(copy packet)
    public init(_ packet: Span<UInt8>) throws(DecodingError) {
        var reader = ByteReader(packet, packet: "HCI ACL Data")
        let indicator = try reader.readUInt8("Packet Indicator")
        guard indicator == HCIPacketType.acl.rawValue else {
            throw DecodingError(
                packet: "HCI ACL Data",
                field: "Packet Indicator",
                offset: 0,
                reason: .unexpectedCode(UInt16(indicator))
            )
        }
        let word = try reader.readUInt16("Handle")
        handle = word & 0x0FFF
        boundary = Boundary(rawValue: UInt8(truncatingIfNeeded: word &>> 12) & 0b11) ?? .complete
        broadcast = UInt8(truncatingIfNeeded: word &>> 14)
        let length = Int(try reader.readUInt16("Data_Total_Length"))
        data = try reader.readSpan(count: length, "Data")
        try reader.expectEnd()
    }

    /// A packet's bytes, the indicator included; of `data` the first 65,535 bytes are taken.
    public static func encoded(handle: UInt16, _ boundary: Boundary, _ data: Span<UInt8>) -> [UInt8] {
        let piece = data.extracting(first: Int(UInt16.max))
        var writer = ByteWriter(reservingCapacity: headerLength &+ piece.count)
        writer.write(HCIPacketType.acl.rawValue)
        writer.write(handle & 0x0FFF | UInt16(boundary.rawValue) &<< 12)
        writer.write(UInt16(truncatingIfNeeded: piece.count))
        for index in piece.indices { writer.write(piece[index]) }
        return writer.bytes
    }
}
