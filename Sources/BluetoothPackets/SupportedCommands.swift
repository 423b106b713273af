// SPDX-License-Identifier: GPL-2.0-or-later

/// The commands that a controller knows: a map of 64 octets.
///
/// Core 6.0, Vol 4, Part E, 6.27 and 7.4.2.
public struct SupportedCommands: Hashable, Sendable {
    /// A command's place in the map.
    public struct Bit: Hashable, Sendable {
        /// Counted from the map's first byte, 0 … 63.
        public let octet: UInt8
        /// Counted from the least significant bit, 0 … 7.
        public let bit: UInt8

        /// A place; `bit` uses 3 bits.
        public init(octet: UInt8, bit: UInt8) {
            self.octet = octet
            self.bit = bit & 7
        }

        /// LE Set Advertising Parameters.
        public static let leSetAdvertisingParameters = Bit(octet: 25, bit: 5)
        /// LE Set Advertising Enable.
        public static let leSetAdvertisingEnable = Bit(octet: 26, bit: 1)
        /// LE Set Scan Parameters.
        public static let leSetScanParameters = Bit(octet: 26, bit: 2)
        /// LE Set Scan Enable.
        public static let leSetScanEnable = Bit(octet: 26, bit: 3)
        /// LE Set Extended Advertising Parameters.
        public static let leSetExtendedAdvertisingParameters = Bit(octet: 36, bit: 2)
        /// LE Set Extended Advertising Enable.
        public static let leSetExtendedAdvertisingEnable = Bit(octet: 36, bit: 5)
        /// LE Set Extended Scan Parameters.
        public static let leSetExtendedScanParameters = Bit(octet: 37, bit: 5)
        /// LE Set Extended Scan Enable.
        public static let leSetExtendedScanEnable = Bit(octet: 37, bit: 6)
    }

    /// The map's length in bytes.
    public static let byteCount = 64

    /// The map as it was received, 64 bytes.
    public let octets: [UInt8]

    /// A map in which only the given commands are set.
    public init(_ bits: Set<Bit>) {
        var octets = [UInt8](repeating: 0, count: Self.byteCount)
        for bit in bits where Int(bit.octet) < Self.byteCount { octets[Int(bit.octet)] |= 1 &<< bit.bit }
        self.octets = octets
    }

    /// Reads the return parameters of Read Local Supported Commands: status and map.
    ///
    /// A status other than success is refused as an impossible value.
    public init(returnParameters: Span<UInt8>) throws(DecodingError) {
        var reader = ByteReader(returnParameters, packet: "Read Local Supported Commands")
        let status = HCIStatus(rawValue: try reader.readUInt8("Status"))
        guard status == .success else { throw reader.error("Status", .invalidValue(UInt64(status.rawValue))) }
        octets = try reader.readBytes(count: Self.byteCount, "Supported_Commands")
        try reader.expectEnd()
    }

    /// True when the controller knows the command.
    public func contains(_ bit: Bit) -> Bool {
        Int(bit.octet) < octets.count && octets[Int(bit.octet)] & (1 &<< bit.bit) != 0
    }
}
