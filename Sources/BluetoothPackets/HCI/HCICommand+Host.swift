// SPDX-License-Identifier: GPL-2.0-or-later

/// Commands of a host stack that has exclusive control of its controller.
extension HCICommand {
    /// Set Event Mask (Core 6.0, Vol 4, Part E, 7.3.1).
    public static func setEventMask(_ mask: HCIEventMask) -> HCICommand {
        HCICommand(.setEventMask, ByteWriter.bytes(mask.rawValue))
    }

    /// LE Set Event Mask (Core 6.0, Vol 4, Part E, 7.8.1).
    public static func leSetEventMask(_ mask: LEEventMask) -> HCICommand {
        HCICommand(.leSetEventMask, ByteWriter.bytes(mask.rawValue))
    }

    /// Write LE Host Support, which enables or disables LE in a dual-mode controller (Core 6.0, Vol 4, Part E, 7.3.79).
    public static func writeLEHostSupport(_ isOn: Bool) -> HCICommand {
        // The second byte, Simultaneous LE and BR/EDR, is obsolete and must be zero.
        HCICommand(.writeLEHostSupport, [isOn ? 1 : 0, 0])
    }

    /// Read Local Supported Features; parse the answer with `HCIReturn.features` (Core 6.0, Vol 4, Part E, 7.4.3).
    public static let readLocalSupportedFeatures = HCICommand(.readLocalSupportedFeatures)

    /// Read Buffer Size; parse the answer with `DataBuffers.init(readBufferSize:)` (Core 6.0, Vol 4, Part E, 7.4.5).
    public static let readBufferSize = HCICommand(.readBufferSize)

    /// Read BD_ADDR; parse the answer with `HCIReturn.address` (Core 6.0, Vol 4, Part E, 7.4.6).
    public static let readBDADDR = HCICommand(.readBDADDR)

    /// LE Read Buffer Size [v1]; parse the answer with `DataBuffers.init(leReadBufferSize:)` (Core 6.0, Vol 4, Part E,
    /// 7.8.2).
    public static let leReadBufferSize = HCICommand(.leReadBufferSize)

    /// LE Read Local Supported Features; parse the answer with `HCIReturn.features` (Core 6.0, Vol 4, Part E, 7.8.3).
    public static let leReadLocalSupportedFeatures = HCICommand(.leReadLocalSupportedFeatures)

    /// LE Set Random Address (Core 6.0, Vol 4, Part E, 7.8.4).
    public static func leSetRandomAddress(_ address: BluetoothAddress) -> HCICommand {
        HCICommand(.leSetRandomAddress, ByteWriter.bytes(address))
    }

    /// LE Create Connection to one device (Core 6.0, Vol 4, Part E, 7.8.12).
    public static func leCreateConnection(
        to device: DeviceAddress,
        _ parameters: ConnectionParameters,
        ownAddressType: ScanParameters.OwnAddressType = .public
    ) -> HCICommand {
        var writer = ByteWriter()
        writer.write(initiatingInterval)
        writer.write(initiatingWindow)
        // Initiator_Filter_Policy: connect to the peer address that follows.
        writer.write(UInt8(0))
        writer.write(device.type.rawValue)
        writer.write(device.address)
        writer.write(ownAddressType.rawValue)
        parameters.write(to: &writer)
        // Min_CE_Length and Max_CE_Length: the controller chooses.
        writer.write(UInt16(0))
        writer.write(UInt16(0))
        return HCICommand(.leCreateConnection, writer.bytes)
    }

    /// LE Extended Create Connection [v1] to one device on LE 1M (Core 6.0, Vol 4, Part E, 7.8.66).
    public static func leExtendedCreateConnection(
        to device: DeviceAddress,
        _ parameters: ConnectionParameters,
        ownAddressType: ScanParameters.OwnAddressType = .public
    ) -> HCICommand {
        var writer = ByteWriter()
        // Initiator_Filter_Policy: connect to the peer address that follows.
        writer.write(UInt8(0))
        writer.write(ownAddressType.rawValue)
        writer.write(device.type.rawValue)
        writer.write(device.address)
        // Initiating_PHYs: bit 0 is LE 1M.
        writer.write(UInt8(1))
        writer.write(initiatingInterval)
        writer.write(initiatingWindow)
        parameters.write(to: &writer)
        writer.write(UInt16(0))
        writer.write(UInt16(0))
        return HCICommand(.leExtendedCreateConnection, writer.bytes)
    }

