// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// Pairable mode, in which one central can pair with this host; the kernel's Security Manager performs the pairing.
///
/// It is a pure state machine that uses the management protocol. After `begin`, its inputs are the replies to its
/// commands, the adapter's events and the user's answers; its outputs are commands and events. The kernel asks for
/// confirmation of every pairing that a central starts. While the kernel is not bondable, it rejects pairings that
/// would store a key.
public struct ManagedPairableMode: Sendable {
    private enum Phase: Sendable, Equatable { case preparing, open, over }

    private let index: ControllerIndex
    private let local: BluetoothAddress
    private let required: GATTLinkSecurity.Level
    private let bonds: [Bond]
    private let wasBondable: Bool
    private var phase = Phase.preparing
    private var preparation: ArraySlice<ManagementCommand>
    private var commands: [ManagementCommand] = []
    private var news: [PairableEvent] = []
    /// Central that is pairing; nil if there is none.
    private var central: ManagementAddress?
    private var keys: [ManagementLongTermKey] = []
    private var resolvingKey: ManagementResolvingKey?
    /// Reason why this host makes the pairing fail, set before the kernel reports the failure.
    private var reason: ManagedPairing.Failure?

    /// Creates a pairable mode of a controller; the keys of its bonds must already be loaded into the kernel.
    ///
    /// A new bond is rejected if its security is below the required level, or if one of its keys is shorter than 16
    /// bytes.
    public init(
        _ index: ControllerIndex,
        _ information: ControllerInformation,
        _ capability: IOCapability,
        required: GATTLinkSecurity.Level,
        bonds: [Bond]
    ) {
        self.index = index
        local = information.address
        self.required = required
        self.bonds = bonds.filter { $0.localAddress == information.address }
        wasBondable = information.currentSettings.contains(.bondable)
        var preparation: [ManagementCommand] = []
        if information.supportedSettings.contains(.secureSimplePairing) {
            preparation.append(.setSecureSimplePairing(index, true))
        }
        // The kernel requests a central's identity keys only if a list of such keys has been loaded
        // (build_pairing_cmd).
        preparation.append(.loadIdentityResolvingKeys(index, self.bonds.compactMap { $0.managementResolvingKey }))
        // A link keeps the I/O capability that the controller had when the link was created (hci_conn_add).
        preparation += [
            .setSecureConnections(index, true), .setIOCapability(index, capability), .setBondable(index, true),
        ]
        self.preparation = preparation[...]
    }

    /// Starts the preparation of the controller.
    public mutating func begin() { prepare() }

    /// Returns the next command to send, or nil if there is none.
    public mutating func nextCommand() -> ManagementCommand? { commands.isEmpty ? nil : commands.removeFirst() }

    /// Returns the next event, or nil if there is none.
    public mutating func nextNews() -> PairableEvent? { news.isEmpty ? nil : news.removeFirst() }

    /// Processes the reply to a command from `nextCommand`; the status is nil if the command timed out.
    public mutating func handle(replyTo opcode: ManagementOpcode, _ status: ManagementStatus?) {
        guard phase == .preparing else { return }
        let status = status ?? .timeout
        switch opcode {
        // If one of these commands fails, the kernel uses LE legacy pairing, which the kinds of the keys reveal later.
        case .setSecureSimplePairing, .loadIdentityResolvingKeys, .setSecureConnections: prepare()
        case .setIOCapability, .setBondable:
            if status == .success { return prepare() }
            phase = .over
            news.append(.refused(opcode, status))
        default: break
        }
    }

    /// Processes an event of the controller.
    public mutating func handle(_ event: ManagementEvent.Kind) {
        guard phase != .over else { return }
        switch event {
        case .userConfirmationRequest(let peer, let isPlain, let number):
            guard let device = accepted(peer) else {
                commands.append(.userConfirmationReply(index, peer, accepts: false))
                return
            }
            guard isPlain else { return news.append(.ask(.compare(number), of: device)) }
            // With Just Works, opening the pairable mode counts as consent, unless authentication is required.
            if required >= .authenticated { reason = .tooWeak(GATTLinkSecurity(level: .encrypted)) }
            commands.append(.userConfirmationReply(index, peer, accepts: required < .authenticated))
        case .userPasskeyRequest(let peer):
            guard let device = accepted(peer) else {
                commands.append(.userPasskeyReply(index, peer, nil))
                return
            }
            news.append(.ask(.enter, of: device))
        case .passkeyNotify(let peer, let passkey, entered: 0):
            // The kernel does not expect a reply to this event, so only a disconnection can end the pairing.
            guard let device = accepted(peer) else { return commands.append(.disconnect(index, peer)) }
            news.append(.show(passkey: passkey, at: device))
        case .newIdentityResolvingKey(let key, let resolved, isToBeKept: true)
        where key.device == central || resolved == central?.address:
            resolvingKey = key
        case .newLongTermKey(let key, let isToBeKept) where isCentral(key.device): take(key, isToBeKept)
        case .authenticationFailed(let peer, _) where isCentral(peer): fail(.disagreed)
        case .deviceDisconnected(let peer, _) where isCentral(peer): fail(.notReached(.disconnected))
        default: break
        }
    }

