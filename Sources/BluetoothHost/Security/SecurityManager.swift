// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets
import Cryptography

/// The Security Manager of one connection, in either role: it pairs, and encrypts with the key of a bond.
///
/// A pure state machine. The owner passes every frame of the Security Manager's channel to `receive`, what the user says
/// to `enter`, `compare` and `cancel`, and what becomes of the encryption to `encryptionChanged`; it does what
/// `takeEffects` returns and calls `handleDeadline` at `deadline`. A peripheral's owner asks `longTermKey` when the
/// controller does.
///
/// A pairing that goes wrong in any way ends in one Pairing Failed and one `failed`; no key of it is ever given out. Only
/// keys of 16 bytes are made. Core 6.0, Vol 3, Part H.
public struct SecurityManager: Sendable {
    /// The reason why a pairing has failed.
    public enum Failure: Error, Hashable, Sendable {
        /// This host has ended it.
        case refused(PairingFailure)
        /// This host has ended it with Authentication Requirements: the peer knows only LE legacy pairing.
        case legacy
        case refusedByPeer(PairingFailure)
        /// 30 seconds passed without a step; nothing more is sent on this connection.
        case timedOut
        /// The link could not be encrypted with the new key.
        case notEncrypted
    }

    /// The reason why no pairing was begun.
    public enum Refusal: Error, Hashable, Sendable {
        case busy
        /// There is a bond, which no pairing replaces.
        case bonded
        /// The last failure was too short a time ago.
        case tooEarly(until: Duration)
        /// A pairing has timed out, and with it the connection.
        case ended
    }

    /// What the owner has to do.
    public enum Effect: Hashable, Sendable {
        /// Send a frame on the Security Manager's channel.
        case send([UInt8])
        /// Encrypt the link as the central: LE Enable Encryption.
        case encrypt(key: UInt128, diversifier: UInt16, random: UInt64)
        /// Show the user a passkey, 0 … 999999, as six digits, to be entered at the peer.
        case showPasskey(UInt32)
        /// Ask the user for the passkey that the peer shows, and `enter` it.
        case askPasskey
        /// Ask the user whether the peer shows the same number, 0 … 999999, and `compare` it.
        case compareNumber(UInt32)
        /// The peripheral asks for encryption by its bond, or for pairing: nothing is done by itself.
        case securityRequested(PairingFeatures.Authentication)
        /// The pairing has succeeded, and the link is encrypted; nil where no bond comes of it, because the peer wants
        /// none or has told no identity.
        case paired(Bond?)
        case failed(Failure)
    }

    /// What a pairing waits for.
    enum State: Hashable, Sendable {
        case idle
        case response
        case publicKey
        case confirm
        case random
        case check
        case encryption
        case keys
        case timedOut
    }

    /// The time that a step may take (Core 6.0, Vol 3, Part H, 3.4).
    public static let timeout = Duration.seconds(30)
    /// The most PDUs without a consequence in one pairing: more digits than anybody types.
    static let mostTolerated = 64

    /// The host's role.
    public let role: ConnectionRole
    /// The address that the host has on this connection.
    public let local: DeviceAddress
    /// The address that the peer has on this connection.
    public let peer: DeviceAddress
    /// The waits of the peer, to be passed on to its next connection.
    public internal(set) var backoff: PairingBackoff
    /// The bond with the peer; nil without one.
    public internal(set) var bond: Bond?
    /// PDUs that were ignored, because no pairing was under way or their code is reserved; the number wraps.
    public internal(set) var ignored: UInt64 = 0

    /// What counts for the next pairing; the owner changes it while none is under way.
    var policy: PairingPolicy
    var random: PairingRandomness
    var state = State.idle
    var attempt: PairingAttempt?
    var lastStep = Duration.zero
    private var effects: [Effect] = []

    /// The Security Manager of a fresh connection.
    public init(
        role: ConnectionRole,
        local: DeviceAddress,
        peer: DeviceAddress,
        policy: PairingPolicy,
        bond: Bond? = nil,
        backoff: PairingBackoff = PairingBackoff(),
        random: PairingRandomness = PairingRandomness()
    ) {
        self.role = role
        self.local = local
        self.peer = peer
        self.policy = policy
        self.bond = bond
        self.backoff = backoff
        self.random = random
    }

    /// True while a pairing is under way.
    public var isPairing: Bool { state != .idle && state != .timedOut }

    /// The association model of the pairing under way; nil without one, or before it is known.
    public var model: AssociationModel? { attempt?.model }

    /// True while a pairing is under way in which a stranger in the middle would be noticed.
    public var isAuthenticating: Bool { attempt?.isAuthenticated == true }

    /// The time at which `handleDeadline` must be called; nil while nothing is awaited.
    public var deadline: Duration? { isPairing ? lastStep + Self.timeout : nil }

