// SPDX-License-Identifier: GPL-2.0-or-later

/// The refusal of a packet's bytes: the packet, the field, its place, and the fault.
public struct DecodingError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The fault of a field.
    public enum Reason: Equatable, Sendable {
        /// The field needs more bytes than are left.
        case truncated(needed: Int, available: Int)
        /// Bytes are left over after the last field.
        case trailing(count: Int)
        /// A length that the sender names, and that no packet of this kind can have.
        case invalidLength(Int)
        /// A value outside its range.
        case invalidValue(UInt64)
        /// The code (opcode, event code) belongs to another packet.
        case unexpectedCode(UInt16)
    }

    /// The packet's name in the specification's words, such as `Read By Type Response`.
    public var packet: String
    /// The field's name.
    public var field: String
    /// The field's beginning, in bytes from the packet's first.
    public var offset: Int
    /// The field's fault.
    public var reason: Reason

    /// An error with all of its fields.
    public init(packet: String, field: String, offset: Int, reason: Reason) {
        self.packet = packet
        self.field = field
        self.offset = offset
        self.reason = reason
    }

    /// One line for people: packet, field, offset and fault.
    public var description: String {
        let fault =
            switch reason {
            case .truncated(let needed, let available): "needs \(needed) bytes, \(available) are left"
            case .trailing(let count): "\(count) bytes too many"
            case .invalidLength(let length): "impossible length \(length)"
            case .invalidValue(let value): "impossible value \(value)"
            case .unexpectedCode(let code): "unexpected code \(code)"
            }
        return "\(packet): \(field) at byte \(offset): \(fault)"
    }
}
