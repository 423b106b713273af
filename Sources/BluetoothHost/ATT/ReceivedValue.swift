// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// Notification or indication received from a peer.
///
/// It does not contain the value's bytes, which stay in the received PDU.
public struct ReceivedValue: Hashable, Sendable {
    /// Handle of the attribute.
    public var handle: AttributeHandle
    /// Method by which the value was sent: notification or indication.
    public var kind: GATTSubscriptionKind

    /// Creates the description of a received value.
    public init(handle: AttributeHandle, kind: GATTSubscriptionKind) {
        self.handle = handle
        self.kind = kind
    }

    /// Returns the value's bytes, which follow the opcode and the handle in its PDU (Core 6.0, Vol 3, Part F, 3.4.7.1
    /// and 3.4.7.2).
    ///
    /// `pdu` must be the PDU from which the bearer created this value; it therefore has at least 3 bytes.
    @_lifetime(copy pdu)
    public func bytes(in pdu: Span<UInt8>) -> Span<UInt8> { pdu.extracting(3..<pdu.count) }
}
