// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// Notification or indication of a peer, from the bearer to the reader of its bytes, which stay in the received PDU.
public struct ReceivedValue: Hashable, Sendable {
    /// Handle of the attribute.
    public var handle: AttributeHandle
    /// Method by which the value was sent.
    public var kind: GATTSubscriptionKind

    /// Creates the description of a value with this handle.
    public init(handle: AttributeHandle, kind: GATTSubscriptionKind) {
        self.handle = handle
        self.kind = kind
    }

    /// Returns the value's bytes in its PDU, where they follow the opcode and the handle (Core 6.0, Vol 3, Part F,
    /// 3.4.7.1 and 3.4.7.2).
    ///
    /// `pdu` is the one from which the bearer made this value, so it has at least 3 bytes.
    @_lifetime(copy pdu)
    public func bytes(in pdu: Span<UInt8>) -> Span<UInt8> { pdu.extracting(3..<pdu.count) }
}
