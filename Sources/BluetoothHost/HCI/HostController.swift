// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// State of the controller as known to its host: the progress of its initialisation, and its reported features.
///
/// The initialisation has these steps: Reset, supported commands and features, LE on a dual-mode controller, address,
/// buffers, event masks.
struct HostController: Sendable {
    /// Bit of LE Supported (Controller) in the LMP features (Core 6.0, Vol 2, Part C, 3.3).
    private static let lowEnergyFeature: UInt64 = 1 &<< 38
    /// Bit of BR/EDR Not Supported in the LMP features (Core 6.0, Vol 2, Part C, 3.3).
    private static let noClassicFeature: UInt64 = 1 &<< 37
    /// Bits of LE Encryption, the Connection Parameters Request Procedure, LE Data Packet Length Extension and LE 2M
    /// PHY in the LE features (Core 6.0, Vol 6, Part B, 4.6).
    private static let encryptionFeature: UInt64 = 1 &<< 0
    private static let parameterRequestFeature: UInt64 = 1 &<< 1
    private static let dataLengthFeature: UInt64 = 1 &<< 5
    private static let fastPHYFeature: UInt64 = 1 &<< 8

    private enum Step {
        case send(HCICommand)
        case finish
        case fail(HostFailure)
    }

    private(set) var isReady = false
    private(set) var address: DeviceAddress?
    private(set) var buffers: DataBuffers?
    private(set) var supportedCommands: SupportedCommands?
    /// True if the host uses the extended commands for scanning, advertising and connecting.
    private(set) var isExtended = false
    private var features: UInt64 = 0
    private let randomAddress: BluetoothAddress?
    /// Number of times that the initialisation was started.
    private var beginnings = 1
    /// Number of Reset commands sent in this initialisation.
    private var resets = 1

    init(randomAddress: BluetoothAddress?) {
        self.randomAddress = randomAddress.map { BluetoothAddress(rawValue: $0.rawValue | 0xC000_0000_0000) }
    }

    /// True if the controller can encrypt links; some controllers support the command without reporting the feature.
    var encrypts: Bool {
        features & Self.encryptionFeature != 0 || supportedCommands?.contains(.leEnableEncryption) == true
    }

    var ownAddressType: ScanParameters.OwnAddressType { address?.type == .random ? .random : .public }

    /// Generation of scan commands; nil if the controller cannot scan.
    var scanGeneration: Scanner.Generation? {
        if isExtended { return .extended }
        guard let supportedCommands, supportedCommands.contains(.leSetScanParameters),
            supportedCommands.contains(.leSetScanEnable)
        else { return nil }
        return .legacy
    }

    /// Switches to the legacy commands, because the controller rejected an extended command that it lists as supported.
    mutating func useLegacy() { isExtended = false }

    /// Counts a restart of the initialisation; returns false if no more restarts are allowed.
    mutating func beginAnew() -> Bool {
        guard !isReady, beginnings < LowEnergyHost.mostBeginnings else { return false }
        beginnings &+= 1
        resets = 1
        return true
    }

    /// Counts a repetition of Reset; returns false if no more repetitions are allowed.
    ///
    /// A controller that was in the middle of a packet needs a second Reset.
    mutating func resetAgain() -> Bool {
        guard resets < LowEnergyHost.resetAttempts else { return false }
        resets &+= 1
        return true
    }

    /// Processes the answer to an initialisation command.
    mutating func take(_ outcome: HCICommandQueue.Outcome, _ output: inout HostOutput) {
        switch outcome {
        case .completed(let opcode, let returned):
            do throws(DecodingError) {
                switch try step(after: opcode, returned.span) {
                case .send(let command): output.request(command, .initialise)
                case .finish:
                    isReady = true
                    output.emit(.ready)
                case .fail(let failure): output.fail(failure)
                }
            } catch {
                output.fail(.badAnswer(opcode))
            }
        // Some dual-mode controllers work without this command.
        case .failed(.writeLEHostSupport, _): output.request(.readBDADDR, .initialise)
        case .failed(let opcode, let status): output.fail(.refused(opcode, status))
        case .timedOut(let opcode): output.fail(.noAnswer(opcode))
        }
    }

