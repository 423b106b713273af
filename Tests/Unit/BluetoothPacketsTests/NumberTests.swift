// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Testing

/// Numbers of the specification and of the kernel, apart from the code that uses them on both ends of a link.
@Suite("Numbers of the protocols")
struct NumberTests {
    /// Numbers in Core 6.0, Vol 1, Part F, 1.3.
    @Test("The status codes of a controller are those of the specification")
    func hciStatus() {
        let all: [HCIStatus] = [
            .success, .unknownHCICommand, .unknownConnectionIdentifier, .hardwareFailure, .connectionTimeout,
            .connectionLimitExceeded, .commandDisallowed, .unsupportedFeatureOrParameterValue,
            .invalidHCICommandParameters, .connectionAlreadyExists, .remoteUserTerminatedConnection,
            .connectionTerminatedByLocalHost, .unspecifiedError, .unacceptableConnectionParameters,
            .connectionFailedToBeEstablished, .unknownAdvertisingIdentifier,
        ]
        let numbers: [HCIStatus.RawValue] = [
            0x00, 0x01, 0x02, 0x03, 0x08, 0x09, 0x0C, 0x11, 0x12, 0x0B, 0x13, 0x16, 0x1F, 0x3B, 0x3E, 0x42,
        ]
        #expect(all.map(\.rawValue) == numbers)
    }

    /// Numbers in Core 6.0, Vol 4, Part E, 7.7.65.
    @Test("The Low Energy subevents are those of the specification")
    func leSubevent() {
        let all: [LESubevent] = [
            .scanTimeout, .connectionComplete, .connectionUpdateComplete, .readRemoteFeaturesComplete,
            .longTermKeyRequest, .remoteConnectionParameterRequest, .dataLengthChange, .enhancedConnectionComplete,
            .phyUpdateComplete, .advertisingSetTerminated,
        ]
        let numbers: [LESubevent.RawValue] = [
            0x11, 0x01, 0x03, 0x04, 0x05, 0x06, 0x07, 0x0A, 0x0C, 0x12,
        ]
        #expect(all.map(\.rawValue) == numbers)
    }

    /// Numbers in `MGMT_OP_…` of the kernel.
    @Test("The management commands are those of the kernel")
    func managementOpcode() {
        let all: [ManagementOpcode] = [
            .readVersion, .readSupportedCommands, .readIndexList, .readControllerInformation, .setPowered,
            .setBondable, .setSecureSimplePairing, .setLowEnergy, .loadLongTermKeys, .disconnect, .getConnections,
            .setIOCapability, .pairDevice, .cancelPairDevice, .unpairDevice, .userConfirmationReply,
            .userConfirmationNegativeReply, .userPasskeyReply, .userPasskeyNegativeReply, .stopDiscovery,
            .setSecureConnections, .loadIdentityResolvingKeys, .getConnectionInformation, .loadConnectionParameters,
        ]
        let numbers: [ManagementOpcode.RawValue] = [
            0x0001, 0x0002, 0x0003, 0x0004, 0x0005, 0x0009, 0x000B, 0x000D, 0x0013, 0x0014, 0x0015, 0x0018, 0x0019,
            0x001A, 0x001B, 0x001C, 0x001D, 0x001E, 0x001F, 0x0024, 0x002D, 0x0030, 0x0031, 0x0035,
        ]
        #expect(all.map(\.rawValue) == numbers)
    }

    /// Numbers in `MGMT_STATUS_…` of the kernel.
    @Test("The management statuses are those of the kernel")
    func managementStatus() {
        let all: [ManagementStatus] = [
            .success, .unknownCommand, .notConnected, .failed, .connectFailed, .authenticationFailed, .timeout,
            .busy, .rejected, .notSupported, .invalidParameters, .disconnected, .notPowered, .cancelled,
            .invalidIndex, .rfkilled, .alreadyPaired, .permissionDenied,
        ]
        let numbers: [ManagementStatus.RawValue] = [
            0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x08, 0x0A, 0x0B, 0x0C, 0x0D, 0x0E, 0x0F, 0x10, 0x11, 0x12, 0x13,
            0x14,
        ]
        #expect(all.map(\.rawValue) == numbers)
    }

    /// Numbers in Core 6.0, Vol 3, Part H, 3.5.5.
    @Test("The pairing failures are those of the specification")
    func pairingFailure() {
        let all: [PairingFailure] = [
            .passkeyEntryFailed, .outOfBandNotAvailable, .authenticationRequirements, .confirmValueFailed,
            .pairingNotSupported, .encryptionKeySize, .commandNotSupported, .unspecifiedReason, .repeatedAttempts,
            .invalidParameters, .dhKeyCheckFailed, .numericComparisonFailed,
        ]
        let numbers: [PairingFailure.RawValue] = [
            0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0A, 0x0B, 0x0C,
        ]
        #expect(all.map(\.rawValue) == numbers)
    }

