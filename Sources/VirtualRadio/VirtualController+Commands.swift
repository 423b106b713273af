// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

extension VirtualController {
    /// The commands that this controller knows: all, or those of Bluetooth 4.2.
    var supportedCommands: [ControllerCommand] { ControllerCommand.allCases.filter(isSupported) }

    private func isSupported(_ command: ControllerCommand) -> Bool {
        configuration.generation == .extended || command.generation != .extended
    }

    /// Takes a command packet: carries it out, or refuses it, and answers.
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
            var writer = ByteWriter()
            writer.write(credits)
            writer.write(opcode.rawValue)
            writer.write(status.rawValue)
            writer.write(returned + padding)
            return Self.event(HCIEvent.Code.commandComplete, writer.bytes)
        }
    }

    private static func commandStatus(_ status: HCIStatus, _ credits: UInt8, _ opcode: HCIOpcode) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(status.rawValue)
        writer.write(credits)
        writer.write(opcode.rawValue)
        return event(HCIEvent.Code.commandStatus, writer.bytes)
    }

    /// Refuses the commands of the generation that the host has not chosen since Reset.
    ///
    /// Core 6.0, Vol 4, Part E, 3.1.1.
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
}
