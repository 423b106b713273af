// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// Advertising of a host; it is enabled again after a connection has stopped it.
struct HostAdvertising: Sendable {
    struct Setup: Sendable {
        var parameters: AdvertisingParameters
        var data: [UInt8]
        var scanResponse: [UInt8]
    }

    private enum State: Sendable {
        case idle
        /// A command is unanswered.
        case busy
        case on
        /// Advertising has been stopped by a connection, and the controller cannot enable it again yet.
        case waiting
    }

    /// Handle of the advertising set; extended advertising uses only this set.
    private static let handle: UInt8 = 0

    private var wanted: Setup?
    private var state = State.idle
    /// Commands of the current sequence that have not been sent yet.
    private var steps: [HCICommand] = []
    /// True if a new command sequence must start after the pending answer.
    private var isSuperseded = false
    /// True once `advertisingStarted` has been reported for the requested advertisement.
    private var isAnnounced = false
    /// True if a central connected while a command sequence was in progress.
    private var isInterrupted = false

    var isIdle: Bool { state == .idle }
    var isOn: Bool { state == .on }

    /// Replaces the advertisement; nil stops advertising.
    mutating func replace(_ setup: Setup?, _ core: inout HostCore) {
        wanted = setup
        if setup != nil { isAnnounced = false }
        begin(&core)
    }

    private mutating func begin(_ core: inout HostCore) {
        guard state != .busy else {
            isSuperseded = true
            return
        }
        steps = sequence(core.controller)
        sendStep(&core)
    }

    private func enable(_ isOn: Bool, _ controller: HostController) -> HCICommand {
        controller.isExtended
            ? .leSetExtendedAdvertisingEnable(isOn, handle: Self.handle) : .leSetAdvertisingEnable(isOn)
    }

    /// Returns the commands that apply the requested advertisement, in order.
    private func sequence(_ controller: HostController) -> [HCICommand] {
        let off = enable(false, controller)
        guard let wanted else { return [off] }
        let commands: [HCICommand?] =
            controller.isExtended
            ? [
                .leSetExtendedAdvertisingParameters(handle: Self.handle, wanted.parameters),
                wanted.parameters.ownAddressType == .random
                    ? controller.address.map {
                        .leSetAdvertisingSetRandomAddress(handle: Self.handle, $0.address)
                    } : nil,
                .leSetExtendedAdvertisingData(handle: Self.handle, wanted.data),
                wanted.parameters.kind == .nonConnectable
                    ? nil : .leSetExtendedScanResponseData(handle: Self.handle, wanted.scanResponse),
            ]
            : [
                .leSetAdvertisingParameters(wanted.parameters), .leSetAdvertisingData(wanted.data),
                .leSetScanResponseData(wanted.scanResponse),
            ]
        return [off] + commands.compactMap { $0 } + [enable(true, controller)]
    }

    private mutating func sendStep(_ core: inout HostCore) {
        guard !steps.isEmpty else { return }
        state = .busy
        core.output.request(steps.removeFirst(), .advertise)
    }

    mutating func take(_ outcome: HCICommandQueue.Outcome, _ core: inout HostCore) {
        if isSuperseded {
            isSuperseded = false
            state = .idle
            begin(&core)
            return
        }
        if case .failed(let opcode, let status) = outcome {
            let isOff = wanted == nil || (opcode == enable(false, core.controller).opcode && !steps.isEmpty)
            // Some controllers refuse to disable advertising that is already disabled, or whose set does not exist.
            guard isOff, status == .commandDisallowed || status == .unknownAdvertisingIdentifier else {
                return refuse(opcode, status, &core)
            }
        }
        guard steps.isEmpty else { return sendStep(&core) }
        guard wanted != nil else {
            state = .idle
            return core.output.emit(.advertisingStopped)
        }
        state = .on
        if !isAnnounced {
            isAnnounced = true
            core.output.emit(.advertisingStarted)
        }
        if isInterrupted { noteConnection(&core) }
    }

    private mutating func refuse(_ opcode: HCIOpcode, _ status: HCIStatus, _ core: inout HostCore) {
        isInterrupted = false
        if isAnnounced {
            // The controller was able to advertise before the connection, and will be able to do so after a
            // disconnection.
            state = .waiting
        } else {
            wanted = nil
            state = .idle
            core.output.emit(.advertisingFailed(.refused(opcode, status)))
        }
    }

    /// Handles the connection of a central, which stops the controller's advertising (Core 6.0, Vol 4, Part E, 7.8.9).
    mutating func noteConnection(_ core: inout HostCore) {
        guard wanted != nil, isAnnounced else { return }
        guard state == .on else {
            // The command sequence in progress may have enabled advertising before the connection.
            if state == .busy { isInterrupted = true }
            return
        }
        isInterrupted = false
        state = .waiting
        resume(&core)
    }

    /// Enables advertising again after a connection has stopped it.
    mutating func resume(_ core: inout HostCore) {
        guard state == .waiting, wanted != nil else { return }
        steps = [enable(true, core.controller)]
        sendStep(&core)
    }

    /// Processes LE Advertising Set Terminated; ignores it if a connection is the cause, because connections are
    /// reported separately.
    mutating func take(_ event: LEAdvertisingSetTerminated, _ core: inout HostCore) {
        guard event.advertisingHandle == Self.handle, event.status != .success else { return }
        noteConnection(&core)
    }
}