    /// Numbers in Core 6.0, Vol 3, Part F, 3.4.1.1.
    @Test("The ATT errors are those of the specification")
    func attError() {
        let all: [ATTError] = [
            .invalidHandle, .readNotPermitted, .writeNotPermitted, .invalidPDU, .insufficientAuthentication,
            .requestNotSupported, .invalidOffset, .insufficientAuthorization, .prepareQueueFull, .attributeNotFound,
            .attributeNotLong, .encryptionKeySizeTooShort, .invalidAttributeValueLength, .unlikelyError,
            .insufficientEncryption, .unsupportedGroupType, .insufficientResources, .databaseOutOfSync,
            .valueNotAllowed, .writeRequestRejected, .clientConfigurationImproper, .procedureAlreadyInProgress,
            .outOfRange,
        ]
        let numbers: [ATTError.RawValue] = [
            0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x0E, 0x0F, 0x10, 0x11,
            0x12, 0x13, 0xFC, 0xFD, 0xFE, 0xFF,
        ]
        #expect(all.map(\.rawValue) == numbers)
    }

    /// Numbers in Core 6.0, Vol 3, Part F, 3.4.8.
    @Test("The ATT opcodes are those of the specification")
    func attOpcode() {
        let all: [ATTOpcode] = [
            .errorResponse, .exchangeMTURequest, .exchangeMTUResponse, .findInformationRequest,
            .findInformationResponse, .findByTypeValueRequest, .findByTypeValueResponse, .readByTypeRequest,
            .readByTypeResponse, .readRequest, .readResponse, .readBlobRequest, .readBlobResponse,
            .readMultipleRequest, .readMultipleResponse, .readByGroupTypeRequest, .readByGroupTypeResponse,
            .writeRequest, .writeResponse, .prepareWriteRequest, .prepareWriteResponse, .executeWriteRequest,
            .executeWriteResponse, .handleValueNotification, .handleValueIndication, .handleValueConfirmation,
            .readMultipleVariableRequest, .readMultipleVariableResponse, .multipleHandleValueNotification,
            .writeCommand, .signedWriteCommand,
        ]
        let numbers: [ATTOpcode.RawValue] = [
            0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x0E, 0x0F, 0x10, 0x11,
            0x12, 0x13, 0x16, 0x17, 0x18, 0x19, 0x1B, 0x1D, 0x1E, 0x20, 0x21, 0x23, 0x52, 0xD2,
        ]
        #expect(all.map(\.rawValue) == numbers)
    }

    /// Numbers in Core 6.0, Vol 3, Part A, 2.1.
    @Test("The fixed channels are those of the specification")
    func channel() {
        let all: [L2CAPChannel] = [
            .attribute, .signalling, .securityManager,
        ]
        let numbers: [L2CAPChannel.RawValue] = [
            0x0004, 0x0005, 0x0006,
        ]
        #expect(all.map(\.rawValue) == numbers)
    }

    /// Numbers in `HCI_MON_…` of the kernel.
    @Test("The monitor opcodes are those of the kernel")
    func monitorOpcode() {
        let all: [MonitorOpcode] = [
            .command, .event, .aclSent, .aclReceived, .synchronousSent, .synchronousReceived, .vendorDiagnostics,
            .isochronousSent, .isochronousReceived,
        ]
        let numbers: [MonitorOpcode.RawValue] = [
            2, 3, 4, 5, 6, 7, 11, 18, 19,
        ]
        #expect(all.map(\.rawValue) == numbers)
    }

    /// Numbers in Core 6.0, Vol 4, Part E, 7.3.1.
    @Test("The bits of the event mask are those of the specification")
    func hciEventMask() {
        let all: [HCIEventMask] = [
            .disconnectionComplete, .encryptionChange, .hardwareError, .dataBufferOverflow,
            .encryptionKeyRefreshComplete, .leMeta,
        ]
        let numbers: [HCIEventMask.RawValue] = [
            1 << 4, 1 << 7, 1 << 15, 1 << 25, 1 << 47, 1 << 61,
        ]
        #expect(all.map(\.rawValue) == numbers)
    }

    /// Numbers in Core 6.0, Vol 4, Part E, 7.8.1.
    @Test("The bits of the Low Energy event mask are those of the specification")
    func leEventMask() {
        let all: [LEEventMask] = [
            .connectionComplete, .advertisingReport, .connectionUpdateComplete, .longTermKeyRequest,
            .remoteConnectionParameterRequest, .dataLengthChange, .phyUpdateComplete, .enhancedConnectionComplete,
            .extendedAdvertisingReport, .scanTimeout, .advertisingSetTerminated,
        ]
        let numbers: [LEEventMask.RawValue] = [
            1 << 0, 1 << 1, 1 << 2, 1 << 4, 1 << 5, 1 << 6, 1 << 11, 1 << 9, 1 << 12, 1 << 16, 1 << 17,
        ]
        #expect(all.map(\.rawValue) == numbers)
    }

    /// Numbers in `MGMT_SETTING_…` of the kernel.
    @Test("The bits of the settings are those of the kernel")
    func managementSettings() {
        let all: [ManagementSettings] = [
            .powered, .bondable, .secureSimplePairing, .classic, .lowEnergy, .secureConnections,
        ]
        let numbers: [ManagementSettings.RawValue] = [
            1 << 0, 1 << 4, 1 << 6, 1 << 7, 1 << 9, 1 << 11,
        ]
        #expect(all.map(\.rawValue) == numbers)
    }
}
