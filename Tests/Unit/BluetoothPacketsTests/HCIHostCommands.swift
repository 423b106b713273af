// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Testing

/// Commands of the host stack by the names of their test vectors.
enum HCIHostCommands {
    static let peer = DeviceAddress(BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F5), .random)
    static let advertising = AdvertisingParameters(kind: .connectable, interval: 0xA0)
    static let events: HCIEventMask = [
        .disconnectionComplete, .encryptionChange, .hardwareError, .dataBufferOverflow, .encryptionKeyRefreshComplete,
        .leMeta,
    ]
    static let leEvents: LEEventMask = [
        .connectionComplete, .advertisingReport, .connectionUpdateComplete, .longTermKeyRequest,
        .remoteConnectionParameterRequest, .enhancedConnectionComplete, .extendedAdvertisingReport, .scanTimeout,
        .advertisingSetTerminated,
    ]

    static let key = UInt128(0x0001_0203_0405_0607) << 64 | 0x0809_0A0B_0C0D_0E0F

    static var all: [String: HCICommand] {
        var commands: [String: HCICommand] = [
            "setEventMask of a host": .setEventMask(events),
            "leSetEventMask of a host": .leSetEventMask(leEvents),
            "writeLEHostSupport on": .writeLEHostSupport(true),
            "readLocalSupportedFeatures": .readLocalSupportedFeatures,
            "readBufferSize": .readBufferSize,
            "readBDADDR": .readBDADDR,
            "leReadBufferSize": .leReadBufferSize,
            "leReadLocalSupportedFeatures": .leReadLocalSupportedFeatures,
            "leSetRandomAddress": .leSetRandomAddress(peer.address),
            "leSetAdvertisingParameters connectable": .leSetAdvertisingParameters(advertising),
            "leSetAdvertisingEnable on": .leSetAdvertisingEnable(true),
            "leCreateConnection": .leCreateConnection(to: peer, .standard),
            "leCreateConnectionCancel": .leCreateConnectionCancel,
            "readRSSI": .readRSSI(handle: 0x40),
            "leSetDataLength": .leSetDataLength(handle: 0x40),
            "leSetPHY 2M": .leSetPHY(handle: 0x40, .fast),
            "leConnectionUpdate": .leConnectionUpdate(handle: 0x40, .standard),
            "leEnableEncryption": .leEnableEncryption(
                handle: 0x40,
                random: 0x0102_0304_0506_0708,
                diversifier: 0x1234,
                key: key
            ),
            "leLongTermKeyRequestReply": .leLongTermKeyRequestReply(handle: 0x40, key: key),
            "leLongTermKeyRequestNegativeReply": .leLongTermKeyRequestNegativeReply(handle: 0x40),
            "leRemoteConnectionParameterRequestReply":
                .leRemoteConnectionParameterRequestReply(handle: 0x40, .standard),
            "leRemoteConnectionParameterRequestNegativeReply":
                .leRemoteConnectionParameterRequestNegativeReply(handle: 0x40),
            "leSetAdvertisingSetRandomAddress": .leSetAdvertisingSetRandomAddress(handle: 0, peer.address),
            "leSetExtendedAdvertisingParameters connectable":
                .leSetExtendedAdvertisingParameters(handle: 0, advertising),
            "leSetExtendedAdvertisingEnable on": .leSetExtendedAdvertisingEnable(true, handle: 0),
            "leExtendedCreateConnection": .leExtendedCreateConnection(to: peer, .standard),
        ]
        commands["leSetAdvertisingData"] = .leSetAdvertisingData([2, 1, 6])
        commands["leSetScanResponseData"] = .leSetScanResponseData([2, 10, 8])
        commands["leSetExtendedAdvertisingData"] = .leSetExtendedAdvertisingData(handle: 0, [2, 1, 6])
        commands["leSetExtendedScanResponseData"] = .leSetExtendedScanResponseData(handle: 0, [2, 10, 8])
        return commands
    }
}

