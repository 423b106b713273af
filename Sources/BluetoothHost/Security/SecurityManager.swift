// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

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

    /// The time that a step may take (Core 6.0, Vol 3, Part H, 3.4).
    public static let timeout = Duration.seconds(30)
    /// The host's role.
    public let role: ConnectionRole
    /// The address that the host has on this connection.
    public let local: DeviceAddress
    /// The address that the peer has on this connection.
    public let peer: DeviceAddress
    /// The waits of the peer, to be passed on to its next connection.
    public private(set) var backoff: PairingBackoff
    /// The bond with the peer; nil without one.
    public private(set) var bond: Bond?
    /// PDUs that were ignored, because no pairing was under way or their code is reserved; the number wraps.
    public private(set) var ignored: UInt64 = 0

    /// What counts for the next pairing; the owner changes it while none is under way.
    var policy: PairingPolicy
    /// The Pairing Request that was sent and not answered.
    private var request: PairingFeatures?
    private var pairing: Pairing?
    /// True once a pairing has timed out: nothing more is sent on this connection.
    private var isOver = false
    private var lastStep = Duration.zero
    private var output: PairingOutput

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
        output = PairingOutput(random)
    }

    /// True while a pairing is under way.
    public var isPairing: Bool { request != nil || pairing != nil }

    /// The association model of the pairing under way; nil without one, or before it is known.
    public var model: AssociationModel? { pairing?.terms.model }

    /// True while a pairing is under way in which a stranger in the middle would be noticed.
    public var isAuthenticating: Bool { pairing?.terms.isAuthenticated == true }

    /// The time at which `handleDeadline` must be called; nil while nothing is awaited.
    public var deadline: Duration? { isPairing ? lastStep + Self.timeout : nil }

    /// The step of the pairing under way, for tests.
    var step: Pairing.Step? { pairing?.step }

    /// The role in which the host uses a bond's key.
    var keyRole: LongTermKey.Role { role == .central ? .central : .peripheral }

    /// What the owner has to do now, in this order; each is returned once.
    public mutating func takeEffects() -> [Effect] { output.takeEffects() }

    /// Begins: the central with a Pairing Request, the peripheral with a Security Request.
    public mutating func pair(now: Duration) throws(Refusal) {
        guard !isOver else { throw .ended }
        guard !isPairing else { throw .busy }
        guard bond == nil else { throw .bonded }
        if let end = backoff.end, backoff.isWaiting(at: now) { throw .tooEarly(until: end) }
        guard role == .central else { return output.send(.securityRequest(policy.authentication)) }
        request = policy.request
        lastStep = now
        output.send(.pairingRequest(policy.request))
    }

    /// Encrypts the link as the central with the key of the bond; false, and nothing done, where there is none.
    public mutating func encrypt() -> Bool {
        guard role == .central, !isPairing, !isOver, let key = bond?.key(for: .central) else { return false }
        let value = UInt128(littleEndianBytes: key.value)
        output.emit(.encrypt(key: value, diversifier: key.encryptedDiversifier, random: key.random))
        return true
    }

    /// The key that a central asks for by EDIV and Rand; nil where there is none, and while a pairing has not come to it.
    public func longTermKey(diversifier: UInt16, random: UInt64) -> UInt128? {
        guard role == .peripheral, !isOver else { return nil }
        if isPairing {
            guard step == .encryption, diversifier == 0, random == 0 else { return nil }
            return pairing?.encryptionKey
        }
        guard let key = bond?.key(for: .peripheral), key.encryptedDiversifier == diversifier, key.random == random
        else { return nil }
        return UInt128(littleEndianBytes: key.value)
    }

    /// Takes what the user has entered: a passkey, 0 … 999999, or nil if there will be none.
    ///
    /// Without effect unless one is asked for.
    public mutating func enter(passkey: UInt32?, now: Duration) {
        guard pairing?.isAskingPasskey == true else { return }
        advance(now: now) { pairing, output throws(PairingFailure) in try pairing.enter(passkey, &output) }
    }

    /// Takes what the user says of the numbers: whether they are the same.
    ///
    /// Without effect unless they are to be compared.
    public mutating func compare(isSame: Bool, now: Duration) {
        guard pairing?.isComparing == true else { return }
        advance(now: now) { pairing, output throws(PairingFailure) in
            try pairing.compare(isSame: isSame, &output)
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
        isOver = true
    }

    /// Takes the outcome of the link's encryption: that it is on, or that it is off or could not be changed.
    public mutating func encryptionChanged(isOn: Bool, now: Duration) {
        guard isPairing else { return }
        guard isOn, step == .encryption else {
            // On before the new key is known: encrypted with another one.
            if step == .encryption { end(.notEncrypted, now: now) } else { fail(.unspecifiedReason, now: now) }
            return
        }
        advance(now: now) { pairing, output throws(PairingFailure) in try pairing.beginKeys(&output) }
    }

    /// Takes a frame of the Security Manager's channel.
    public mutating func receive(_ payload: Span<UInt8>, now: Duration) {
        guard !isOver else {
            ignored &+= 1
            return
        }
        let pdu: SecurityManagerPDU
        do throws(DecodingError) {
            pdu = try SecurityManagerPDU(payload)
        } catch {
            return receiveMalformed(payload, now: now)
        }
        switch pdu {
        case .other: ignored &+= 1
        // It is never answered, so two devices cannot answer each other for ever.
        case .pairingFailed(let reason) where isPairing: end(.refusedByPeer(reason), now: now)
        // A pairing is what it asks for.
        case .securityRequest(let authentication) where role == .central && !isPairing:
            output.emit(.securityRequested(authentication))
        case .pairingRequest(let request) where role == .peripheral && !isPairing: answer(request, now: now)
        // The role is the wrong one.
        case .securityRequest where !isPairing, .pairingRequest where !isPairing:
            output.send(.pairingFailed(.commandNotSupported))
        case .securityRequest where role == .central: ignored &+= 1
        case .pairingResponse(let response) where request != nil:
            guard let request else { return }
            begin(request, response, now: now)
        case _ where request != nil: fail(.unspecifiedReason, now: now)
        case _ where isPairing:
            advance(now: now) { pairing, output throws(PairingFailure) in try pairing.take(pdu, &output) }
        default: ignored &+= 1
        }
    }

    /// A frame that cannot be read ends a pairing, and a Pairing Request is refused; no other is answered.
    private mutating func receiveMalformed(_ payload: Span<UInt8>, now: Duration) {
        if isPairing {
            fail(.invalidParameters, now: now)
        } else if role == .peripheral, !payload.isEmpty, payload[0] == 0x01 {
            output.send(.pairingFailed(.invalidParameters))
        } else {
            ignored &+= 1
        }
    }

    private mutating func answer(_ request: PairingFeatures, now: Duration) {
        guard policy.acceptsRequests, bond == nil else {
            return output.send(.pairingFailed(.pairingNotSupported))
        }
        guard !backoff.isWaiting(at: now) else { return output.send(.pairingFailed(.repeatedAttempts)) }
        begin(request, policy.response(to: request), now: now)
    }

    /// Begins the pairing that follows from both devices' features, if the policy allows it.
    private mutating func begin(_ request: PairingFeatures, _ response: PairingFeatures, now: Duration) {
        self.request = nil
        let terms = PairingTerms(
            role: role,
            local: local,
            peer: peer,
            policy: policy,
            request: request,
            response: response
        )
        pairing = Pairing(terms)
        advance(now: now) { pairing, output throws(PairingFailure) in
            try terms.policy.check(request, response, peer: terms.peerFeatures)
            if !terms.isInitiator { output.send(.pairingResponse(response)) }
            try pairing.begin(&output)
        }
    }

    /// Lets the pairing take a step, and ends it where that was the last, or has failed.
    private mutating func advance(
        now: Duration,
        _ body: (inout Pairing, inout PairingOutput) throws(PairingFailure) -> Void
    ) {
        guard var pairing else { return }
        lastStep = now
        do throws(PairingFailure) {
            try body(&pairing, &output)
        } catch {
            return fail(error, now: now)
        }
        self.pairing = pairing
        guard case .end(let bond) = pairing.step else { return }
        self.pairing = nil
        self.bond = bond
        output.emit(.paired(bond))
        backoff.succeed()
    }

    private mutating func fail(_ reason: PairingFailure, now: Duration) {
        let isLegacy = reason == .authenticationRequirements && pairing?.terms.isSecure == false
        output.send(.pairingFailed(reason))
        end(isLegacy ? .legacy : .refused(reason), now: now)
    }

    /// Ends the pairing: all that belonged to it is forgotten.
    private mutating func end(_ failure: Failure, now: Duration) {
        request = nil
        pairing = nil
        backoff.fail(at: now)
        output.emit(.failed(failure))
    }
}
