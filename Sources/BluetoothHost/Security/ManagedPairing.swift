// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// Pairing with one device, performed by the kernel's Security Manager.
///
/// It is a pure state machine that uses the management protocol. After `begin`, its inputs are the replies to its
/// commands, the adapter's events and the user's answers; its outputs are commands and events. The kernel connects,
/// pairs and delivers the keys; `ManagedPairing` decides whether the keys are accepted as a bond.
public struct ManagedPairing: Sendable {
    /// Question that the user must answer.
    public enum Question: Equatable, Sendable {
        /// The user must say whether the other device shows this number.
        case compare(UInt32)
        /// The user must enter the number that the other device shows.
        case enter
    }

    /// Event of a pairing.
    public enum News: Equatable, Sendable {
        /// The user must answer a question; pass the answer to `answer(_:)` or `answer(passkey:)`.
        case ask(Question)
        /// The user must enter this number at the other device.
        case show(passkey: UInt32)
        case ended(Result<Bond, Failure>)
    }

    /// Reason why a pairing produced no bond.
    public enum Failure: Error, Equatable, Sendable {
        case refused(ManagementOpcode, ManagementStatus)
        /// The connection to the device failed or was disconnected.
        case notReached(ManagementStatus)
        /// The devices did not agree: a number was wrong, the user declined, or their requirements are incompatible.
        case disagreed
        case alreadyPaired
        /// The user declined.
        case declined
        /// The pairing timed out or was cancelled.
        case cancelled
        /// The device does not store a key, or could not be recognised again.
        case notBonded
        /// The key provides less security than was requested.
        case tooWeak(GATTLinkSecurity)
        /// The device does not support 16-byte keys.
        case keyTooShort
        /// The device used LE legacy pairing, which cannot provide the requested authentication.
        case legacy
    }

    private enum Phase: Sendable, Equatable { case preparing, pairing, over }

    private let index: ControllerIndex
    private let local: BluetoothAddress
    private let device: ManagementAddress
    private let capability: IOCapability
    private let required: GATTLinkSecurity.Level
    private var phase = Phase.preparing
    private var preparation: ArraySlice<ManagementCommand>
    private var commands: [ManagementCommand] = []
    private var news: [News] = []
    private var keys: [ManagementLongTermKey] = []
    private var resolvingKey: ManagementResolvingKey?
    /// Reason why this host makes the pairing fail, set before the kernel reports the failure.
    private var reason: Failure?

    /// Creates a pairing between a controller and a device.
    ///
    /// The bond is rejected if its security is below the required level, or if one of its keys is shorter than 16
    /// bytes.
    public init(
        _ index: ControllerIndex,
        _ information: ControllerInformation,
        with device: DeviceAddress,
        _ capability: IOCapability,
        required: GATTLinkSecurity.Level
    ) {
        self.index = index
        local = information.address
        self.device = ManagementAddress(device)
        self.capability = capability
        self.required = required
        var preparation: [ManagementCommand] = []
        // A controller with BR/EDR accepts Set Secure Connections only after this command.
        if information.supportedSettings.contains(.secureSimplePairing) {
            preparation.append(.setSecureSimplePairing(index, true))
        }
        // The kernel requests a device's identity keys only if a list of such keys, which may be empty, has been loaded
        // (build_pairing_cmd). The keys of the other bonds are loaded when a link needs them.
        preparation.append(.loadIdentityResolvingKeys(index, []))
        preparation += [
            .setSecureConnections(index, true), .setBondable(index, true), .setIOCapability(index, capability),
        ]
        self.preparation = preparation[...]
    }

    /// Starts the preparation of the controller.
    public mutating func begin() { prepare() }

    /// Returns the next command to send, or nil if there is none.
    public mutating func nextCommand() -> ManagementCommand? { commands.isEmpty ? nil : commands.removeFirst() }

    /// Returns the next event, or nil if there is none.
    public mutating func nextNews() -> News? { news.isEmpty ? nil : news.removeFirst() }

    /// Processes the reply to a command from `nextCommand`; the status is nil if the command timed out.
    public mutating func handle(replyTo opcode: ManagementOpcode, _ status: ManagementStatus?, _ returned: Span<UInt8>)
    {
        let status = status ?? .timeout
        switch opcode {
        // If one of these commands fails, the kernel uses LE legacy pairing, which the kinds of the keys reveal later.
        case .loadIdentityResolvingKeys, .setSecureSimplePairing, .setSecureConnections:
            if phase == .preparing { prepare() }
        case .setBondable, .setIOCapability:
            guard phase == .preparing else { return }
            if status == .success { prepare() } else { end(.failure(.refused(opcode, status))) }
        case .pairDevice where phase == .pairing: paired(status, try? ManagementReturn.device(returned))
        default: break
        }
    }