    /// LE Create Connection Cancel (Core 6.0, Vol 4, Part E, 7.8.13).
    public static let leCreateConnectionCancel = HCICommand(.leCreateConnectionCancel)

    /// LE Connection Update (Core 6.0, Vol 4, Part E, 7.8.18).
    public static func leConnectionUpdate(handle: UInt16, _ parameters: ConnectionParameters) -> HCICommand {
        HCICommand(.leConnectionUpdate, change(handle, parameters))
    }

    /// Read RSSI, which returns the signal strength of a connection's peer (Core 6.0, Vol 4, Part E, 7.5.4).
    public static func readRSSI(handle: UInt16) -> HCICommand {
        HCICommand(.readRSSI, ByteWriter.bytes(handle & 0x0FFF))
    }

    /// LE Set Data Length, set to the maximum of 251 bytes in 2,120 µs (Core 6.0, Vol 4, Part E, 7.8.33).
    public static func leSetDataLength(handle: UInt16) -> HCICommand {
        HCICommand(.leSetDataLength, ByteWriter.bytes(handle & 0x0FFF, UInt16(251), UInt16(2120)))
    }

    /// LE Set PHY, which sets the preferred PHY for both directions (Core 6.0, Vol 4, Part E, 7.8.49).
    public static func leSetPHY(handle: UInt16, _ phy: PHY) -> HCICommand {
        // Bit 0 stands for LE 1M, bit 1 for LE 2M, bit 2 for LE Coded.
        let bit = UInt8(1) &<< ((phy.rawValue &- 1) & 7)
        // ALL_PHYS is 0: both directions have a preference. PHY_Options is 0: there is no preferred coding.
        return HCICommand(.leSetPHY, ByteWriter.bytes(handle & 0x0FFF, UInt8(0), bit, bit, UInt16(0)))
    }

    /// LE Enable Encryption, which encrypts the link as the central, or changes the key of an encrypted link.
    ///
    /// `random` and `diversifier` identify a key of LE legacy pairing; both are 0 for a short term key or a key of LE
    /// Secure Connections. Encryption Change or Encryption Key Refresh Complete follows. Core 6.0, Vol 4, Part E,
    /// 7.8.24.
    public static func leEnableEncryption(
        handle: UInt16,
        random: UInt64,
        diversifier: UInt16,
        key: UInt128
    ) -> HCICommand {
        HCICommand(.leEnableEncryption, ByteWriter.bytes(handle & 0x0FFF, random, diversifier, key))
    }

    /// LE Long Term Key Request Reply with the key that the central requests (Core 6.0, Vol 4, Part E, 7.8.25).
    public static func leLongTermKeyRequestReply(handle: UInt16, key: UInt128) -> HCICommand {
        HCICommand(.leLongTermKeyRequestReply, ByteWriter.bytes(handle & 0x0FFF, key))
    }

    /// LE Long Term Key Request Negative Reply: this host has no key (Core 6.0, Vol 4, Part E, 7.8.26).
    public static func leLongTermKeyRequestNegativeReply(handle: UInt16) -> HCICommand {
        HCICommand(.leLongTermKeyRequestNegativeReply, ByteWriter.bytes(handle & 0x0FFF))
    }

    /// LE Remote Connection Parameter Request Reply, which accepts the parameters (Core 6.0, Vol 4, Part E, 7.8.31).
    public static func leRemoteConnectionParameterRequestReply(
        handle: UInt16,
        _ parameters: ConnectionParameters
    ) -> HCICommand {
        HCICommand(.leRemoteConnectionParameterRequestReply, change(handle, parameters))
    }

    /// LE Remote Connection Parameter Request Negative Reply (Core 6.0, Vol 4, Part E, 7.8.32).
    public static func leRemoteConnectionParameterRequestNegativeReply(
        handle: UInt16,
        reason: HCIStatus = .unacceptableConnectionParameters
    ) -> HCICommand {
        HCICommand(.leRemoteConnectionParameterRequestNegativeReply, ByteWriter.bytes(handle & 0x0FFF, reason.rawValue))
    }

    /// Scan interval and window while connecting, in units of 0.625 ms: 60 ms for both, so that the receiver is always
    /// on.
    private static let initiatingInterval: UInt16 = 0x0060
    private static let initiatingWindow: UInt16 = 0x0060

    private static func change(_ handle: UInt16, _ parameters: ConnectionParameters) -> [UInt8] {
        // Min_CE_Length and Max_CE_Length: the controller chooses.
        ByteWriter.bytes(handle & 0x0FFF, parameters, UInt16(0), UInt16(0))
    }
}
