// SPDX-License-Identifier: GPL-2.0-or-later

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
