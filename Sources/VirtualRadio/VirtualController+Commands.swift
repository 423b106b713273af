// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

extension VirtualController {
    /// The commands that this controller knows: all, or those of Bluetooth 4.2.
    var supportedCommands: [ControllerCommand] { ControllerCommand.allCases.filter(isSupported) }

    private func isSupported(_ command: ControllerCommand) -> Bool {
        configuration.generation == .extended || command.generation != .extended
    }

    func receiveCommand(_ packet: [UInt8]) {
        // Indicator, opcode, length.
        guard packet.count >= 4 else { return loseSynchronisation() }
        let opcode = HCIOpcode(rawValue: UInt16(packet[1]) | UInt16(packet[2]) &<< 8)
        let parameters = [UInt8](packet[4...])
        guard !isBusy || opcode == .reset else {
            lostPackets &+= 1
            return
        }
        let fault = faults.commands[opcode]?.strike()
        beginCommand()
        guard let command = ControllerCommand(rawValue: opcode.rawValue), isSupported(command) else {
            let status: HCIStatus = if case .refuse(let status) = fault { status } else { .unknownHCICommand }
            return endCommand(with: fault) { Self.commandStatus(status, $0, opcode) }
        }
        let shape = command.shape
        var status = HCIStatus.success
        var returned: [UInt8] = []
        do throws(Refusal) {
            if case .refuse(let status) = fault { throw Refusal(status: status) }
            if case .hardwareError = fault { throw .disallowed }
            guard Int(packet[3]) == parameters.count, shape.parameters.contains(parameters.count) else {
                throw .invalid
            }
            try checkGeneration(command)
            var reader = CommandParameters(parameters)
            returned = try perform(command, &reader)
            try reader.expectEnd()
        } catch {
            status = error.status
            // A failed command returns as many bytes, with the handle that it was about.
            returned = shape.repeatsHandle ? [UInt8](parameters.prefix(2)) : []
        }
        endCommand(with: fault) { credits in
            guard let length = shape.returned else { return Self.commandStatus(status, credits, opcode) }
            let padding = [UInt8](repeating: 0, count: max(0, length - returned.count))
            let parameters = ByteWriter.bytes(credits, opcode.rawValue, status.rawValue, returned + padding)
            return Self.event(HCIEvent.Code.commandComplete, parameters)
        }
    }

    private static func commandStatus(_ status: HCIStatus, _ credits: UInt8, _ opcode: HCIOpcode) -> [UInt8] {
        event(HCIEvent.Code.commandStatus, ByteWriter.bytes(status.rawValue, credits, opcode.rawValue))
    }

    /// Refuses the commands of the generation that the host has not chosen since Reset (Core 6.0, Vol 4, Part E,
    /// 3.1.1).
    private func checkGeneration(_ command: ControllerCommand) throws(Refusal) {
        guard let generation = command.generation else { return }
        guard state.generation == nil || state.generation == generation else { throw .disallowed }
        state.generation = generation
    }

