// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// Security Manager of one connection, in either role: performs pairings, and encrypts the link with a bond's key.
///
/// It is a pure state machine. The owner passes every frame of the Security Manager channel to `receive`, user input to
/// `enter`, `compare` and `cancel`, and the outcome of an encryption to `encryptionChanged`. It carries out the effects
/// that `takeEffects` returns, and calls `handleDeadline` at `deadline`. In the peripheral role, the owner also calls
/// `longTermKey` when the controller requests a key.
///
/// A failed pairing results in at most one Pairing Failed PDU and exactly one `failed` effect; its keys are never
/// disclosed. Only 16-byte keys are created. Core 6.0, Vol 3, Part H.
public struct SecurityManager: Sendable {
    /// Reason why a pairing failed.
    public enum Failure: Error, Hashable, Sendable {
        /// This host ended the pairing.
        case refused(PairingFailure)
        /// This host ended the pairing with Authentication Requirements, because the peer supports only LE legacy
        /// pairing.
        case legacy
        case refusedByPeer(PairingFailure)
        /// The peer did not respond for 30 seconds; nothing more is sent on this connection's Security Manager channel.
        case timedOut
        /// The link could not be encrypted with the new key.
        case notEncrypted
    }

    /// Reason why a pairing was not started.
    public enum Refusal: Error, Hashable, Sendable {
        case busy
        /// A bond already exists; pairing does not replace it.
        case bonded
        /// The back-off after the latest failure is not over yet.
        case tooEarly(until: Duration)
        /// An earlier pairing on this connection timed out.
        case ended
    }

    /// Action that the owner must take.
    public enum Effect: Hashable, Sendable {
        /// Send a frame on the Security Manager channel.
        case send([UInt8])
        /// Encrypt the link as the central: LE Enable Encryption.
        case encrypt(key: UInt128, diversifier: UInt16, random: UInt64)
        /// Show the user a passkey, 0 to 999999, as six digits to be entered at the peer.
        case showPasskey(UInt32)
        /// Ask the user for the passkey that the peer shows, and call `enter`.
        case askPasskey
        /// Ask the user whether the peer shows the same number, 0 to 999999, and call `compare`.
        case compareNumber(UInt32)
        /// Record that the peripheral has requested pairing or encryption; the manager itself does not act on the
        /// request.
        case securityRequested(PairingFeatures.Authentication)
        /// Record that the pairing has succeeded and that the link is encrypted.
        ///
        /// The bond is nil if the peer does not want one or has not sent an identity.
        case paired(Bond?)
        case failed(Failure)
    }

    /// Maximum time between two steps of a pairing (Core 6.0, Vol 3, Part H, 3.4).
    public static let timeout = Duration.seconds(30)
    /// Role of the host.
    public let role: ConnectionRole
    /// Address of the host on this connection.
    public let local: DeviceAddress
    /// Address of the peer on this connection.
    public let peer: DeviceAddress
    /// Back-off of the peer, which the owner passes on to the peer's next connection.
    public private(set) var backoff: PairingBackoff
    /// Bond with the peer; nil if there is none.
    public private(set) var bond: Bond?
    /// Number of PDUs that were ignored, because no pairing was in progress or their code is reserved; wraps on
    /// overflow.
    public private(set) var ignored: UInt64 = 0

    /// Policy for the next pairing; the owner changes it only while no pairing is in progress.
    var policy: PairingPolicy
    /// Features of our unanswered Pairing Request.
    private var request: PairingFeatures?
    private var pairing: Pairing?
    /// True once a pairing has timed out, after which nothing more is sent on this connection.
    private var isOver = false
    private var lastStep = Duration.zero
    private var output: PairingOutput

    /// Creates the Security Manager of a new connection.
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

    /// True while a pairing is in progress.
    public var isPairing: Bool { request != nil || pairing != nil }

    /// Association model of the current pairing; nil if there is no pairing or the model is not yet known.
    public var model: AssociationModel? { pairing?.terms.model }

