// SPDX-License-Identifier: GPL-2.0-or-later

/// 48-bit device address without its type (Core 6.0, Vol 6, Part B, 1.3).
public struct BluetoothAddress: RawRepresentable, Hashable, Sendable, Comparable {
    /// Address in the lower 48 bits; the first byte of the text form is the most significant byte.
    public let rawValue: UInt64

    /// Creates an address from the lower 48 bits of `rawValue`.
    @inlinable @inline(__always)
    public init(rawValue: UInt64) {
        self.rawValue = rawValue & 0xFFFF_FFFF_FFFF
    }

    /// Parses six bytes, each written as two hexadecimal digits in either case, separated by colons.
    ///
    /// Returns nil for any other text.
    public init?(_ text: some StringProtocol) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 6 else { return nil }
        var value: UInt64 = 0
        for part in parts {
            guard part.utf8.count == 2, part.utf8.allSatisfy({ $0 != UInt8(ascii: "+") }),
                let byte = UInt8(part, radix: 16)
            else { return nil }
            value = value &<< 8 | UInt64(byte)
        }
        self.init(rawValue: value)
    }

    /// Returns true if `left` is numerically lower.
    public static func < (left: BluetoothAddress, right: BluetoothAddress) -> Bool {
        left.rawValue < right.rawValue
    }
}

extension BluetoothAddress: CustomStringConvertible {
    /// The address as six uppercase hexadecimal bytes, separated by colons: `F0:F1:F2:F3:F4:F5`.
    public var description: String {
        stride(from: 40, through: 0, by: -8)
            .map { Hexadecimal.text(rawValue &>> UInt64($0) & 0xFF, digits: 2) }
            .joined(separator: ":")
    }
}

/// Type of a device address (Core 6.0, Vol 4, Part E, 7.7.65.2: Address_Type).
public enum AddressType: UInt8, Hashable, Sendable, CaseIterable {
    /// Public address, assigned by the IEEE.
    case `public` = 0
    /// Random address; its two highest bits determine whether it is static, resolvable or non-resolvable.
    case random = 1

    /// Creates the type from an HCI field; returns nil for values above 3.
    ///
    /// The values 2 and 3 are the types of identity addresses to which the controller has resolved a private address.
    @inlinable @inline(__always)
    public init?(hci value: UInt8) {
        switch value {
        case 0, 2: self = .public
        case 1, 3: self = .random
        default: return nil
        }
    }
}

/// Address with its type, which together identify a device over the air.
public struct DeviceAddress: Hashable, Sendable, LosslessStringConvertible {
    /// Address without its type.
    public var address: BluetoothAddress
    /// Type of the address.
    public var type: AddressType

    @inlinable @inline(__always)
    public init(_ address: BluetoothAddress, _ type: AddressType) {
        self.address = address
        self.type = type
    }

    /// Kind of a random address, determined by its two highest bits; `public` for a public address (Core 6.0, Vol 6,
    /// Part B, 1.3.2).
    public var kind: Kind {
        guard type == .random else { return .public }
        switch address.rawValue &>> 46 {
        case 0b11: return .staticRandom
        case 0b01: return .resolvablePrivate
        case 0b00: return .nonResolvablePrivate
        default: return .reserved
        }
    }

    public enum Kind: Sendable {
        /// Public address, assigned by the IEEE.
        case `public`
        /// Random address that stays constant at least until the device restarts.
        case staticRandom
        /// Private address that can be resolved with the device's identity resolving key.
        case resolvablePrivate
        case nonResolvablePrivate
        /// Random address of a kind that is reserved for future use.
        case reserved
    }

    /// The address and its type, such as `F0:F1:F2:F3:F4:F5 (random)`.
    public var description: String { "\(address) (\(type))" }

    /// Parses text in the format of `description`; returns nil for any other text.
    public init?(_ description: String) {
        let words = description.split(separator: " ", maxSplits: 1)
        guard words.count == 2, let address = BluetoothAddress(words[0]),
            let type = AddressType.allCases.first(where: { "(\($0))" == words[1] })
        else { return nil }
        self.init(address, type)
        guard self.description == description else { return nil }
    }
}
