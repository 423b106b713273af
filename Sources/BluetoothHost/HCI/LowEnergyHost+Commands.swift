// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

extension LowEnergyHost {
    /// The bit of LE Supported (Controller) in the LMP features (Core 6.0, Vol 2, Part C, 3.3).
    private static let lowEnergyFeature: UInt64 = 1 &<< 38
    /// The bit of BR/EDR Not Supported in the LMP features (Core 6.0, Vol 2, Part C, 3.3).
    private static let noClassicFeature: UInt64 = 1 &<< 37
    /// The bit of Connection Parameters Request Procedure in the LE features (Core 6.0, Vol 6, Part B, 4.6).
    private static let parameterRequestFeature: UInt64 = 1 &<< 1

    /// Puts a command at the end; one that only answers a peer is dropped when too many wait.
    mutating func request(_ command: HCICommand, _ purpose: Purpose) {
        if case .reply = purpose, waiting.count >= Self.commandCapacity {
            counters.dropped &+= 1
            return
        }
        guard waiting.count < Self.commandLimit else {
            fail(.overrun)
            return
        }
        waiting.append((command, purpose))
    }

    /// One command at a time is under way, the scanner's included.
    mutating func nextCommand(now: Duration) -> HCICommand? {
        guard commands.outstandingOpcode == nil, scanner?.isWaitingForAnswer != true else { return nil }
        if commands.waitingCount == 0, !waiting.isEmpty {
            let (command, purpose) = waiting.removeFirst()
            // The queue is empty, so there is room.
            if commands.enqueue(command) { current = purpose }
        }
        let own = commands.nextCommand(now: now)
        guard own != nil || commands.waitingCount == 0 else { return nil }
        let command = own ?? scanner?.nextCommand(now: now)
        // From here on the command's own time counts.
        if command != nil { lastTalk = now }
        return command
    }

    /// True while silence of the controller is no matter of course: it is connected, connects, scans or advertises.
    package var isInUse: Bool {
        guard isReady else { return false }
        return !links.isEmpty || scanner?.state == .scanning || attempts.first?.state == .initiating
            || advertising.state == .on
    }

    /// Asks a controller that was silent for long for its address, which every controller tells at any time.
    mutating func probe(now: Duration) {
        guard isInUse, !isProbing, lastTalk + Self.silence <= now else { return }
        isProbing = true
        counters.probes &+= 1
        request(.readBDADDR, .probe)
    }

    /// When the command under way is given up, or one that the controller does not allow is sent all the same.
    ///
    /// A command that waits for another's answer has no time of its own: nothing would happen then.
    var commandDeadline: Duration? {
        if scanner?.isWaitingForAnswer == true { return scanner?.deadline }
        return commands.deadline ?? scanner?.deadline
    }

    mutating func take(_ outcome: HCICommandQueue.Outcome, now: Duration) {
        guard let purpose = current else { return }
        current = nil
        if case .timedOut(let opcode) = outcome {
            takeSilence(opcode, purpose)
            return
        }
        switch purpose {
        case .initialise: takeInitialisation(outcome)
        case .advertise: takeAdvertising(outcome)
        case .connect: takeConnect(outcome, now: now)
        case .cancelConnection: takeCancel(outcome, now: now)
        case .disconnect(let handle):
            guard case .failed(let opcode, let status) = outcome, links[handle] != nil else { return }
            // The connection had ended by itself; its event is late.
            if status == .unknownConnectionIdentifier {
                end(handle, .connectionTerminatedByLocalHost)
            } else {
                fail(.refused(opcode, status))
            }
        case .update(let handle):
            // Without success no LE Connection Update Complete follows.
            if case .failed = outcome { links[handle]?.isUpdating = false }
        case .encrypt(let handle): takeEncryption(outcome, of: handle, now: now)
        case .reply: break
        case .probe: isProbing = false
        case .optional(let handle): takeOptional(outcome, of: handle)
        }
    }

    /// Gives the controller up, unless it was asked to reset itself once only: it may have been in the middle of a packet.
    private mutating func takeSilence(_ opcode: HCIOpcode, _ purpose: Purpose) {
        if case .optional = purpose {
            unanswered.insert(opcode)
        } else if case .probe = purpose {
            fail(.silent(Self.silence + HCICommandQueue.timeout))
        } else if opcode == .reset, resets < Self.resetAttempts {
            resets &+= 1
            counters.repeatedResets &+= 1
            request(.reset, .initialise)
        } else {
            fail(.noAnswer(opcode))
        }
    }