    private mutating func step(after opcode: HCIOpcode, _ returned: Span<UInt8>) throws(DecodingError) -> Step {
        switch opcode {
        case .reset: return .send(.readLocalSupportedCommands)
        case .readLocalSupportedCommands:
            let supported = try SupportedCommands(returnParameters: returned)
            supportedCommands = supported
            isExtended = Self.isExtended(supported)
            let asksFeatures = supported.contains(.readLocalSupportedFeatures)
            return .send(asksFeatures ? .readLocalSupportedFeatures : .readBDADDR)
        case .readLocalSupportedFeatures:
            let features = try HCIReturn.features(returned)
            guard features & Self.lowEnergyFeature != 0 else { return .fail(.lowEnergyUnsupported) }
            let isDual =
                features & Self.noClassicFeature == 0 && supportedCommands?.contains(.writeLEHostSupport) == true
            return .send(isDual ? .writeLEHostSupport(true) : .readBDADDR)
        case .writeLEHostSupport: return .send(.readBDADDR)
        case .readBDADDR:
            let own = try HCIReturn.address(returned)
            // Controllers without a public address return all zeros or all ones.
            let isOwn = own.rawValue != 0 && own.rawValue != 0xFFFF_FFFF_FFFF
            address = isOwn ? nil : randomAddress.map { DeviceAddress($0, .random) }
            address = address ?? DeviceAddress(own, .public)
            return .send(.leReadBufferSize)
        case .leReadBufferSize:
            let buffers = try DataBuffers(leReadBufferSize: returned)
            let isShared = buffers.dataLength == 0 || buffers.packetCount == 0
            return isShared ? .send(.readBufferSize) : use(buffers, opcode)
        case .readBufferSize: return use(try DataBuffers(readBufferSize: returned), opcode)
        case .leReadLocalSupportedFeatures:
            features = try HCIReturn.features(returned)
            return .send(.setEventMask(eventMask))
        case .setEventMask: return .send(.leSetEventMask(lowEnergyEventMask))
        case .leSetEventMask:
            guard let address, address.type == .random else { return .finish }
            return .send(.leSetRandomAddress(address.address))
        default: return .finish
        }
    }

    private mutating func use(_ buffers: DataBuffers, _ opcode: HCIOpcode) -> Step {
        guard buffers.dataLength > 0, buffers.packetCount > 0 else { return .fail(.badAnswer(opcode)) }
        self.buffers = buffers
        return .send(.leReadLocalSupportedFeatures)
    }

    /// Returns true if the controller supports the extended commands for scanning, advertising and connecting.
    ///
    /// They are used only if all of them are supported, because legacy and extended commands must not be mixed (Core
    /// 6.0, Vol 4, Part E, 3.1.1).
    private static func isExtended(_ supported: SupportedCommands) -> Bool {
        let central: [SupportedCommands.Bit] = [
            .leSetExtendedScanParameters, .leSetExtendedScanEnable, .leExtendedCreateConnection,
        ]
        let peripheral: [SupportedCommands.Bit] = [
            .leSetExtendedAdvertisingParameters, .leSetExtendedAdvertisingData, .leSetExtendedScanResponseData,
            .leSetExtendedAdvertisingEnable,
        ]
        let advertisesOnlyLegacy =
            !peripheral.allSatisfy(supported.contains) && supported.contains(.leSetAdvertisingEnable)
        return central.allSatisfy(supported.contains) && !advertisesOnlyLegacy
    }

    private var eventMask: HCIEventMask {
        let mask: HCIEventMask = [.disconnectionComplete, .hardwareError, .dataBufferOverflow, .leMeta]
        return encrypts ? mask.union([.encryptionChange, .encryptionKeyRefreshComplete]) : mask
    }

    private var lowEnergyEventMask: LEEventMask {
        var mask: LEEventMask = [
            .connectionComplete, .advertisingReport, .connectionUpdateComplete, .longTermKeyRequest,
        ]
        if features & Self.parameterRequestFeature != 0 { mask.insert(.remoteConnectionParameterRequest) }
        if features & Self.dataLengthFeature != 0 { mask.insert(.dataLengthChange) }
        if features & Self.fastPHYFeature != 0 { mask.insert(.phyUpdateComplete) }
        if isExtended {
            mask.formUnion([
                .enhancedConnectionComplete, .extendedAdvertisingReport, .scanTimeout, .advertisingSetTerminated,
            ])
        }
        return mask
    }

    func createConnection(to device: DeviceAddress, _ parameters: ConnectionParameters) -> HCICommand {
        isExtended
            ? .leExtendedCreateConnection(to: device, parameters, ownAddressType: ownAddressType)
            : .leCreateConnection(to: device, parameters, ownAddressType: ownAddressType)
    }

    /// Requests the longest packets and the faster PHY for a new connection, if the controller supports them.
    ///
    /// The two controllers negotiate values that both support. The connection also works without these improvements.
    func improve(_ handle: UInt16, _ output: inout HostOutput) {
        if features & Self.dataLengthFeature != 0 {
            requestOptional(.leSetDataLength(handle: handle), .leSetDataLength, handle, &output)
        }
        if features & Self.fastPHYFeature != 0 {
            requestOptional(.leSetPHY(handle: handle, .fast), .leSetPHY, handle, &output)
        }
    }

    /// Queues an optional command of a connection.
    ///
    /// Does nothing if the controller does not support the command or did not answer it before, or if too many commands
    /// are queued.
    func requestOptional(
        _ command: HCICommand,
        _ bit: SupportedCommands.Bit,
        _ handle: UInt16,
        _ output: inout HostOutput
    ) {
        guard supportedCommands?.contains(bit) == true, !output.commands.unanswered.contains(command.opcode),
            !output.commands.isCrowded
        else { return }
        output.request(command, .optional(handle))
    }
}
