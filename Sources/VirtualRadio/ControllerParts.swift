// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// All parts of a controller, each with its own state.
///
/// Passes the host's commands to the parts that execute them.
struct ControllerParts {
    var output: ControllerOutput
    private(set) var acceptList: FilterAcceptList
    private(set) var initiator = ControllerInitiator()
    private var advertising = ControllerAdvertising()
    private var scanner = ControllerScanner()
    private var randomAddress: BluetoothAddress?
    /// Generation of the first advertising, scanning or initiating command since Reset.
    private var generation: VirtualController.Generation?

    init(_ configuration: VirtualController.Configuration, _ output: ControllerOutput) {
        self.output = output
        acceptList = FilterAcceptList(capacity: configuration.acceptListSize)
    }

    /// Time at which `expire` must be called; nil if nothing is scheduled.
    var deadline: Duration? {
        .earliest(output.deadline, .earliest(scanner.deadline, advertising.deadline))
    }

    /// Performs the first due action; returns the advertising set if that action is an advertising event.
    mutating func expire(_ radio: VirtualRadio) -> AdvertisingSet? {
        let now = radio.now
        if output.expire(now: now) || scanner.expire(&output, now: now) { return nil }
        return advertising.expire(&output, radio)
    }

    // MARK: The radio

    /// Handles an advertising event of another controller.
    ///
    /// If this controller sends a scan request, the advertiser reports the request to its host, provided that the host
    /// has enabled LE Scan Request Received (Core 6.0, Vol 4, Part E, 7.7.65.19).
    mutating func hear(_ set: AdvertisingSet, from advertiser: VirtualController, now: Duration, strength: () -> Int8) {
        scanner.hear(set, acceptList, &output, now: now, strength: strength) { scanner in
            guard set.answers(scanner, .scansFromAcceptList, advertiser.parts.acceptList) else { return false }
            if set.reportsScanRequests, let handle = set.handle {
                advertiser.emit(.scanRequest(handle, from: scanner), now: now)
            }
            return true
        }
    }

    /// Reports a new connection to the host, and ends the connection attempt or the advertising that led to it.
    mutating func begin(_ link: Link, _ role: ConnectionRole, _ set: AdvertisingSet, now: Duration) {
        output.emit(link.completion(for: role), now: now)
        switch role {
        case .central: initiator.finish()
        case .peripheral: advertising.end(set.handle, connection: link.peripheral.handle, &output, now: now)
        }
    }

    /// Ends an advertising set without a connection, if that was its last event.
    mutating func finishEvent(of set: AdvertisingSet, now: Duration) {
        advertising.finishEvent(of: set.handle, &output, now: now)
    }

    // MARK: Commands

    mutating func receiveCommand(_ packet: [UInt8], _ links: ControllerLinks) {
        let now = links.radio.now
        // A command packet starts with an indicator, a two-byte opcode and a length.
        guard packet.count >= 4 else { return output.loseSynchronisation(now: now) }
        let opcode = HCIOpcode(rawValue: UInt16(packet[1]) | UInt16(packet[2]) &<< 8)
        let parameters = [UInt8](packet[4...])
        guard !output.isBusy || opcode == .reset else { return output.countLostPacket() }
        let fault = output.faults.commands[opcode]?.strike()
        output.beginCommand()
        guard let code = ControllerCommand(rawValue: opcode.rawValue), links.configuration.supports(code) else {
            let status: HCIStatus = if case .refuse(let status) = fault { status } else { .unknownHCICommand }
            return output.endCommand(with: fault, now: now) { .commandStatus(status, opcode, credits: $0) }
        }
        let shape = code.shape
        var status = HCIStatus.success
        var returned: [UInt8] = []
        do throws(Refusal) {
            if case .refuse(let status) = fault { throw Refusal(status: status) }
            if case .hardwareError = fault { throw .disallowed }
            guard Int(packet[3]) == parameters.count, shape.parameters.contains(parameters.count) else {
                throw .invalid
            }
            try checkGeneration(code)
            var command = CommandReader(code, parameters, links, randomAddress: randomAddress)
            returned = try perform(&command)
            try command.expectEnd()
        } catch {
            status = error.status
            // The answer to a failed command has the same length as the answer to a successful one. It repeats the
            // connection handle if the command has one.
            returned = code.isAboutConnection ? [UInt8](parameters.prefix(2)) : []
        }
        output.endCommand(with: fault, now: now) { credits in
            guard let length = shape.returned else { return .commandStatus(status, opcode, credits: credits) }
            let padding = [UInt8](repeating: 0, count: max(0, length - returned.count))
            return .commandComplete(opcode, credits: credits, [status.rawValue] + returned + padding)
        }
    }