    /// Carries a command out; returns the parameters of its Command Complete after the status.
    private func perform(
        _ command: ControllerCommand,
        _ parameters: inout CommandParameters
    ) throws(Refusal) -> [UInt8] {
        switch command {
        case .reset: reset()
        case .setEventMask: state.eventMask = try parameters.readUInt64()
        case .leSetEventMask: state.leEventMask = try parameters.readUInt64()
        case .leSetRandomAddress: try setRandomAddress(&parameters)
        case .leClearFilterAcceptList: try clearAcceptList()
        case .leAddToFilterAcceptList: try addToAcceptList(&parameters)
        case .leRemoveFromFilterAcceptList: try removeFromAcceptList(&parameters)
        case .leSetAdvertisingParameters: try setAdvertisingParameters(&parameters)
        case .leSetAdvertisingData: try setAdvertisingData(&parameters, isResponse: false)
        case .leSetScanResponseData: try setAdvertisingData(&parameters, isResponse: true)
        case .leSetAdvertisingEnable: try setAdvertisingEnable(&parameters)
        case .leSetAdvertisingSetRandomAddress: try setAdvertisingSetRandomAddress(&parameters)
        case .leSetExtendedAdvertisingParameters: return try setExtendedAdvertisingParameters(&parameters)
        case .leSetExtendedAdvertisingData: try setExtendedAdvertisingData(&parameters, isResponse: false)
        case .leSetExtendedScanResponseData: try setExtendedAdvertisingData(&parameters, isResponse: true)
        case .leSetExtendedAdvertisingEnable: try setExtendedAdvertisingEnable(&parameters)
        case .leRemoveAdvertisingSet: try removeAdvertisingSet(&parameters)
        case .leClearAdvertisingSets: try clearAdvertisingSets()
        case .leSetScanParameters: try setScanParameters(&parameters)
        case .leSetScanEnable: try setScanEnable(&parameters)
        case .leSetExtendedScanParameters: try setExtendedScanParameters(&parameters)
        case .leSetExtendedScanEnable: try setExtendedScanEnable(&parameters)
        case .leCreateConnection: try createConnection(&parameters)
        case .leExtendedCreateConnection: try extendedCreateConnection(&parameters)
        case .leCreateConnectionCancel: try cancelConnection()
        case .disconnect: try disconnect(&parameters)
        case .readRemoteVersionInformation: try begin(.readVersion, &parameters)
        case .leReadRemoteFeatures: try begin(.readFeatures, &parameters)
        case .leConnectionUpdate: try updateConnection(&parameters)
        case .leRemoteConnectionParameterRequestReply: return try acceptParameterRequest(&parameters)
        case .leRemoteConnectionParameterRequestNegativeReply: return try refuseParameterRequest(&parameters)
        case .leEnableEncryption: try enableEncryption(&parameters)
        case .leLongTermKeyRequestReply: return try replyWithKey(&parameters)
        case .leLongTermKeyRequestNegativeReply: return try refuseKey(&parameters)
        case .readRSSI: return try readRSSI(&parameters)
        case .leReadChannelMap: return try readChannelMap(&parameters)
        default: return read(command)
        }
        return []
    }