    /// Processes an event of the controller.
    public mutating func handle(_ event: ManagementEvent.Kind) {
        guard phase == .pairing else { return }
        switch event {
        case .userConfirmationRequest(let peer, let isPlain, let number) where isMeant(peer):
            // With Just Works, starting the pairing counts as consent, unless authentication is required.
            if isPlain {
                if required >= .authenticated { reason = .tooWeak(GATTLinkSecurity(level: .encrypted)) }
                commands.append(.userConfirmationReply(index, peer, accepts: required < .authenticated))
            } else {
                news.append(.ask(.compare(number)))
            }
        case .userPasskeyRequest(let peer) where isMeant(peer): news.append(.ask(.enter))
        case .passkeyNotify(let peer, let passkey, entered: 0) where isMeant(peer):
            news.append(.show(passkey: passkey))
        case .newLongTermKey(let key, isToBeKept: true) where keys.count < 2: keys.append(key)
        case .newIdentityResolvingKey(let key, let resolved, isToBeKept: true)
        where key.device == device || resolved == device.address:
            resolvingKey = key
        default: break
        }
    }

    /// Sends the user's answer to a `compare` question.
    public mutating func answer(_ isSame: Bool) {
        guard phase == .pairing else { return }
        if !isSame { reason = .declined }
        commands.append(.userConfirmationReply(index, device, accepts: isSame))
    }

    /// Sends the user's answer to an `enter` question, or nil if the user has declined.
    public mutating func answer(passkey: UInt32?) {
        guard phase == .pairing else { return }
        if passkey == nil { reason = .declined }
        commands.append(.userPasskeyReply(index, device, passkey))
    }

    /// Cancels the pairing.
    public mutating func cancel() {
        switch phase {
        case .preparing: end(.failure(.cancelled))
        case .pairing:
            reason = .cancelled
            commands.append(.cancelPairDevice(index, device))
        case .over: break
        }
    }

    // MARK: Steps

    private mutating func prepare() {
        if let command = preparation.popFirst() {
            commands.append(command)
        } else {
            phase = .pairing
            commands.append(.pairDevice(index, device, capability))
        }
    }

    /// Returns true if the address is the device's own or, once it is known, the device's identity address.
    package func isMeant(_ peer: ManagementAddress) -> Bool { peer == device || peer == resolvingKey?.device }

    private mutating func paired(_ status: ManagementStatus, _ returned: ManagementAddress?) {
        guard status == .success else {
            if let reason { return end(.failure(reason)) }
            switch status {
            case .alreadyPaired: return end(.failure(.alreadyPaired))
            case .authenticationFailed, .rejected: return end(.failure(.disagreed))
            case .cancelled: return end(.failure(.cancelled))
            case .connectFailed, .timeout, .disconnected, .notConnected: return end(.failure(.notReached(status)))
            default: return end(.failure(.refused(.pairDevice, status)))
            }
        }
        let identity = resolvingKey?.device ?? returned ?? device
        let keys = keys.filter { $0.device == identity }.compactMap { LongTermKey($0) }
        let bond = identity.device.flatMap { identity in
            Bond(
                identityAddress: identity,
                localAddress: local,
                longTermKeys: keys,
                // A resolving key of all zeros means that the device does not use private addresses.
                identityResolvingKey: resolvingKey.flatMap { $0.value.allSatisfy { $0 == 0 } ? nil : $0.value }
            )
        }
        guard let bond else { return end(.failure(.notBonded)) }
        let security = bond.security
        guard security.level >= required, bond.longTermKeys.allSatisfy({ $0.size == GATTLinkSecurity.longestKey })
        else { return end(.failure(bond.isLegacy && security.level < required ? .legacy : .tooWeak(security))) }
        end(.success(bond))
    }

    private mutating func end(_ result: Result<Bond, Failure>) {
        phase = .over
        // A key without a bond is removed from the kernel, so that it is not used later.
        if case .failure(let failure) = result, failure.leavesKey {
            commands.append(.unpairDevice(index, device, disconnects: true))
        }
        news.append(.ended(result))
    }
}

extension ManagedPairing.Failure {
    /// True if the kernel may hold a key of the device for which there is no bond.
    fileprivate var leavesKey: Bool {
        switch self {
        case .notBonded, .tooWeak, .legacy, .disagreed, .declined, .cancelled: true
        case .refused, .notReached, .alreadyPaired, .keyTooShort: false
        }
    }
}

extension ManagedPairing.Failure: CustomStringConvertible {
    /// Human-readable description in one line.
    public var description: String {
        switch self {
        case .refused(let opcode, let status): "\(opcode) was rejected: \(status)"
        case .notReached(let status): "the device was not reached: \(status)"
        case .disagreed: "the devices did not agree on keys"
        case .alreadyPaired: "there are keys for this device already"
        case .declined: "the user declined"
        case .cancelled: "the pairing timed out or was cancelled"
        case .notBonded: "the device stores no keys"
        case .tooWeak(let security):
            "the device offers less security than required: \(security.level.words), with a key of "
                + "\(security.keySize) bytes"
        case .keyTooShort: "the device supports only keys of less than 16 bytes"
        case .legacy: "the device supports only legacy pairing, which does not authenticate it"
        }
    }
}

extension GATTLinkSecurity.Level {
    fileprivate var words: String {
        switch self {
        case .none: "not encrypted"
        case .encrypted: "encrypted"
        case .authenticated: "authenticated"
        }
    }
}
