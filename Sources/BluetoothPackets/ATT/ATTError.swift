// SPDX-License-Identifier: GPL-2.0-or-later

/// Error code with which a server rejects a request (Core 6.0, Vol 3, Part F, 3.4.1.1; for the common profile errors,
/// Core Specification Supplement, Part B, 1.2).
public struct ATTError: RawRepresentable, Error, Hashable, Sendable {
    /// Error code as sent in the PDU.
    public let rawValue: UInt8

    /// Creates an error from any error code, known or unknown.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The handle is not valid on this server.
    public static let invalidHandle = ATTError(rawValue: 0x01)
    /// The attribute cannot be read.
    public static let readNotPermitted = ATTError(rawValue: 0x02)
    /// The attribute cannot be written.
    public static let writeNotPermitted = ATTError(rawValue: 0x03)
    /// The PDU was invalid.
    public static let invalidPDU = ATTError(rawValue: 0x04)
    /// The link must be authenticated first.
    public static let insufficientAuthentication = ATTError(rawValue: 0x05)
    /// The server does not support this request.
    public static let requestNotSupported = ATTError(rawValue: 0x06)
    /// The offset is past the end of the value.
    public static let invalidOffset = ATTError(rawValue: 0x07)
    /// The client is not authorized.
    public static let insufficientAuthorization = ATTError(rawValue: 0x08)
    /// Too many prepared writes are queued.
    public static let prepareQueueFull = ATTError(rawValue: 0x09)
    /// The range contains no attribute of this type.
    public static let attributeNotFound = ATTError(rawValue: 0x0A)
    /// The value is too short to be read in parts.
    public static let attributeNotLong = ATTError(rawValue: 0x0B)
    /// The link's encryption key is too short.
    public static let encryptionKeySizeTooShort = ATTError(rawValue: 0x0C)
    /// The value's length is invalid for the attribute.
    public static let invalidAttributeValueLength = ATTError(rawValue: 0x0D)
    /// An unexpected error occurred on the server.
    public static let unlikelyError = ATTError(rawValue: 0x0E)
    /// The link must be encrypted first.
    public static let insufficientEncryption = ATTError(rawValue: 0x0F)
    /// The attribute type is not a grouping type.
    public static let unsupportedGroupType = ATTError(rawValue: 0x10)
    /// The server has insufficient resources.
    public static let insufficientResources = ATTError(rawValue: 0x11)
    /// The client's copy of the database is out of date.
    public static let databaseOutOfSync = ATTError(rawValue: 0x12)
    /// The value is not allowed for the attribute.
    public static let valueNotAllowed = ATTError(rawValue: 0x13)
    /// A profile rejects the write.
    public static let writeRequestRejected = ATTError(rawValue: 0xFC)
    /// The client characteristic configuration does not meet the profile's requirements.
    public static let clientConfigurationImproper = ATTError(rawValue: 0xFD)
    /// A profile procedure is already in progress.
    public static let procedureAlreadyInProgress = ATTError(rawValue: 0xFE)
    /// The value is outside the profile's range.
    public static let outOfRange = ATTError(rawValue: 0xFF)

    /// Range of the application error codes.
    public static let applicationRange: ClosedRange<UInt8> = 0x80...0x9F
    /// Range of the common profile and service error codes.
    public static let commonProfileRange: ClosedRange<UInt8> = 0xE0...0xFF

    /// True if this is an application error code.
    public var isApplicationError: Bool { Self.applicationRange.contains(rawValue) }
    /// True if this is a common profile or service error code.
    public var isCommonProfileError: Bool { Self.commonProfileRange.contains(rawValue) }

    /// Name of the error in the specification; nil if the specification does not name the code.
    public var name: String? { Self.names[rawValue] }

    private static let names: [UInt8: String] = [
        0x01: "Invalid Handle",
        0x02: "Read Not Permitted",
        0x03: "Write Not Permitted",
        0x04: "Invalid PDU",
        0x05: "Insufficient Authentication",
        0x06: "Request Not Supported",
        0x07: "Invalid Offset",
        0x08: "Insufficient Authorization",
        0x09: "Prepare Queue Full",
        0x0A: "Attribute Not Found",
        0x0B: "Attribute Not Long",
        0x0C: "Encryption Key Size Too Short",
        0x0D: "Invalid Attribute Value Length",
        0x0E: "Unlikely Error",
        0x0F: "Insufficient Encryption",
        0x10: "Unsupported Group Type",
        0x11: "Insufficient Resources",
        0x12: "Database Out Of Sync",
        0x13: "Value Not Allowed",
        0xFC: "Write Request Rejected",
        0xFD: "Client Characteristic Configuration Descriptor Improperly Configured",
        0xFE: "Procedure Already in Progress",
        0xFF: "Out of Range",
    ]
}

extension ATTError: CustomStringConvertible {
    /// The error's name and code, such as `Invalid Handle (0x01)` or `application error (0x80)`.
    public var description: String {
        let kind =
            isApplicationError ? "application error" : isCommonProfileError ? "profile error" : "reserved error"
        let words = name ?? kind
        return "\(words) (0x\(Hexadecimal.text(UInt64(rawValue), digits: 2)))"
    }
}

/// Handle of an attribute on a server: 0x0001 to 0xFFFF; 0x0000 is invalid (Core 6.0, Vol 3, Part F, 3.2.2).
public struct AttributeHandle: RawRepresentable, Hashable, Sendable, Comparable {
    /// Handle as a number.
    public let rawValue: UInt16

    /// Creates a handle from any number, valid or invalid.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// Creates a handle from any number, valid or invalid.
    public init(_ value: UInt16) {
        self.init(rawValue: value)
    }

    /// Handle 0x0000, which no attribute has.
    public static let invalid = AttributeHandle(0x0000)
    /// Lowest valid handle.
    public static let first = AttributeHandle(0x0001)
    /// Highest valid handle.
    public static let last = AttributeHandle(0xFFFF)

    /// True for all handles except 0x0000.
    public var isValid: Bool { rawValue != 0 }

    /// Next higher handle; nil after 0xFFFF.
    public var next: AttributeHandle? {
        self == .last ? nil : AttributeHandle(rawValue &+ 1)
    }

    /// Returns true if `left` is the lower handle.
    public static func < (left: AttributeHandle, right: AttributeHandle) -> Bool {
        left.rawValue < right.rawValue
    }
}

extension AttributeHandle: CustomStringConvertible {
    /// The handle as four hexadecimal digits, such as `0x000B`.
    public var description: String { "0x" + Hexadecimal.text(UInt64(rawValue), digits: 4) }
}

/// Range of handles from `start` to `end`, inclusive, as in a packet; a received range may be invalid (Core 6.0, Vol 3,
/// Part F, 3.3.1).
public struct AttributeHandleRange: Hashable, Sendable, CustomStringConvertible {
    /// Lowest handle of the range.
    public var start: AttributeHandle
    /// Highest handle of the range.
    public var end: AttributeHandle

    /// Creates a range from the fields of a packet, whether they are valid or not.
    public init(start: AttributeHandle, end: AttributeHandle) {
        self.start = start
        self.end = end
    }

    /// Range of all valid handles, 0x0001 to 0xFFFF.
    public static let all = AttributeHandleRange(start: .first, end: .last)

    /// True if `start` is a valid handle and `end` is not below it.
    public var isValid: Bool { start.isValid && start <= end }

    /// Returns true if the handle is in the range, which includes both ends.
    public func contains(_ handle: AttributeHandle) -> Bool { start <= handle && handle <= end }

    /// The range as text, such as `0x0001-0xFFFF`.
    public var description: String { "\(start)-\(end)" }
}