    /// True while a pairing that detects a man in the middle is in progress.
    public var isAuthenticating: Bool { pairing?.terms.isAuthenticated == true }

    /// Time at which `handleDeadline` must be called; nil if no pairing is in progress.
    public var deadline: Duration? { isPairing ? lastStep + Self.timeout : nil }

    /// Step of the current pairing, for tests.
    var step: Pairing.Step? { pairing?.step }

    /// Role in which the host uses a bond's key.
    var keyRole: LongTermKey.Role { role == .central ? .central : .peripheral }

    /// Returns the actions that the owner must take now, in order; each action is returned only once.
    public mutating func takeEffects() -> [Effect] { output.takeEffects() }

    /// Starts a pairing: a central sends a Pairing Request, a peripheral sends a Security Request.
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

    /// Encrypts the link as the central with the bond's key; returns false and does nothing if this is not possible.
    public mutating func encrypt() -> Bool {
        guard role == .central, !isPairing, !isOver, let key = bond?.key(for: .central) else { return false }
        let value = UInt128(littleEndianBytes: key.value)
        output.emit(.encrypt(key: value, diversifier: key.encryptedDiversifier, random: key.random))
        return true
    }

    /// Returns the key that a central requests by EDIV and Rand; nil if there is none, or if the pairing in progress
    /// has not yet reached encryption.
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

    /// Enters the passkey from the user, 0 to 999999, or nil if the user has declined.
    ///
    /// Does nothing unless a passkey is requested.
    public mutating func enter(passkey: UInt32?, now: Duration) {
        guard pairing?.isAskingPasskey == true else { return }
        advance(now: now) { pairing, output throws(PairingFailure) in try pairing.enter(passkey, &output) }
    }

    /// Enters the user's answer to the numeric comparison.
    ///
    /// Does nothing unless a comparison is pending.
    public mutating func compare(isSame: Bool, now: Duration) {
        guard pairing?.isComparing == true else { return }
        advance(now: now) { pairing, output throws(PairingFailure) in
            try pairing.compare(isSame: isSame, &output)
        }
    }

    /// Cancels the current pairing.
    public mutating func cancel(now: Duration) {
        guard isPairing else { return }
        fail(.unspecifiedReason, now: now)
    }

    /// Ends a pairing that has timed out; nothing more is sent on this connection afterwards.
    public mutating func handleDeadline(now: Duration) {
        guard let deadline, deadline <= now else { return }
        end(.timedOut, now: now)
        isOver = true
    }

    /// Handles a change of the link's encryption; `isOn` is false if encryption is off or has failed.
    public mutating func encryptionChanged(isOn: Bool, now: Duration) {
        guard isPairing else { return }
        guard isOn, step == .encryption else {
            // If the pairing has not reached the encryption step, the link must have been encrypted with another key.
            if step == .encryption { end(.notEncrypted, now: now) } else { fail(.unspecifiedReason, now: now) }
            return
        }
        advance(now: now) { pairing, output throws(PairingFailure) in try pairing.beginKeys(&output) }
    }

    /// Processes a frame of the Security Manager channel.
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
        // Pairing Failed is never answered, so that two devices cannot answer each other endlessly.
        case .pairingFailed(let reason) where isPairing: end(.refusedByPeer(reason), now: now)
        // During a pairing, a Security Request is ignored, because it asks for the same pairing.
        case .securityRequest(let authentication) where role == .central && !isPairing:
            output.emit(.securityRequested(authentication))
        case .pairingRequest(let request) where role == .peripheral && !isPairing: answer(request, now: now)
        // These PDUs are not valid in the role of this host.
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

    /// Handles a malformed frame: fails a pairing in progress, rejects a Pairing Request, and ignores any other frame.
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

    /// Starts the pairing that results from the features of both devices, if the policy allows it.
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

    /// Advances the pairing by one step; ends it after the last step or a failure.
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

    /// Ends the pairing and discards its state.
    private mutating func end(_ failure: Failure, now: Duration) {
        request = nil
        pairing = nil
        backoff.fail(at: now)
        output.emit(.failed(failure))
    }
}