    enum Identity {
        /// The company number that belongs to nobody (Assigned Numbers, 7).
        static let company: UInt16 = 0xFFFF
        /// Core 4.2 and Core 5.0 (Assigned Numbers, 2.1).
        static func version(_ generation: Generation) -> UInt8 { generation == .legacy ? 0x08 : 0x09 }
        /// BR/EDR Not Supported and LE Supported (Core 6.0, Vol 2, Part C, 3.3: bits 37 and 38).
        static let features: UInt64 = UInt64(1) &<< 37 | UInt64(1) &<< 38
        /// LE Encryption, Connection Parameters Request, Extended Reject Indication, Peripheral-initiated Features Exchange, and LE
        /// Extended Advertising (Core 6.0, Vol 6, Part B, 4.6: bits 0 to 3 and 12).
        static func lowEnergyFeatures(_ generation: Generation) -> UInt64 {
            let legacy: UInt64 = 0b1111
            return generation == .legacy ? legacy : legacy | UInt64(1) &<< 12
        }
        /// Every state and combination that 7.8.27 knows: bits 0 to 41.
        static let states: UInt64 = 0x0000_03FF_FFFF_FFFF
        static let txPower: UInt8 = 0
        /// All 37 data channels (Core 6.0, Vol 4, Part E, 7.8.20).
        static let channelMap: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF, 0x1F]
    }

    /// Answers a command that only asks for information (Core 6.0, Vol 4, Part E, 7.4 and 7.8).
    func read(_ command: ControllerCommand) -> [UInt8] {
        let length = configuration.aclDataLength
        let count = configuration.aclBufferCount
        switch command {
        case .readLocalVersionInformation:
            let version = Identity.version(configuration.generation)
            return ByteWriter.bytes(version, UInt16(0), version, Identity.company, UInt16(0))
        case .readLocalSupportedCommands: return SupportedCommands(Set(supportedCommands.map { $0.shape.bit })).octets
        case .readLocalSupportedFeatures: return ByteWriter.bytes(Identity.features)
        case .readAddress: return ByteWriter.bytes(configuration.address)
        case .readBufferSize where configuration.sharesBuffers:
            return ByteWriter.bytes(length, UInt8(0), UInt16(count), UInt16(0))
        case .leReadBufferSize where !configuration.sharesBuffers: return ByteWriter.bytes(length, count)
        case .leReadLocalSupportedFeatures:
            return ByteWriter.bytes(Identity.lowEnergyFeatures(configuration.generation))
        case .leReadAdvertisingTxPower: return [Identity.txPower]
        case .leReadFilterAcceptListSize: return [configuration.acceptListSize]
        case .leRand: return ByteWriter.bytes(radio?.random(in: UInt64.min...UInt64.max) ?? 0)
        case .leReadSupportedStates: return ByteWriter.bytes(Identity.states)
        case .leReadMaximumAdvertisingDataLength: return ByteWriter.bytes(UInt16(Limit.extendedData))
        case .leReadNumberOfSupportedAdvertisingSets: return [configuration.advertisingSetCount]
        // The rest of the answer is zeros.
        default: return []
        }
    }

    /// LE Set Random Address: not while it is in use (Core 6.0, Vol 4, Part E, 7.8.4).
    func setRandomAddress(_ parameters: inout CommandParameters) throws(Refusal) {
        let isAdvertising = state.sets.contains { $0.handle == nil && $0.isEnabled }
        guard !isAdvertising, !state.scan.isEnabled, state.initiation == nil else { throw .disallowed }
        state.randomAddress = try parameters.readAddress()
    }

    /// The controller's address of the given type; refused when there is no random address.
    func ownAddress(_ type: AddressType, random: BluetoothAddress?) throws(Refusal) -> DeviceAddress {
        guard type == .random else { return DeviceAddress(configuration.address, .public) }
        guard let random else { throw .invalid }
        return DeviceAddress(random, .random)
    }

    // MARK: Filter Accept List

    /// The Address_Type of an entry for advertisers that hide their address.
    private static let anonymous: UInt8 = 0xFF

    /// LE Clear Filter Accept List (Core 6.0, Vol 4, Part E, 7.8.15).
    func clearAcceptList() throws(Refusal) {
        try checkAcceptListIsFree()
        state.acceptList.removeAll()
        state.acceptsAnonymous = false
    }

    /// LE Add Device To Filter Accept List (Core 6.0, Vol 4, Part E, 7.8.16).
    func addToAcceptList(_ parameters: inout CommandParameters) throws(Refusal) {
        try checkAcceptListIsFree()
        let (type, address) = try readEntry(&parameters)
        guard let type else {
            state.acceptsAnonymous = true
            return
        }
        let device = DeviceAddress(address, type)
        guard !state.acceptList.contains(device) else { return }
        guard state.acceptList.count < Int(configuration.acceptListSize) else { throw .memoryCapacityExceeded }
        state.acceptList.append(device)
    }

    /// LE Remove Device From Filter Accept List (Core 6.0, Vol 4, Part E, 7.8.17).
    func removeFromAcceptList(_ parameters: inout CommandParameters) throws(Refusal) {
        try checkAcceptListIsFree()
        let (type, address) = try readEntry(&parameters)
        if let type {
            state.acceptList.removeAll { $0 == DeviceAddress(address, type) }
        } else {
            state.acceptsAnonymous = false
        }
    }

    private func readEntry(
        _ parameters: inout CommandParameters
    ) throws(Refusal) -> (type: AddressType?, address: BluetoothAddress) {
        let value = try parameters.readUInt8()
        let address = try parameters.readAddress()
        if value == Self.anonymous { return (nil, address) }
        guard let type = AddressType(rawValue: value) else { throw .invalid }
        return (type, address)
    }

    /// The list does not change while anything is filtered by it.
    private func checkAcceptListIsFree() throws(Refusal) {
        let isUsed =
            state.sets.contains { $0.isEnabled && !$0.filterPolicy.isEmpty }
            || (state.scan.isEnabled && state.scan.usesAcceptList)
            || (state.initiation.map { $0.peer == nil } ?? false)
        guard !isUsed else { throw .disallowed }
    }
}