    private mutating func takeInitialisation(_ outcome: HCICommandQueue.Outcome) {
        switch outcome {
        case .completed(let opcode, let returned):
            do throws(DecodingError) {
                try initialise(after: opcode, returned.span)
            } catch {
                fail(.badAnswer(opcode))
            }
        // Without it some dual-mode controllers work all the same.
        case .failed(.writeLEHostSupport, _): request(.readBDADDR, .initialise)
        case .failed(let opcode, let status): fail(.refused(opcode, status))
        case .timedOut(let opcode): fail(.noAnswer(opcode))
        }
    }

    /// The order: Reset, supported commands and features, LE on a dual-mode controller, address, buffers, event masks.
    private mutating func initialise(after opcode: HCIOpcode, _ returned: Span<UInt8>) throws(DecodingError) {
        switch opcode {
        case .reset: request(.readLocalSupportedCommands, .initialise)
        case .readLocalSupportedCommands:
            let supported = try SupportedCommands(returnParameters: returned)
            supportedCommands = supported
            chooseGeneration(supported)
            let asksFeatures = supported.contains(.readLocalSupportedFeatures)
            request(asksFeatures ? .readLocalSupportedFeatures : .readBDADDR, .initialise)
        case .readLocalSupportedFeatures:
            let features = try HCIReturn.features(returned)
            guard features & Self.lowEnergyFeature != 0 else {
                fail(.lowEnergyUnsupported)
                return
            }
            let isDual =
                features & Self.noClassicFeature == 0 && supportedCommands?.contains(.writeLEHostSupport) == true
            request(isDual ? .writeLEHostSupport(true) : .readBDADDR, .initialise)
        case .writeLEHostSupport: request(.readBDADDR, .initialise)
        case .readBDADDR:
            let address = try HCIReturn.address(returned)
            // Controllers without an address of their own return zeros, or ones.
            if address.rawValue != 0, address.rawValue != 0xFFFF_FFFF_FFFF {
                ownAddress = DeviceAddress(address, .public)
            } else if let randomAddress {
                ownAddress = DeviceAddress(randomAddress, .random)
            } else {
                ownAddress = DeviceAddress(address, .public)
            }
            request(.leReadBufferSize, .initialise)
        case .leReadBufferSize:
            let buffers = try DataBuffers(leReadBufferSize: returned)
            if buffers.dataLength == 0 || buffers.packetCount == 0 {
                request(.readBufferSize, .initialise)
            } else {
                use(buffers, opcode)
            }
        case .readBufferSize: use(try DataBuffers(readBufferSize: returned), opcode)
        case .leReadLocalSupportedFeatures:
            leFeatures = try HCIReturn.features(returned)
            request(.setEventMask(eventMask), .initialise)
        case .setEventMask: request(.leSetEventMask(lowEnergyEventMask), .initialise)
        case .leSetEventMask:
            if let ownAddress, ownAddress.type == .random {
                request(.leSetRandomAddress(ownAddress.address), .initialise)
            } else {
                becomeReady()
            }
        default: becomeReady()
        }
    }

    private mutating func use(_ buffers: DataBuffers, _ opcode: HCIOpcode) {
        guard buffers.dataLength > 0, buffers.packetCount > 0 else {
            fail(.badAnswer(opcode))
            return
        }
        self.buffers = buffers
        freeBuffers = Int(buffers.packetCount)
        request(.leReadLocalSupportedFeatures, .initialise)
    }

    private mutating func becomeReady() {
        state = .ready
        emit(.ready)
    }

    /// Legacy and extended commands must not be mixed, so one generation is chosen for everything (Core 6.0, Vol 4,
    /// Part E, 3.1.1).
    private mutating func chooseGeneration(_ supported: SupportedCommands) {
        let central: [SupportedCommands.Bit] = [
            .leSetExtendedScanParameters, .leSetExtendedScanEnable, .leExtendedCreateConnection,
        ]
        let peripheral: [SupportedCommands.Bit] = [
            .leSetExtendedAdvertisingParameters, .leSetExtendedAdvertisingData, .leSetExtendedScanResponseData,
            .leSetExtendedAdvertisingEnable,
        ]
        let advertisesOnlyLegacy =
            !peripheral.allSatisfy(supported.contains) && supported.contains(.leSetAdvertisingEnable)
        isExtended = central.allSatisfy(supported.contains) && !advertisesOnlyLegacy
        if isExtended {
            scanner = Scanner(.extended)
        } else if supported.contains(.leSetScanParameters), supported.contains(.leSetScanEnable) {
            scanner = Scanner(.legacy)
        }
    }

