// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// A pairing with one device by the kernel's Security Manager, through the management protocol.
///
/// A pure state machine: `begin`, then the replies to its commands, the adapter's events and the user's answers in;
/// commands and news out. The kernel connects, pairs and hands over the keys; this decides which of them make a bond.
public struct ManagedPairing: Sendable {
    /// What the user is asked.
    public enum Question: Equatable, Sendable {
        /// Do both devices show this number?
        case compare(UInt32)
        /// Which number does the other device show?
        case enter
    }

    /// What the owner is told.
    public enum News: Equatable, Sendable {
        /// The user is to answer; `answer(_:)` or `answer(passkey:)` is to follow.
        case ask(Question)
        /// The user is to enter this number at the other device.
        case show(passkey: UInt32)
        case ended(Result<Bond, Failure>)
    }

    /// Why a pairing gave no bond.
    public enum Failure: Error, Equatable, Sendable {
        case refused(ManagementOpcode, ManagementStatus)
        /// The device could not be connected to, or the link ended.
        case notReached(ManagementStatus)
        /// The devices did not agree: a wrong number, a refusal, or what one of them demands.
        case disagreed
        case alreadyPaired
        case declined
        /// It took too long, or was called off.
        case cancelled
        /// The device keeps no key, so that it could not be known again.
        case notBonded
        /// The key protects less than was asked for.
        case tooWeak(GATTLinkSecurity)
        /// The device makes no key of 16 bytes.
        case keyTooShort
        /// The device knows only LE legacy pairing, which authenticates nobody, and that was asked for.
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
    /// The reason that this host has given for the end, before the kernel tells of it.
    private var reason: Failure?

    /// A pairing of a controller with a device; the bond is refused below the required level, or with a key of less than
    /// 16 bytes.
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
        // A controller with BR/EDR takes Secure Connections only behind this.
        if information.supportedSettings.contains(.secureSimplePairing) {
            preparation.append(.setSecureSimplePairing(index, true))
        }
        // Before the first list of these keys, which may be empty, the kernel asks no device for its own
        // (build_pairing_cmd). Those of the other bonds are loaded when a link is wanted.
        preparation.append(.loadIdentityResolvingKeys(index, []))
        preparation += [
            .setSecureConnections(index, true), .setBondable(index, true), .setIOCapability(index, capability),
        ]
        self.preparation = preparation[...]
    }

    /// Begins.
    public mutating func begin() { prepare() }

    /// The next command to send; nil for none.
    public mutating func nextCommand() -> ManagementCommand? { commands.isEmpty ? nil : commands.removeFirst() }

    /// The next news; nil for none.
    public mutating func nextNews() -> News? { news.isEmpty ? nil : news.removeFirst() }

    /// Takes the reply to a command that `nextCommand` gave; nil for no reply in time.
    public mutating func handle(replyTo opcode: ManagementOpcode, _ status: ManagementStatus?, _ returned: Span<UInt8>)
    {
        let status = status ?? .timeout
        switch opcode {
        // Without these it is legacy pairing, which the keys tell.
        case .loadIdentityResolvingKeys, .setSecureSimplePairing, .setSecureConnections:
            if phase == .preparing { prepare() }
        case .setBondable, .setIOCapability:
            guard phase == .preparing else { return }
            if status == .success { prepare() } else { end(.failure(.refused(opcode, status))) }
        case .pairDevice where phase == .pairing: paired(status, try? ManagementReturn.device(returned))
        default: break
        }
    }

    /// Takes an event of the controller.
    public mutating func handle(_ event: ManagementEvent.Kind) {
        guard phase == .pairing else { return }
        switch event {
        case .userConfirmationRequest(let peer, let isPlain, let number) where isMeant(peer):
            // Just Works: who began the pairing has said yes to that, unless a stranger is to be kept out.
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

    /// The user's answer to `compare`.
    public mutating func answer(_ isSame: Bool) {
        guard phase == .pairing else { return }
        if !isSame { reason = .declined }
        commands.append(.userConfirmationReply(index, device, accepts: isSame))
    }

    /// The user's answer to `enter`; nil for none.
    public mutating func answer(passkey: UInt32?) {
        guard phase == .pairing else { return }
        if passkey == nil { reason = .declined }
        commands.append(.userPasskeyReply(index, device, passkey))
    }

    /// Calls it off.
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

    /// True for the address of the device, and for its identity once that is known.
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
                // One of zeros says that the device never hides.
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
        // What the kernel has, and no bond keeps, is not to be used later.
        if case .failure(let failure) = result, failure.leavesKey {
            commands.append(.unpairDevice(index, device, disconnects: true))
        }
        news.append(.ended(result))
    }
}

extension ManagedPairing.Failure {
    /// True where the kernel may have a key of the device that nobody keeps.
    fileprivate var leavesKey: Bool {
        switch self {
        case .notBonded, .tooWeak, .legacy, .disagreed, .declined, .cancelled: true
        case .refused, .notReached, .alreadyPaired, .keyTooShort: false
        }
    }
}
