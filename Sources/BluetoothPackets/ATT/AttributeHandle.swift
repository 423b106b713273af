// SPDX-License-Identifier: GPL-2.0-or-later

/// The number by which a server knows one of its attributes: 0x0001 to 0xFFFF; 0x0000 names none.
///
/// Core 6.0, Vol 3, Part F, 3.2.2.
public struct AttributeHandle: RawRepresentable, Hashable, Sendable, Comparable {
    /// The number.
    public let rawValue: UInt16

    /// The handle of a number, valid or not.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// The handle of a number, valid or not.
    public init(_ value: UInt16) {
        self.init(rawValue: value)
    }

    /// 0x0000, which names no attribute.
    public static let invalid = AttributeHandle(0x0000)
    /// 0x0001, the lowest that an attribute can have.
    public static let first = AttributeHandle(0x0001)
    /// 0xFFFF, the highest that an attribute can have.
    public static let last = AttributeHandle(0xFFFF)

    /// True for all but 0x0000.
    public var isValid: Bool { rawValue != 0 }

    /// The handle above this one; nil above 0xFFFF.
    public var next: AttributeHandle? {
        self == .last ? nil : AttributeHandle(rawValue &+ 1)
    }

    /// Numerical order.
    public static func < (left: AttributeHandle, right: AttributeHandle) -> Bool {
        left.rawValue < right.rawValue
    }
}

extension AttributeHandle: CustomStringConvertible {
    /// Four hexadecimal digits: `0x000B`.
    public var description: String { "0x" + Hexadecimal.text(UInt64(rawValue), digits: 4) }
}

/// The handles from `start` to `end`, both among them, as two fields of a packet; any two numbers can be received.
///
/// Core 6.0, Vol 3, Part F, 3.3.1.
public struct AttributeHandleRange: Hashable, Sendable, CustomStringConvertible {
    /// The lowest.
    public var start: AttributeHandle
    /// The highest.
    public var end: AttributeHandle

    /// A range as it stands in a packet, valid or not.
    public init(start: AttributeHandle, end: AttributeHandle) {
        self.start = start
        self.end = end
    }

    /// 0x0001 to 0xFFFF.
    public static let all = AttributeHandleRange(start: .first, end: .last)

    /// True when the start is a handle and the end is not below it.
    public var isValid: Bool { start.isValid && start <= end }

    /// True when the handle lies between the two ends or on one of them.
    public func contains(_ handle: AttributeHandle) -> Bool { start <= handle && handle <= end }

    /// `0x0001-0xFFFF`.
    public var description: String { "\(start)-\(end)" }
}
