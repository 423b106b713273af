// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

extension LowEnergyHost {
    struct Advertising: Sendable {
        enum State: Sendable {
            case idle
            /// Commands are on their way.
            case busy
            case on
            /// A connection ended it, and the controller cannot advertise again yet.
            case waiting
        }

        var wanted: Setup?
        var state = State.idle
        /// The commands of the sequence that are not sent yet.
        var steps: [HCICommand] = []
        /// True when another sequence must follow the answer that is waited for.
        var isSuperseded = false
        /// True once `advertisingStarted` was reported for the wanted advertisement.
        var isAnnounced = false
        /// True when a connection was made while a sequence ran.
        var isInterrupted = false
    }

    /// The advertisement: parameters, data and scan response.
    struct Setup: Sendable {
        var parameters: AdvertisingParameters
        var data: [UInt8]
        var scanResponse: [UInt8]
    }

    /// The one advertising set that is used, where there are sets.
    private static let advertisingHandle: UInt8 = 0

    /// Advertises until `stopAdvertising`, again after each connection; replaces what was advertised.
    ///
    /// `advertisingStarted` or `advertisingFailed` follows. Returns false, and does nothing, when data or scan response
    /// is longer than 31 bytes, or the host is not ready.
    public mutating func advertise(_ parameters: AdvertisingParameters, data: [UInt8], scanResponse: [UInt8]) -> Bool {
        let limit = HCICommand.maximumAdvertisingDataLength
        guard isReady, data.count <= limit, scanResponse.count <= limit else { return false }
        var parameters = parameters
        if ownAddress?.type == .random { parameters.ownAddressType = .random }
        advertising.wanted = Setup(parameters: parameters, data: data, scanResponse: scanResponse)
        advertising.isAnnounced = false
        beginAdvertising()
        return true
    }

    /// Advertises no more; connections stay.
    ///
    /// `advertisingStopped` follows.
    public mutating func stopAdvertising() {
        guard isReady else { return }
        advertising.wanted = nil
        beginAdvertising()
    }

    private mutating func beginAdvertising() {
        advertising.steps = []
        guard advertising.state != .busy else {
            advertising.isSuperseded = true
            return
        }
        advertising.steps = sequence
        sendAdvertisingStep()
    }

    /// The commands for the wanted advertisement, in order.
    private var sequence: [HCICommand] {
        let handle = Self.advertisingHandle
        let off: HCICommand =
            isExtended
            ? .leSetExtendedAdvertisingEnable(false, handle: handle) : .leSetAdvertisingEnable(false)
        guard let setup = advertising.wanted else { return [off] }
        let commands: [HCICommand?] =
            isExtended
            ? [
                .leSetExtendedAdvertisingParameters(handle: handle, setup.parameters),
                setup.parameters.ownAddressType == .random
                    ? ownAddress.map { .leSetAdvertisingSetRandomAddress(handle: handle, $0.address) } : nil,
                .leSetExtendedAdvertisingData(handle: handle, setup.data),
                setup.parameters.kind == .nonConnectable
                    ? nil : .leSetExtendedScanResponseData(handle: handle, setup.scanResponse),
                .leSetExtendedAdvertisingEnable(true, handle: handle),
            ]
            : [
                .leSetAdvertisingParameters(setup.parameters), .leSetAdvertisingData(setup.data),
                .leSetScanResponseData(setup.scanResponse), .leSetAdvertisingEnable(true),
            ]
        return [off] + commands.compactMap { $0 }
    }

    private mutating func sendAdvertisingStep() {
        guard !advertising.steps.isEmpty else { return }
        advertising.state = .busy
        request(advertising.steps.removeFirst(), .advertise)
    }

    mutating func takeAdvertising(_ outcome: HCICommandQueue.Outcome) {
        if advertising.isSuperseded {
            advertising.isSuperseded = false
            advertising.state = .idle
            beginAdvertising()
            return
        }
        if case .failed(let opcode, let status) = outcome {
            let isOff = advertising.wanted == nil || (opcode == offOpcode && !advertising.steps.isEmpty)
            // Some controllers refuse to switch off advertising that is off, or to remove a set that does not exist.
            guard isOff, status == .commandDisallowed || status == .unknownAdvertisingIdentifier else {
                refuseAdvertising(opcode, status)
                return
            }
        }
        guard advertising.steps.isEmpty else {
            sendAdvertisingStep()
            return
        }
        if advertising.wanted == nil {
            advertising.state = .idle
            emit(.advertisingStopped)
            return
        }
        advertising.state = .on
        if !advertising.isAnnounced {
            advertising.isAnnounced = true
            emit(.advertisingStarted)
        }
        if advertising.isInterrupted { noteConnectionOfAdvertising() }
    }

    private var offOpcode: HCIOpcode { isExtended ? .leSetExtendedAdvertisingEnable : .leSetAdvertisingEnable }

    private mutating func refuseAdvertising(_ opcode: HCIOpcode, _ status: HCIStatus) {
        advertising.steps = []
        advertising.isInterrupted = false
        if advertising.isAnnounced {
            // The controller could advertise before the connection, and will again when one has ended.
            advertising.state = .waiting
        } else {
            advertising.wanted = nil
            advertising.state = .idle
            emit(.advertisingFailed(.refused(opcode, status)))
        }
    }

    /// A central has connected: the controller advertises no more (Core 6.0, Vol 4, Part E, 7.8.9).
    mutating func noteConnectionOfAdvertising() {
        guard advertising.wanted != nil, advertising.isAnnounced else { return }
        guard advertising.state == .on else {
            // The running sequence may have enabled advertising before the connection.
            if advertising.state == .busy { advertising.isInterrupted = true }
            return
        }
        advertising.isInterrupted = false
        advertising.state = .waiting
        rearmAdvertising()
    }

    /// Switches advertising on again where a connection has ended it.
    mutating func rearmAdvertising() {
        guard advertising.state == .waiting, advertising.wanted != nil else { return }
        advertising.steps = [
            isExtended
                ? .leSetExtendedAdvertisingEnable(true, handle: Self.advertisingHandle) : .leSetAdvertisingEnable(true)
        ]
        sendAdvertisingStep()
    }

    /// Takes LE Advertising Set Terminated; a connection has an event of its own.
    mutating func take(_ event: LEAdvertisingSetTerminated) {
        guard event.advertisingHandle == Self.advertisingHandle, event.status != .success else { return }
        noteConnectionOfAdvertising()
    }
}