    private var eventMask: HCIEventMask {
        let mask: HCIEventMask = [.disconnectionComplete, .hardwareError, .dataBufferOverflow, .leMeta]
        return encrypts ? mask.union([.encryptionChange, .encryptionKeyRefreshComplete]) : mask
    }

    private var lowEnergyEventMask: LEEventMask {
        var mask: LEEventMask = [
            .connectionComplete, .advertisingReport, .connectionUpdateComplete, .longTermKeyRequest,
        ]
        if leFeatures & Self.parameterRequestFeature != 0 { mask.insert(.remoteConnectionParameterRequest) }
        mask.formUnion(qualityEvents)
        if isExtended {
            mask.formUnion([
                .enhancedConnectionComplete, .extendedAdvertisingReport, .scanTimeout, .advertisingSetTerminated,
            ])
        }
        return mask
    }

    /// The bit of LE Data Packet Length Extension in the LE features (Core 6.0, Vol 6, Part B, 4.6).
    private static let dataLengthFeature: UInt64 = 1 &<< 5
    /// The bit of LE 2M PHY in the LE features (Core 6.0, Vol 6, Part B, 4.6).
    private static let fastPHYFeature: UInt64 = 1 &<< 8

    /// The subevents that tell of changes which the controller's features allow.
    var qualityEvents: LEEventMask {
        var mask: LEEventMask = []
        if leFeatures & Self.dataLengthFeature != 0 { mask.insert(.dataLengthChange) }
        if leFeatures & Self.fastPHYFeature != 0 { mask.insert(.phyUpdateComplete) }
        return mask
    }

    /// Asks for the longest packets and the faster PHY on a new connection, where the controller offers them.
    ///
    /// The controllers agree on what both can do. A connection without either is as good a connection.
    mutating func improve(_ handle: UInt16) {
        if leFeatures & Self.dataLengthFeature != 0 {
            requestOptional(.leSetDataLength(handle: handle), .leSetDataLength, handle)
        }
        if leFeatures & Self.fastPHYFeature != 0 {
            requestOptional(.leSetPHY(handle: handle, .fast), .leSetPHY, handle)
        }
    }

    /// Puts a command at the end that a connection goes on without: nothing where the controller does not know it, or
    /// has left it without an answer, or is behind.
    private mutating func requestOptional(_ command: HCICommand, _ bit: SupportedCommands.Bit, _ handle: UInt16) {
        guard supportedCommands?.contains(bit) == true, !unanswered.contains(command.opcode),
            waiting.count < Self.commandCapacity
        else { return }
        request(command, .optional(handle))
    }

    /// The PHY on which a connection's peer sends; nil as long as no change was told.
    public func phy(of handle: UInt16) -> PHY? { links[handle]?.phy }

    /// The longest data of one packet from a connection's peer, in bytes; nil as long as no change was told.
    public func receivedDataLength(of handle: UInt16) -> UInt16? { links[handle]?.receivedDataLength }

    /// The timing in force on a connection; nil where there is none.
    public func timing(of handle: UInt16) -> ConnectionTiming? { links[handle]?.timing }

    /// The signal strength of a connection's peer in dBm, as it was read last; nil before that.
    public func rssi(of handle: UInt16) -> Int8? { links[handle]?.rssi }

    /// Asks the controller for the signal strength of a connection's peer, unless that was done within `life`.
    ///
    /// A controller that does not answer is not asked again.
    public mutating func readRSSI(of handle: UInt16, life: Duration, now: Duration) {
        guard isReady, let link = links[handle], link.disconnectDeadline == nil else { return }
        if let asked = link.rssiAsked, now - asked < life { return }
        links[handle]?.rssiAsked = now
        requestOptional(.readRSSI(handle: handle), .readRSSI, handle)
    }

    /// Takes the answer to a command that the link goes on without.
    mutating func takeOptional(_ outcome: HCICommandQueue.Outcome, of handle: UInt16) {
        guard case .completed(.readRSSI, let returned) = outcome else { return }
        do throws(DecodingError) {
            links[handle]?.rssi = try HCIReturn.rssi(returned.span, of: handle)
        } catch {
            counters.badPackets &+= 1
        }
    }
}