    /// Refuses a command if the host has used commands of the other generation since Reset (Core 6.0, Vol 4, Part E,
    /// 3.1.1).
    private mutating func checkGeneration(_ command: ControllerCommand) throws(Refusal) {
        guard let wanted = command.generation else { return }
        guard generation == nil || generation == wanted else { throw .disallowed }
        generation = wanted
    }

    /// Executes a command; returns the parameters that follow the status in Command Complete.
    private mutating func perform(_ command: inout CommandReader) throws(Refusal) -> [UInt8] {
        switch command.code {
        case let code where code.isAboutConnection: return try command.links.perform(&command)
        case .reset: reset(command.links)
        case .setEventMask: output.eventMask = try command.readUInt64()
        case .leSetEventMask: output.lowEnergyMask = try command.readUInt64()
        case .leRand: return ByteWriter.bytes(command.links.radio.random(in: UInt64.min...UInt64.max))
        case .leSetRandomAddress: try setRandomAddress(&command)
        case .leClearFilterAcceptList, .leAddToFilterAcceptList, .leRemoveFromFilterAcceptList:
            try changeAcceptList(&command)
        case .leSetAdvertisingParameters: try advertising.setParameters(&command)
        case .leSetAdvertisingData: try advertising.setData(&command, isResponse: false)
        case .leSetScanResponseData: try advertising.setData(&command, isResponse: true)
        case .leSetAdvertisingEnable: try advertising.setEnable(&command)
        case .leSetAdvertisingSetRandomAddress: try advertising.setRandomAddress(&command)
        case .leSetExtendedAdvertisingParameters:
            try advertising.setExtendedParameters(&command, limit: command.links.configuration.advertisingSetCount)
            return [ControllerIdentity.txPower]
        case .leSetExtendedAdvertisingData: try advertising.setExtendedData(&command, isResponse: false)
        case .leSetExtendedScanResponseData: try advertising.setExtendedData(&command, isResponse: true)
        case .leSetExtendedAdvertisingEnable: try advertising.setExtendedEnable(&command)
        case .leRemoveAdvertisingSet: try advertising.removeSet(&command)
        case .leClearAdvertisingSets: try advertising.clearSets()
        case .leSetScanParameters: try scanner.setParameters(&command)
        case .leSetScanEnable: try scanner.setEnable(&command)
        case .leSetExtendedScanParameters: try scanner.setExtendedParameters(&command)
        case .leSetExtendedScanEnable: try scanner.setExtendedEnable(&command)
        case .leCreateConnection: try initiator.create(&command)
        case .leExtendedCreateConnection: try initiator.createExtended(&command)
        case .leCreateConnectionCancel: try initiator.cancel(&output, now: command.now)
        default: return command.links.configuration.answer(to: command.code)
        }
        return []
    }

    /// Resets everything except the faults and the packets queued for the host (Core 6.0, Vol 4, Part E, 7.3.2).
    private mutating func reset(_ links: ControllerLinks) {
        output.reset()
        self = Self(links.configuration, output)
        links.kill()
    }

    /// Executes LE Set Random Address; refuses it while the address is in use (Core 6.0, Vol 4, Part E, 7.8.4).
    private mutating func setRandomAddress(_ command: inout CommandReader) throws(Refusal) {
        guard !advertising.isLegacyEnabled, !scanner.isEnabled, !initiator.isActive else { throw .disallowed }
        randomAddress = try command.readAddress()
    }

    /// Executes LE Clear Filter Accept List or a command that changes the list; refuses it while the list is in use
    /// (Core 6.0, Vol 4, Part E, 7.8.15 to 7.8.17).
    private mutating func changeAcceptList(_ command: inout CommandReader) throws(Refusal) {
        guard !advertising.usesAcceptList, !scanner.usesAcceptList, !initiator.usesAcceptList else { throw .disallowed }
        switch command.code {
        case .leAddToFilterAcceptList: try acceptList.add(&command)
        case .leRemoveFromFilterAcceptList: try acceptList.remove(&command)
        default: acceptList = FilterAcceptList(capacity: command.links.configuration.acceptListSize)
        }
    }
}
