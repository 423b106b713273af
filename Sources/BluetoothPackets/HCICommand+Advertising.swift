// SPDX-License-Identifier: GPL-2.0-or-later

extension HCICommand {
    /// The most bytes of advertising data or of a scan response in a legacy PDU.
    ///
    /// Core 6.0, Vol 6, Part B, 2.3.1.1.
    public static let maximumAdvertisingLength = 31

    /// All three advertising channels: 37, 38 and 39.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.5 (Advertising_Channel_Map).
    private static let allChannels: UInt8 = 0x07

    /// LE Set Advertising Parameters.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.5.
    public static func leSetAdvertisingParameters(_ advertising: AdvertisingParameters) -> HCICommand {
        var writer = ByteWriter()
        writer.write(advertising.interval)
        writer.write(advertising.interval)
        writer.write(advertising.kind.rawValue)
        writer.write(advertising.ownAddressType.rawValue)
        writer.write(AddressType.public.rawValue)
        writer.write(BluetoothAddress(rawValue: 0))
        writer.write(allChannels)
        // Everybody may ask and connect.
        writer.write(UInt8(0x00))
        return HCICommand(.leSetAdvertisingParameters, writer.bytes)
    }

    /// LE Set Advertising Data; nil for more than 31 bytes.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.7.
    public static func leSetAdvertisingData(_ data: [UInt8]) -> HCICommand? {
        legacyData(.leSetAdvertisingData, data)
    }

    /// LE Set Scan Response Data; nil for more than 31 bytes.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.8.
    public static func leSetScanResponseData(_ data: [UInt8]) -> HCICommand? {
        legacyData(.leSetScanResponseData, data)
    }

    /// LE Set Advertising Enable.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.9.
    public static func leSetAdvertisingEnable(_ isEnabled: Bool) -> HCICommand {
        HCICommand(.leSetAdvertisingEnable, [isEnabled ? 1 : 0])
    }

    /// LE Set Extended Advertising Parameters for legacy PDUs; `handle` is the advertising set's, 0x00 … 0xEF.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.53.
    public static func leSetExtendedAdvertisingParameters(
        handle: UInt8,
        _ advertising: AdvertisingParameters
    ) -> HCICommand {
        var writer = ByteWriter()
        writer.write(handle)
        writer.write(advertising.kind.eventProperties)
        for _ in 0..<2 {
            // An interval of 24 bits.
            writer.write(advertising.interval)
            writer.write(UInt8(0))
        }
        writer.write(allChannels)
        writer.write(advertising.ownAddressType.rawValue)
        writer.write(AddressType.public.rawValue)
        writer.write(BluetoothAddress(rawValue: 0))
        // Everybody may ask and connect.
        writer.write(UInt8(0x00))
        // The controller chooses its power.
        writer.write(UInt8(0x7F))
        writer.write(LEPHY.le1M.rawValue)
        // No auxiliary packets are left out, on the same PHY, of set identifier 0.
        writer.write(UInt8(0))
        writer.write(LEPHY.le1M.rawValue)
        writer.write(UInt8(0))
        // Scan requests are not reported.
        writer.write(UInt8(0))
        return HCICommand(.leSetExtendedAdvertisingParameters, writer.bytes)
    }

    /// LE Set Extended Advertising Data, whole; nil for more than 31 bytes, which legacy PDUs do not carry.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.54.
    public static func leSetExtendedAdvertisingData(handle: UInt8, _ data: [UInt8]) -> HCICommand? {
        extendedData(.leSetExtendedAdvertisingData, handle, data)
    }

    /// LE Set Extended Scan Response Data, whole; nil for more than 31 bytes, which legacy PDUs do not carry.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.55.
    public static func leSetExtendedScanResponseData(handle: UInt8, _ data: [UInt8]) -> HCICommand? {
        extendedData(.leSetExtendedScanResponseData, handle, data)
    }

    /// LE Set Extended Advertising Enable for one set, until it is disabled.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.56.
    public static func leSetExtendedAdvertisingEnable(_ isEnabled: Bool, handle: UInt8) -> HCICommand {
        var writer = ByteWriter()
        writer.write(UInt8(isEnabled ? 1 : 0))
        writer.write(UInt8(1))
        writer.write(handle)
        // No end by time or by number of events.
        writer.write(UInt16(0))
        writer.write(UInt8(0))
        return HCICommand(.leSetExtendedAdvertisingEnable, writer.bytes)
    }

    /// A length and 31 bytes, the unused ones zero.
    private static func legacyData(_ opcode: HCIOpcode, _ data: [UInt8]) -> HCICommand? {
        guard data.count <= maximumAdvertisingLength else { return nil }
        var writer = ByteWriter()
        writer.write(UInt8(truncatingIfNeeded: data.count))
        writer.write(data)
        writer.write([UInt8](repeating: 0, count: maximumAdvertisingLength &- data.count))
        return HCICommand(opcode, writer.bytes)
    }

    private static func extendedData(_ opcode: HCIOpcode, _ handle: UInt8, _ data: [UInt8]) -> HCICommand? {
        guard data.count <= maximumAdvertisingLength else { return nil }
        var writer = ByteWriter()
        writer.write(handle)
        // Operation: complete data. Fragment preference: not to be fragmented.
        writer.write(UInt8(0x03))
        writer.write(UInt8(0x01))
        writer.write(UInt8(truncatingIfNeeded: data.count))
        writer.write(data)
        return HCICommand(opcode, writer.bytes)
    }
}
