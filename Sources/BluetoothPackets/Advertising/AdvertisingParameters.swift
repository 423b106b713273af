// SPDX-License-Identifier: GPL-2.0-or-later

/// Parameters for advertising with legacy PDUs, with either the legacy or the extended commands (Core 6.0, Vol 4, Part
/// E, 7.8.5 and 7.8.53).
public struct AdvertisingParameters: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        /// Centrals can connect and request the scan response (ADV_IND).
        case connectable
        /// Scanners can request the scan response (ADV_SCAN_IND).
        case scannable
        /// Scanners can only listen (ADV_NONCONN_IND).
        case nonConnectable

        /// Value of Advertising_Type for this kind (7.8.5).
        var legacyType: UInt8 {
            switch self {
            case .connectable: 0x00
            case .scannable: 0x02
            case .nonConnectable: 0x03
            }
        }

        /// Value of Advertising_Event_Properties for this kind (7.8.53); bit 4 selects legacy PDUs.
        var eventProperties: UInt16 {
            switch self {
            case .connectable: 0x0013
            case .scannable: 0x0012
            case .nonConnectable: 0x0010
            }
        }
    }

    public var kind: Kind
    /// Advertising interval in units of 0.625 ms: 0x0020 … 0x4000 (20 ms … 10.24 s).
    public let interval: UInt16
    /// Type of the advertised address.
    public var ownAddressType: ScanParameters.OwnAddressType

    /// Range of valid intervals, in units of 0.625 ms.
    public static let intervals: ClosedRange<UInt16> = 0x0020...0x4000

    /// Creates parameters; clamps the interval to `intervals`.
    public init(kind: Kind, interval: UInt16, ownAddressType: ScanParameters.OwnAddressType = .public) {
        self.kind = kind
        self.interval = min(max(interval, Self.intervals.lowerBound), Self.intervals.upperBound)
        self.ownAddressType = ownAddressType
    }
}

extension HCICommand {
    /// Maximum data length of a legacy advertisement, in bytes.
    public static let maximumAdvertisingDataLength = 31
    /// Channel map with all three primary channels enabled.
    private static let allChannels: UInt8 = 0x07
    /// Highest valid handle of an advertising set.
    private static let advertisingHandleMask: UInt8 = 0xEF

    /// LE Set Advertising Parameters for undirected advertising on all channels (Core 6.0, Vol 4, Part E, 7.8.5).
    public static func leSetAdvertisingParameters(_ parameters: AdvertisingParameters) -> HCICommand {
        var writer = ByteWriter()
        writer.write(parameters.interval)
        writer.write(parameters.interval)
        writer.write(parameters.kind.legacyType)
        writer.write(parameters.ownAddressType.rawValue)
        writer.write(UInt8(0))
        writer.write(BluetoothAddress(rawValue: 0))
        writer.write(allChannels)
        writer.write(UInt8(0))
        return HCICommand(.leSetAdvertisingParameters, writer.bytes)
    }

    /// LE Set Advertising Data; nil if the data is longer than 31 bytes (Core 6.0, Vol 4, Part E, 7.8.7).
    public static func leSetAdvertisingData(_ data: [UInt8]) -> HCICommand? {
        paddedData(data).map { HCICommand(.leSetAdvertisingData, $0) }
    }

    /// LE Set Scan Response Data; nil if the data is longer than 31 bytes (Core 6.0, Vol 4, Part E, 7.8.8).
    public static func leSetScanResponseData(_ data: [UInt8]) -> HCICommand? {
        paddedData(data).map { HCICommand(.leSetScanResponseData, $0) }
    }

    /// LE Set Advertising Enable (Core 6.0, Vol 4, Part E, 7.8.9).
    public static func leSetAdvertisingEnable(_ isEnabled: Bool) -> HCICommand {
        HCICommand(.leSetAdvertisingEnable, [isEnabled ? 1 : 0])
    }