@Suite struct HCIHostCommandTests {
    @Test("Advertising data of 31 bytes fits, and of 32 makes no command")
    func advertisingDataIsBounded() {
        for (length, fits) in [(0, true), (31, true), (32, false)] {
            let data = [UInt8](repeating: 0, count: length)
            #expect((HCICommand.leSetAdvertisingData(data) != nil) == fits)
            #expect((HCICommand.leSetScanResponseData(data) != nil) == fits)
            #expect((HCICommand.leSetExtendedAdvertisingData(handle: 0, data) != nil) == fits)
            #expect((HCICommand.leSetExtendedScanResponseData(handle: 0, data) != nil) == fits)
        }
        #expect(AdvertisingParameters(kind: .scannable, interval: 0).interval == 0x20)
        #expect(AdvertisingParameters(kind: .scannable, interval: 0xFFFF).interval == 0x4000)
    }

    @Test(
        "Connection parameters are valid at the edges of their ranges, and not beyond",
        arguments: [
            (6, 0x0C80, 0, 0x0C80, true), (5, 6, 0, 100, false), (6, 0x0C81, 0, 0x0C80, false), (8, 7, 0, 100, false),
            (6, 6, 499, 0x0C80, true), (6, 6, 500, 0x0C80, false), (6, 6, 0, 10, true), (6, 6, 0, 9, false),
            (6, 6, 0, 0x0C81, false),
            // The time-out of 100 ms is longer than twice 48.75 ms, but not longer than twice 50 ms.
            (39, 39, 0, 10, true), (40, 40, 0, 10, false), (39, 39, 1, 10, false),
        ] as [(UInt16, UInt16, UInt16, UInt16, Bool)]
    )
    func parameterRanges(_ minimum: UInt16, _ maximum: UInt16, _ latency: UInt16, _ timeout: UInt16, _ valid: Bool) {
        let parameters = ConnectionParameters(
            minimumInterval: minimum,
            maximumInterval: maximum,
            latency: latency,
            supervisionTimeout: timeout
        )
        #expect(parameters.isValid == valid)
    }

    @Test("What commands return is read whole, and nothing else is")
    func returns() throws {
        let address: [UInt8] = [0, 1, 2, 3, 4, 5, 6]
        let features: [UInt8] = [0, 0x20, 0x10, 0, 0, 0, 0, 0, 0x80]
        let lowEnergy: [UInt8] = [0, 0x1B, 0, 8]
        let classic: [UInt8] = [0, 0xFD, 3, 64, 10, 0, 8, 0]
        #expect(try HCIReturn.address(address.span) == BluetoothAddress(rawValue: 0x0605_0403_0201))
        #expect(try HCIReturn.features(features.span) == 0x8000_0000_0000_1020)
        #expect(try DataBuffers(leReadBufferSize: lowEnergy.span) == DataBuffers(dataLength: 27, packetCount: 8))
        #expect(try DataBuffers(readBufferSize: classic.span) == DataBuffers(dataLength: 1021, packetCount: 10))
        func isRefused(_ good: [UInt8], _ read: ([UInt8]) throws(DecodingError) -> Void) {
            for length in 0..<good.count {
                #expect(throws: DecodingError.self) { try read(Array(good[..<length])) }
            }
            #expect(throws: DecodingError.self) { try read(good + [0]) }
            #expect(throws: DecodingError.self) { try read([1] + good.dropFirst()) }
        }
        isRefused(address) { bytes throws(DecodingError) in _ = try HCIReturn.address(bytes.span) }
        isRefused(features) { bytes throws(DecodingError) in _ = try HCIReturn.features(bytes.span) }
        isRefused(lowEnergy) { bytes throws(DecodingError) in _ = try DataBuffers(leReadBufferSize: bytes.span) }
        isRefused(classic) { bytes throws(DecodingError) in _ = try DataBuffers(readBufferSize: bytes.span) }
    }
}
