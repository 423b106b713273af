// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// A time in which one central that asks for it pairs with this host by the kernel's Security Manager, through the management
/// protocol.
///
/// A pure state machine: `begin`, then the replies to its commands, the adapter's events and the user's answers in;
/// commands and news out. The kernel asks about every pairing that a central begins; while it is not bondable, it refuses
/// those that would leave a key.
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
    /// The central that pairs; nil for none.
    private var central: ManagementAddress?
    private var keys: [ManagementLongTermKey] = []
    private var resolvingKey: ManagementResolvingKey?
    /// The reason that this host has given for the end of the pairing, before the kernel tells of it.
    private var reason: ManagedPairing.Failure?

    /// A window of a controller with these bonds, whose keys the kernel has and keeps; a bond is refused below the required
    /// level, or with a key of less than 16 bytes.
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
        // Before the first list of these keys the kernel asks no central for its own (build_pairing_cmd).
        preparation.append(.loadIdentityResolvingKeys(index, self.bonds.compactMap { $0.managementResolvingKey }))
        // A link has the capability that the controller had when it began (hci_conn_add).
        preparation += [
            .setSecureConnections(index, true), .setIOCapability(index, capability), .setBondable(index, true),
        ]
        self.preparation = preparation[...]
    }

    /// Begins.
    public mutating func begin() { prepare() }

    /// The next command to send; nil for none.
    public mutating func nextCommand() -> ManagementCommand? { commands.isEmpty ? nil : commands.removeFirst() }

    /// The next news; nil for none.
    public mutating func nextNews() -> PairableEvent? { news.isEmpty ? nil : news.removeFirst() }

    /// Takes the reply to a command that `nextCommand` gave; nil for no reply in time.
    public mutating func handle(replyTo opcode: ManagementOpcode, _ status: ManagementStatus?) {
        guard phase == .preparing else { return }
        let status = status ?? .timeout
        switch opcode {
        // Without these it is legacy pairing, which the keys tell.
        case .setSecureSimplePairing, .loadIdentityResolvingKeys, .setSecureConnections: prepare()
        case .setIOCapability, .setBondable:
            if status == .success { return prepare() }
            phase = .over
            news.append(.refused(opcode, status))
        default: break
        }
    }

    /// Takes an event of the controller.
    public mutating func handle(_ event: ManagementEvent.Kind) {
        guard phase != .over else { return }
        switch event {
        case .userConfirmationRequest(let peer, let isPlain, let number):
            guard let device = accepted(peer) else {
                commands.append(.userConfirmationReply(index, peer, accepts: false))
                return
            }
            guard isPlain else { return news.append(.ask(.compare(number), of: device)) }
            // Just Works: who opened the window has said yes to that, unless a number is demanded.
            if required >= .authenticated { reason = .tooWeak(GATTLinkSecurity(level: .encrypted)) }
            commands.append(.userConfirmationReply(index, peer, accepts: required < .authenticated))
        case .userPasskeyRequest(let peer):
            guard let device = accepted(peer) else {
                commands.append(.userPasskeyReply(index, peer, nil))
                return
            }
            news.append(.ask(.enter, of: device))
        case .passkeyNotify(let peer, let passkey, entered: 0):
            // The kernel asks nothing here: only the end of the link ends the pairing.
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

    /// The user's answer to `compare`.
    public mutating func answer(_ isSame: Bool) {
        guard phase == .open, let central else { return }
        if !isSame { reason = .declined }
        commands.append(.userConfirmationReply(index, central, accepts: isSame))
    }

    /// The user's answer to `enter`; nil for none.
    public mutating func answer(passkey: UInt32?) {
        guard phase == .open, let central else { return }
        if passkey == nil { reason = .declined }
        commands.append(.userPasskeyReply(index, central, passkey))
    }

    /// Closes the window, and ends a pairing that is under way without leaving its keys; its news is `ended` without a bond.
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

    /// The address of a central that may pair: the one that does, or the first that asks and has no bond.
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

    /// Takes a key; that of LE Secure Connections, and the peripheral's own of legacy pairing, is the last.
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
                // One of zeros says that the central never hides.
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

    /// Has the kernel forget what the pairing has left, and fails it.
    private mutating func discard(_ failure: ManagedPairing.Failure) {
        forget()
        fail(failure)
    }

    /// Has the kernel forget the keys of the central that pairs, end its link, and know those of the bonds again.
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

/// The news of a time in which a central may pair with this host.
public enum PairableEvent: Equatable, Sendable {
    case ask(ManagedPairing.Question, of: DeviceAddress)
    /// The user is to enter this number at the central.
    case show(passkey: UInt32, at: DeviceAddress)
    /// A central's pairing gave no bond, and its question is settled; another central may pair.
    case failed(DeviceAddress, ManagedPairing.Failure)
    /// The kernel has refused what the window needs: nobody can pair.
    case refused(ManagementOpcode, ManagementStatus)
    /// The window is closed: by the bond that is given here, which its owner has to keep, or with nil by its limit.
    case ended(Bond?)
}
