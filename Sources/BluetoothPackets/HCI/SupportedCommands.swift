// SPDX-License-Identifier: GPL-2.0-or-later

/// The commands that a controller knows: a map of 64 octets (Core 6.0, Vol 4, Part E, 6.27 and 7.4.2).
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

        /// LE Set Scan Parameters.
        public static let leSetScanParameters = Bit(octet: 26, bit: 2)
        /// LE Set Scan Enable.
        public static let leSetScanEnable = Bit(octet: 26, bit: 3)
        /// LE Set Extended Scan Parameters.
        public static let leSetExtendedScanParameters = Bit(octet: 37, bit: 5)
        /// LE Set Extended Scan Enable.
        public static let leSetExtendedScanEnable = Bit(octet: 37, bit: 6)
        /// Disconnect.
        public static let disconnect = Bit(octet: 0, bit: 5)
        /// Set Event Mask.
        public static let setEventMask = Bit(octet: 5, bit: 6)
        /// Reset.
        public static let reset = Bit(octet: 5, bit: 7)
        /// Read Local Supported Features.
        public static let readLocalSupportedFeatures = Bit(octet: 14, bit: 5)
        /// Read Buffer Size.
        public static let readBufferSize = Bit(octet: 14, bit: 7)
        /// Read BD_ADDR.
        public static let readBDADDR = Bit(octet: 15, bit: 1)
        /// Read RSSI.
        public static let readRSSI = Bit(octet: 15, bit: 5)
        /// Write LE Host Support.
        public static let writeLEHostSupport = Bit(octet: 24, bit: 6)
        /// LE Set Event Mask.
        public static let leSetEventMask = Bit(octet: 25, bit: 0)
        /// LE Read Buffer Size [v1].
        public static let leReadBufferSize = Bit(octet: 25, bit: 1)
        /// LE Read Local Supported Features.
        public static let leReadLocalSupportedFeatures = Bit(octet: 25, bit: 2)
        /// LE Set Random Address.
        public static let leSetRandomAddress = Bit(octet: 25, bit: 4)
        /// LE Set Advertising Parameters.
        public static let leSetAdvertisingParameters = Bit(octet: 25, bit: 5)
        /// LE Set Advertising Data.
        public static let leSetAdvertisingData = Bit(octet: 25, bit: 7)
        /// LE Set Scan Response Data.
        public static let leSetScanResponseData = Bit(octet: 26, bit: 0)
        /// LE Set Advertising Enable.
        public static let leSetAdvertisingEnable = Bit(octet: 26, bit: 1)
        /// LE Create Connection.
        public static let leCreateConnection = Bit(octet: 26, bit: 4)
        /// LE Create Connection Cancel.
        public static let leCreateConnectionCancel = Bit(octet: 26, bit: 5)
        /// LE Enable Encryption.
        public static let leEnableEncryption = Bit(octet: 28, bit: 0)
        /// LE Long Term Key Request Reply.
        public static let leLongTermKeyRequestReply = Bit(octet: 28, bit: 1)
        /// LE Remote Connection Parameter Request Reply.
        public static let leRemoteConnectionParameterRequestReply = Bit(octet: 33, bit: 4)
        /// LE Remote Connection Parameter Request Negative Reply.
        public static let leRemoteConnectionParameterRequestNegativeReply = Bit(octet: 33, bit: 5)
        /// LE Set Data Length.
        public static let leSetDataLength = Bit(octet: 33, bit: 6)
        /// LE Set PHY.
        public static let leSetPHY = Bit(octet: 35, bit: 6)
        /// LE Set Advertising Set Random Address.
        public static let leSetAdvertisingSetRandomAddress = Bit(octet: 36, bit: 1)
        /// LE Set Extended Advertising Parameters [v1].
        public static let leSetExtendedAdvertisingParameters = Bit(octet: 36, bit: 2)
        /// LE Set Extended Advertising Data.
        public static let leSetExtendedAdvertisingData = Bit(octet: 36, bit: 3)
        /// LE Set Extended Scan Response Data.
        public static let leSetExtendedScanResponseData = Bit(octet: 36, bit: 4)
        /// LE Set Extended Advertising Enable.
        public static let leSetExtendedAdvertisingEnable = Bit(octet: 36, bit: 5)
        /// LE Remove Advertising Set.
        public static let leRemoveAdvertisingSet = Bit(octet: 37, bit: 0)
        /// LE Clear Advertising Sets.
        public static let leClearAdvertisingSets = Bit(octet: 37, bit: 1)
        /// LE Extended Create Connection [v1].
        public static let leExtendedCreateConnection = Bit(octet: 37, bit: 7)
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
