// SPDX-License-Identifier: GPL-2.0-or-later

/// A command to the controller (Core 6.0, Vol 4, Part E, 5.4.1).
public struct HCICommand: Hashable, Sendable {
    /// The command's number.
    public let opcode: HCIOpcode
    /// Its parameters, at most 255 bytes.
    public let parameters: [UInt8]

    /// The longest parameters that the length byte can name.
    public static let maximumParameterLength = 255

    /// A command; nil if the parameters are longer than 255 bytes.
    public init?(opcode: HCIOpcode, parameters: [UInt8]) {
        guard parameters.count <= Self.maximumParameterLength else { return nil }
        self.init(opcode, parameters)
    }

    /// A command whose parameters are known to be short.
    init(_ opcode: HCIOpcode, _ parameters: [UInt8] = []) {
        self.opcode = opcode
        self.parameters = parameters
    }

    /// The packet, with its indicator: 0x01, opcode, length, parameters.
    public var encoded: [UInt8] {
        var writer = ByteWriter(reservingCapacity: 4 + parameters.count)
        writer.write(HCIPacketType.command.rawValue)
        writer.write(opcode.rawValue)
        writer.write(UInt8(truncatingIfNeeded: parameters.count))
        writer.write(parameters)
        return writer.bytes
    }

    /// Reset: the controller to its state at power-on (Core 6.0, Vol 4, Part E, 7.3.2).
    public static let reset = HCICommand(.reset)

    /// Read Local Version Information (Core 6.0, Vol 4, Part E, 7.4.1).
    public static let readLocalVersionInformation = HCICommand(.readLocalVersionInformation)

    /// Read Local Supported Commands; answered with `SupportedCommands` (Core 6.0, Vol 4, Part E, 7.4.2).
    public static let readLocalSupportedCommands = HCICommand(.readLocalSupportedCommands)

    /// Disconnect: ends the connection with `handle` (12 bits are used), telling the other side `reason` (Core 6.0, Vol
    /// 4, Part E, 7.1.6).
    public static func disconnect(
        handle: UInt16,
        reason: HCIStatus = .remoteUserTerminatedConnection
    ) -> HCICommand {
        var writer = ByteWriter()
        writer.write(handle & 0x0FFF)
        writer.write(reason.rawValue)
        return HCICommand(.disconnect, writer.bytes)
    }

    /// LE Set Scan Parameters (Core 6.0, Vol 4, Part E, 7.8.10).
    public static func leSetScanParameters(_ scan: ScanParameters) -> HCICommand {
        var writer = ByteWriter()
        writer.write(scan.type.rawValue)
        writer.write(scan.interval.rawValue)
        writer.write(scan.effectiveWindow.rawValue)
        writer.write(scan.ownAddressType.rawValue)
        writer.write(scan.filterPolicy.rawValue)
        return HCICommand(.leSetScanParameters, writer.bytes)
    }

    /// LE Set Scan Enable (Core 6.0, Vol 4, Part E, 7.8.11).
    public static func leSetScanEnable(_ isEnabled: Bool, filtersDuplicates: Bool) -> HCICommand {
        HCICommand(.leSetScanEnable, [isEnabled ? 1 : 0, filtersDuplicates ? 1 : 0])
    }

    /// LE Set Extended Scan Parameters, for the LE 1M PHY and, where asked for, the LE Coded PHY (Core 6.0, Vol 4, Part
    /// E, 7.8.64).
    public static func leSetExtendedScanParameters(_ scan: ScanParameters) -> HCICommand {
        var writer = ByteWriter()
        writer.write(scan.ownAddressType.rawValue)
        writer.write(scan.filterPolicy.rawValue)
        writer.write(scan.scansCodedPHY ? ScanningPHYs.le1M | ScanningPHYs.leCoded : ScanningPHYs.le1M)
        for _ in 0..<(scan.scansCodedPHY ? 2 : 1) {
            writer.write(scan.type.rawValue)
            writer.write(scan.interval.rawValue)
            writer.write(scan.effectiveWindow.rawValue)
        }
        return HCICommand(.leSetExtendedScanParameters, writer.bytes)
    }

    /// LE Set Extended Scan Enable; duration and period of `scan` are sent only when enabling (Core 6.0, Vol 4, Part E,
    /// 7.8.65).
    public static func leSetExtendedScanEnable(_ isEnabled: Bool, _ scan: ScanParameters) -> HCICommand {
        var writer = ByteWriter()
        writer.write(UInt8(isEnabled ? 1 : 0))
        writer.write(UInt8(isEnabled && scan.filtersDuplicates ? 1 : 0))
        writer.write(isEnabled ? scan.duration : 0)
        writer.write(isEnabled ? scan.period : 0)
        return HCICommand(.leSetExtendedScanEnable, writer.bytes)
    }

    /// Bits of Scanning_PHYs (Core 6.0, Vol 4, Part E, 7.8.64).
    private enum ScanningPHYs {
        static let le1M: UInt8 = 1 << 0
        static let leCoded: UInt8 = 1 << 2
    }
}