    /// LE Set Advertising Set Random Address (Core 6.0, Vol 4, Part E, 7.8.52).
    public static func leSetAdvertisingSetRandomAddress(handle: UInt8, _ address: BluetoothAddress) -> HCICommand {
        HCICommand(.leSetAdvertisingSetRandomAddress, ByteWriter.bytes(min(handle, advertisingHandleMask), address))
    }

    /// LE Set Extended Advertising Parameters [v1] for undirected advertising with legacy PDUs on all LE 1M channels
    /// (Core 6.0, Vol 4, Part E, 7.8.53).
    public static func leSetExtendedAdvertisingParameters(
        handle: UInt8,
        _ parameters: AdvertisingParameters
    ) -> HCICommand {
        var writer = ByteWriter()
        writer.write(min(handle, advertisingHandleMask))
        writer.write(parameters.kind.eventProperties)
        for _ in 0..<2 {
            // The two interval fields are 24 bits wide.
            writer.write(parameters.interval)
            writer.write(UInt8(0))
        }
        writer.write(allChannels)
        writer.write(parameters.ownAddressType.rawValue)
        writer.write(UInt8(0))
        writer.write(BluetoothAddress(rawValue: 0))
        // Advertising_Filter_Policy: all devices are accepted.
        writer.write(UInt8(0))
        // Advertising_TX_Power: the controller chooses.
        writer.write(UInt8(0x7F))
        writer.write(LEPHY.le1M.rawValue)
        // Secondary_Advertising_Max_Skip.
        writer.write(UInt8(0))
        writer.write(LEPHY.le1M.rawValue)
        // Advertising_SID, followed by Scan_Request_Notification_Enable, which is off.
        writer.write(UInt8(0))
        writer.write(UInt8(0))
        return HCICommand(.leSetExtendedAdvertisingParameters, writer.bytes)
    }

    /// LE Set Extended Advertising Data with the complete data; nil if it is longer than the 31 bytes that fit in a
    /// legacy PDU (Core 6.0, Vol 4, Part E, 7.8.54).
    public static func leSetExtendedAdvertisingData(handle: UInt8, _ data: [UInt8]) -> HCICommand? {
        completeData(handle, data).map { HCICommand(.leSetExtendedAdvertisingData, $0) }
    }

    /// LE Set Extended Scan Response Data with the complete data; nil if it is longer than the 31 bytes that fit in a
    /// legacy PDU (Core 6.0, Vol 4, Part E, 7.8.55).
    public static func leSetExtendedScanResponseData(handle: UInt8, _ data: [UInt8]) -> HCICommand? {
        completeData(handle, data).map { HCICommand(.leSetExtendedScanResponseData, $0) }
    }

    /// LE Set Extended Advertising Enable for one set, without a time limit (Core 6.0, Vol 4, Part E, 7.8.56).
    public static func leSetExtendedAdvertisingEnable(_ isEnabled: Bool, handle: UInt8) -> HCICommand {
        // Enable, Num_Sets, Advertising_Handle, Duration (2 bytes), Max_Extended_Advertising_Events.
        HCICommand(
            .leSetExtendedAdvertisingEnable,
            [isEnabled ? 1 : 0, 1, min(handle, advertisingHandleMask), 0, 0, 0]
        )
    }

    private static func paddedData(_ data: [UInt8]) -> [UInt8]? {
        guard data.count <= maximumAdvertisingDataLength else { return nil }
        let padding = [UInt8](repeating: 0, count: maximumAdvertisingDataLength &- data.count)
        return [UInt8(truncatingIfNeeded: data.count)] + data + padding
    }

    private static func completeData(_ handle: UInt8, _ data: [UInt8]) -> [UInt8]? {
        guard data.count <= maximumAdvertisingDataLength else { return nil }
        // Operation 3: complete data; Fragment_Preference 1: minimise fragmentation.
        return [min(handle, advertisingHandleMask), 3, 1, UInt8(truncatingIfNeeded: data.count)] + data
    }
}
