// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// Properties that every virtual controller reports about itself.
enum ControllerIdentity {
    /// Company identifier that is not assigned to any company (Assigned Numbers, 7).
    static let company: UInt16 = 0xFFFF
    /// Returns the version number of Core 4.2 for the legacy generation, or Core 5.0 for the extended generation
    /// (Assigned Numbers, 2.1).
    static func version(_ generation: VirtualController.Generation) -> UInt8 { generation == .legacy ? 0x08 : 0x09 }
    /// Returns the supported LE features.
    ///
    /// They are LE Encryption, Connection Parameters Request, Extended Reject Indication, Peripheral-initiated Features
    /// Exchange and, in the extended generation, LE Extended Advertising (Core 6.0, Vol 6, Part B, 4.6: bits 0 to 3 and
    /// 12).
    static func lowEnergyFeatures(_ generation: VirtualController.Generation) -> UInt64 {
        let legacy: UInt64 = 0b1111
        return generation == .legacy ? legacy : legacy | UInt64(1) &<< 12
    }
    static let txPower: UInt8 = 0
    /// Channel map with all 37 data channels enabled (Core 6.0, Vol 4, Part E, 7.8.20).
    static let channelMap: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF, 0x1F]
}

extension VirtualController.Configuration {
    /// Returns true if the controller supports the command; a legacy controller does not support extended commands.
    func supports(_ command: ControllerCommand) -> Bool {
        generation == .extended || command.generation != .extended
    }

    /// Returns the return parameters of an informational command (Core 6.0, Vol 4, Part E, 7.4 and 7.8).
    func answer(to command: ControllerCommand) -> [UInt8] {
        switch command {
        case .readLocalVersionInformation:
            let version = ControllerIdentity.version(generation)
            return ByteWriter.bytes(version, UInt16(0), version, ControllerIdentity.company, UInt16(0))
        case .readLocalSupportedCommands:
            return SupportedCommands(Set(ControllerCommand.allCases.filter(supports).map { $0.shape.bit })).octets
        // BR/EDR Not Supported and LE Supported (Core 6.0, Vol 2, Part C, 3.3: bits 37 and 38).
        case .readLocalSupportedFeatures: return ByteWriter.bytes(UInt64(1) &<< 37 | UInt64(1) &<< 38)
        case .readAddress: return ByteWriter.bytes(address)
        case .readBufferSize where sharesBuffers:
            return ByteWriter.bytes(aclDataLength, UInt8(0), UInt16(aclBufferCount), UInt16(0))
        case .leReadBufferSize where !sharesBuffers: return ByteWriter.bytes(aclDataLength, aclBufferCount)
        case .leReadLocalSupportedFeatures: return ByteWriter.bytes(ControllerIdentity.lowEnergyFeatures(generation))
        case .leReadAdvertisingTxPower: return [ControllerIdentity.txPower]
        case .leReadFilterAcceptListSize: return [acceptListSize]
        // Bits 0 to 41: all states and combinations that 7.8.27 defines.
        case .leReadSupportedStates: return ByteWriter.bytes(0x0000_03FF_FFFF_FFFF as UInt64)
        case .leReadMaximumAdvertisingDataLength:
            return ByteWriter.bytes(UInt16(AdvertisingSet.extendedDataLength))
        case .leReadNumberOfSupportedAdvertisingSets: return [advertisingSetCount]
        // The caller fills the missing bytes of the answer with zeros.
        default: return []
        }
    }
}