    /// Sends the user's answer to a `compare` question.
    public mutating func answer(_ isSame: Bool) {
        guard phase == .open, let central else { return }
        if !isSame { reason = .declined }
        commands.append(.userConfirmationReply(index, central, accepts: isSame))
    }

    /// Sends the user's answer to an `enter` question, or nil if the user has declined.
    public mutating func answer(passkey: UInt32?) {
        guard phase == .open, let central else { return }
        if passkey == nil { reason = .declined }
        commands.append(.userPasskeyReply(index, central, passkey))
    }

    /// Closes the pairable mode, and discards a pairing in progress together with its keys; `ended` with nil follows.
    public mutating func close() {
        guard phase != .over else { return }
        forget()
        end(nil)
    }

    // MARK: Steps

    private mutating func prepare() {
        guard let command = preparation.popFirst() else {
            phase = .open
            return
        }
        commands.append(command)
    }

    /// Returns the address if this central may pair: it is already pairing, or it is the first one and has no bond.
    private mutating func accepted(_ peer: ManagementAddress) -> DeviceAddress? {
        guard phase == .open, let device = peer.device, central == nil || central == peer,
            !bonds.contains(where: { $0.identityAddress == device })
        else { return nil }
        central = peer
        return device
    }

    private func isCentral(_ peer: ManagementAddress) -> Bool {
        central != nil && (peer == central || peer == resolvingKey?.device)
    }

    /// Processes a key.
    ///
    /// The last key of a pairing is the key from LE Secure Connections, or the peripheral's own key of legacy pairing.
    private mutating func take(_ key: ManagementLongTermKey, _ isToBeKept: Bool) {
        guard isToBeKept, keys.count < 2 else { return discard(.notBonded) }
        keys.append(key)
        let isSecure = key.kind != .unauthenticated && key.kind != .authenticated
        guard isSecure || !key.isCentral else { return }
        let identity = key.device
        let bond = identity.device.flatMap { device in
            Bond(
                identityAddress: device,
                localAddress: local,
                longTermKeys: keys.filter { $0.device == identity }.compactMap { LongTermKey($0) },
                // A resolving key of all zeros means that the central does not use private addresses.
                identityResolvingKey: resolvingKey.flatMap { $0.value.allSatisfy { $0 == 0 } ? nil : $0.value }
            )
        }
        guard let bond, !bonds.contains(where: { $0.identityAddress == bond.identityAddress }) else {
            return discard(.notBonded)
        }
        let weakest = bond.longTermKeys.map { $0.level }.min() ?? .none
        let size = bond.longTermKeys.map { $0.size }.min() ?? 0
        guard weakest >= required, size == GATTLinkSecurity.longestKey else {
            let isLegacy = bond.isLegacy && weakest < required
            return discard(isLegacy ? .legacy : .tooWeak(GATTLinkSecurity(level: weakest, keySize: size)))
        }
        end(bond)
    }

    /// Removes the pairing's keys from the kernel, and fails the pairing.
    private mutating func discard(_ failure: ManagedPairing.Failure) {
        forget()
        fail(failure)
    }

    /// Removes the central's keys from the kernel, disconnects it, and reloads the keys of the bonds.
    private mutating func forget() {
        guard let central else { return }
        commands.append(.unpairDevice(index, resolvingKey?.device ?? central, disconnects: true))
        guard !bonds.isEmpty else { return }
        commands.append(.loadIdentityResolvingKeys(index, bonds.compactMap { $0.managementResolvingKey }))
        commands.append(.loadLongTermKeys(index, bonds.flatMap { $0.managementKeys }))
    }

    private mutating func fail(_ failure: ManagedPairing.Failure) {
        guard let device = central?.device else { return }
        news.append(.failed(device, reason ?? failure))
        settle()
    }

    private mutating func settle() {
        central = nil
        keys = []
        resolvingKey = nil
        reason = nil
    }

    private mutating func end(_ bond: Bond?) {
        settle()
        phase = .over
        if !wasBondable { commands.append(.setBondable(index, false)) }
        news.append(.ended(bond))
    }
}

/// Event of a pairable mode.
public enum PairableEvent: Equatable, Sendable {
    case ask(ManagedPairing.Question, of: DeviceAddress)
    /// The user must enter this number at the central.
    case show(passkey: UInt32, at: DeviceAddress)
    /// The pairing with a central failed, and a pending question to the user is withdrawn; another central can now
    /// pair.
    case failed(DeviceAddress, ManagedPairing.Failure)
    /// The kernel rejected a command without which no central can pair.
    case refused(ManagementOpcode, ManagementStatus)
    /// The pairable mode ended, either with a bond that the owner must store, or with nil because it was closed.
    case ended(Bond?)
}
