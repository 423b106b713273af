// SPDX-License-Identifier: GPL-2.0-or-later

/// One packet as the kernel's monitor channel delivers it: a header of six bytes, little-endian, and the rest.
///
/// Linux, include/net/bluetooth/hci_mon.h, struct hci_mon_hdr.
public struct MonitorPacket: Equatable, Sendable {
    /// The kind of packet.
    public var opcode: MonitorOpcode
    /// The controller it concerns, or `none`.
    public var index: ControllerIndex
    /// The length that the kernel names; the payload may have been cut.
    public var length: UInt16
    /// An HCI packet without its packet type, or the data that belongs to the opcode.
    public var payload: [UInt8]

    /// The bytes of the header.
    public static let headerByteCount = 6

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
