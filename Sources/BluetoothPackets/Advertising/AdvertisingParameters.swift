// SPDX-License-Identifier: GPL-2.0-or-later

/// Parameters for advertising with legacy PDUs, for the legacy and the extended advertising commands (Core 6.0, Vol 4,
/// Part E, 7.8.5 and 7.8.53).
public struct AdvertisingParameters: Hashable, Sendable {
    /// The kind of advertisement.
    public enum Kind: Hashable, Sendable {
        /// Centrals may connect, and request the scan response (ADV_IND).
        case connectable
        /// Scanners may request the scan response (ADV_SCAN_IND).
        case scannable
        /// Scanners may only listen (ADV_NONCONN_IND).
        case nonConnectable

        /// Advertising_Type (7.8.5).
        var legacyType: UInt8 {
            switch self {
            case .connectable: 0x00
            case .scannable: 0x02
            case .nonConnectable: 0x03
            }
        }

        /// Advertising_Event_Properties (7.8.53): bit 4 is "legacy PDUs".
        var eventProperties: UInt16 {
            switch self {
            case .connectable: 0x0013
            case .scannable: 0x0012
            case .nonConnectable: 0x0010
            }
        }
    }

    /// The kind.
    public var kind: Kind
    /// The advertising interval in units of 0.625 ms: 0x0020 … 0x4000 (20 ms … 10.24 s).
    public let interval: UInt16
    /// The advertised address.
    public var ownAddressType: ScanParameters.OwnAddressType

    /// Range of valid intervals.
    public static let intervals: ClosedRange<UInt16> = 0x0020...0x4000

    /// Creates parameters; an interval outside its range is clamped.
    public init(kind: Kind, interval: UInt16, ownAddressType: ScanParameters.OwnAddressType = .public) {
        self.kind = kind
        self.interval = min(max(interval, Self.intervals.lowerBound), Self.intervals.upperBound)
        self.ownAddressType = ownAddressType
    }
}

extension HCICommand {
    /// Maximum data length of a legacy advertisement in bytes.
    public static let maximumAdvertisingDataLength = 31
    /// All three primary channels.
    private static let allChannels: UInt8 = 0x07
    /// The highest valid handle of an advertising set.
    private static let advertisingHandleMask: UInt8 = 0xEF

    /// LE Set Advertising Parameters, undirected on all channels (Core 6.0, Vol 4, Part E, 7.8.5).
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

    /// LE Set Advertising Data; nil for more than 31 bytes (Core 6.0, Vol 4, Part E, 7.8.7).
    public static func leSetAdvertisingData(_ data: [UInt8]) -> HCICommand? {
        paddedData(data).map { HCICommand(.leSetAdvertisingData, $0) }
    }

    /// LE Set Scan Response Data; nil for more than 31 bytes (Core 6.0, Vol 4, Part E, 7.8.8).
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

    /// LE Set Extended Advertising Parameters [v1], undirected with legacy PDUs on all channels of LE 1M (Core 6.0, Vol
    /// 4, Part E, 7.8.53).
    public static func leSetExtendedAdvertisingParameters(
        handle: UInt8,
        _ parameters: AdvertisingParameters
    ) -> HCICommand {
        var writer = ByteWriter()
        writer.write(min(handle, advertisingHandleMask))
        writer.write(parameters.kind.eventProperties)
        for _ in 0..<2 {
            // The interval fields have 24 bits.
            writer.write(parameters.interval)
            writer.write(UInt8(0))
        }
        writer.write(allChannels)
        writer.write(parameters.ownAddressType.rawValue)
        writer.write(UInt8(0))
        writer.write(BluetoothAddress(rawValue: 0))
        // Advertising_Filter_Policy: accept all devices.
        writer.write(UInt8(0))
        // Advertising_TX_Power: chosen by the controller.
        writer.write(UInt8(0x7F))
        writer.write(LEPHY.le1M.rawValue)
        // Secondary_Advertising_Max_Skip.
        writer.write(UInt8(0))
        writer.write(LEPHY.le1M.rawValue)
        // Advertising_SID, and no notification of scan requests.
        writer.write(UInt8(0))
        writer.write(UInt8(0))
        return HCICommand(.leSetExtendedAdvertisingParameters, writer.bytes)
    }

    /// LE Set Extended Advertising Data, complete; nil for more than 31 bytes, which legacy PDUs cannot carry (Core
    /// 6.0, Vol 4, Part E, 7.8.54).
    public static func leSetExtendedAdvertisingData(handle: UInt8, _ data: [UInt8]) -> HCICommand? {
        completeData(handle, data).map { HCICommand(.leSetExtendedAdvertisingData, $0) }
    }

    /// LE Set Extended Scan Response Data, complete; nil for more than 31 bytes, which legacy PDUs cannot carry (Core
    /// 6.0, Vol 4, Part E, 7.8.55).
    public static func leSetExtendedScanResponseData(handle: UInt8, _ data: [UInt8]) -> HCICommand? {
        completeData(handle, data).map { HCICommand(.leSetExtendedScanResponseData, $0) }
    }

    /// LE Set Extended Advertising Enable for one set, until it is disabled (Core 6.0, Vol 4, Part E, 7.8.56).
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
