// SPDX-License-Identifier: GPL-2.0-or-later

/// A channel of a connection.
///
/// Core 6.0, Vol 3, Part A, 2.1.
public struct L2CAPChannel: RawRepresentable, Hashable, Sendable {
    /// The channel identifier (CID).
    public let rawValue: UInt16

    /// A channel from its identifier.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// The Attribute Protocol.
    public static let attribute = L2CAPChannel(rawValue: 0x0004)
    /// L2CAP's own signalling on LE.
    public static let signalling = L2CAPChannel(rawValue: 0x0005)
    /// The Security Manager Protocol.
    public static let securityManager = L2CAPChannel(rawValue: 0x0006)
}

/// A basic frame of one channel, a view into its bytes.
///
/// Core 6.0, Vol 3, Part A, 3.1.
public struct L2CAPFrame: ~Escapable {
    /// The channel that it belongs to.
    public let channel: L2CAPChannel
    /// The bytes of the channel's protocol.
    public let payload: Span<UInt8>

    /// The bytes before the payload.
    public static let headerLength = 4
    /// The longest payload that the length can name.
    public static let maximumPayloadLength = Int(UInt16.max)

    /// Reads a whole frame; its length must name exactly what follows the channel.
    @_lifetime(copy frame)
    public init(_ frame: Span<UInt8>) throws(DecodingError) {
        var reader = ByteReader(frame, packet: "L2CAP Basic Frame")
        let length = Int(try reader.readUInt16("PDU Length"))
        channel = L2CAPChannel(rawValue: try reader.readUInt16("Channel ID"))
        payload = try reader.readSpan(count: length, "Information Payload")
        try reader.expectEnd()
    }

    /// A frame's bytes; nil for a payload that is too long.
    public static func encoded(_ channel: L2CAPChannel, _ payload: [UInt8]) -> [UInt8]? {
        guard payload.count <= maximumPayloadLength else { return nil }
        var writer = ByteWriter(reservingCapacity: headerLength &+ payload.count)
        writer.write(UInt16(truncatingIfNeeded: payload.count))
        writer.write(channel.rawValue)
        writer.write(payload)
        return writer.bytes
    }
}