    /// What the owner has to do now, in this order; each is returned once.
    public mutating func takeEffects() -> [Effect] {
        defer { effects = [] }
        return effects
    }

    /// Begins: the central with a Pairing Request, the peripheral with a Security Request.
    public mutating func pair(now: Duration) throws(Refusal) {
        guard state != .timedOut else { throw .ended }
        guard !isPairing else { throw .busy }
        guard bond == nil else { throw .bonded }
        if let end = backoff.end, backoff.isWaiting(at: now) { throw .tooEarly(until: end) }
        guard role == .central else {
            send(.securityRequest(policy.authentication))
            return
        }
        attempt = PairingAttempt(request: policy.request)
        state = .response
        lastStep = now
        send(.pairingRequest(policy.request))
    }

    /// Encrypts the link as the central with the key of the bond; false, and nothing done, where there is none.
    public mutating func encrypt() -> Bool {
        guard role == .central, state == .idle, let key = bond?.key(for: .central) else { return false }
        effects.append(
            .encrypt(
                key: UInt128(littleEndianBytes: key.value),
                diversifier: key.encryptedDiversifier,
                random: key.random
            )
        )
        return true
    }

    /// The key that a central asks for by EDIV and Rand; nil where there is none, and while a pairing has not come to it.
    public func longTermKey(diversifier: UInt16, random: UInt64) -> UInt128? {
        guard role == .peripheral else { return nil }
        switch state {
        case .encryption:
            guard diversifier == 0, random == 0 else { return nil }
            return attempt?.encryptionKey
        case .idle:
            guard let key = bond?.key(for: .peripheral), key.encryptedDiversifier == diversifier, key.random == random
            else { return nil }
            return UInt128(littleEndianBytes: key.value)
        default: return nil
        }
    }

    /// Takes what the user has entered: a passkey, 0 … 999999, or nil if there will be none.
    ///
    /// Without effect unless one is asked for.
    public mutating func enter(passkey: UInt32?, now: Duration) {
        guard isPairing, attempt?.isAskingPasskey == true else { return }
        attempt?.isAskingPasskey = false
        step(now: now) { manager throws(PairingFailure) in
            guard let passkey, passkey < SecurityToolbox.numberLimit else { throw .passkeyEntryFailed }
            manager.attempt?.passkey = passkey
            try manager.begin()
        }
    }

    /// Takes what the user says of the numbers: whether they are the same.
    ///
    /// Without effect unless they are to be compared.
    public mutating func compare(isSame: Bool, now: Duration) {
        guard isPairing, attempt?.isComparing == true else { return }
        attempt?.isComparing = false
        step(now: now) { manager throws(PairingFailure) in
            guard isSame else { throw .numericComparisonFailed }
            try manager.continueAfterComparison()
        }
    }

    /// Ends the pairing under way.
    public mutating func cancel(now: Duration) {
        guard isPairing else { return }
        fail(.unspecifiedReason, now: now)
    }

    /// Ends the pairing when its time is over: no more frames are sent then.
    public mutating func handleDeadline(now: Duration) {
        guard let deadline, deadline <= now else { return }
        end(.timedOut, now: now)
        state = .timedOut
    }

    /// Takes the outcome of the link's encryption: that it is on, or that it is off or could not be changed.
    public mutating func encryptionChanged(isOn: Bool, now: Duration) {
        guard isPairing else { return }
        guard isOn, state == .encryption else {
            // On before the new key is known: encrypted with another one.
            if state == .encryption { end(.notEncrypted, now: now) } else { fail(.unspecifiedReason, now: now) }
            return
        }
        step(now: now) { manager throws(PairingFailure) in try manager.beginKeys() }
    }

    mutating func step(now: Duration, _ body: (inout SecurityManager) throws(PairingFailure) -> Void) {
        lastStep = now
        do throws(PairingFailure) {
            try body(&self)
            if state == .idle { backoff.succeed() }
        } catch {
            fail(error, now: now)
        }
    }

    mutating func fail(_ reason: PairingFailure, now: Duration) {
        let isLegacy = reason == .authenticationRequirements && attempt?.response != nil && !isSecure
        send(.pairingFailed(reason))
        end(isLegacy ? .legacy : .refused(reason), now: now)
    }

    /// Ends the pairing: all that belonged to it is forgotten.
    mutating func end(_ failure: Failure, now: Duration) {
        attempt = nil
        state = .idle
        backoff.fail(at: now)
        effects.append(.failed(failure))
    }

    mutating func send(_ pdu: SecurityManagerPDU) {
        effects.append(.send(pdu.encoded))
    }

    mutating func emit(_ effect: Effect) {
        effects.append(effect)
    }
}
