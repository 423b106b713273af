// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// Security Manager of one connection, in either role: it pairs, and encrypts with the key of a bond.
///
/// A pure state machine. The owner passes every frame of the Security Manager channel to `receive`, user input to
/// `enter`, `compare` and `cancel`, and the outcome of encryption to `encryptionChanged`; it carries out the effects
/// that `takeEffects` returns and calls `handleDeadline` at `deadline`. The owner of a peripheral calls `longTermKey`
/// when the controller requests a key.
///
/// A failed pairing results in at most one Pairing Failed PDU and exactly one `failed`; none of its keys is ever
/// disclosed. Only 16-byte keys are made. Core 6.0, Vol 3, Part H.
public struct SecurityManager: Sendable {
    /// Reason why a pairing failed.
    public enum Failure: Error, Hashable, Sendable {
        /// Pairing ended by this host.
        case refused(PairingFailure)
        /// Pairing ended by this host with Authentication Requirements, because the peer supports only LE legacy
        /// pairing.
        case legacy
        case refusedByPeer(PairingFailure)
        /// Time-out of 30 seconds without a step; nothing more is sent on this connection.
        case timedOut
        /// Failure to encrypt the link with the new key.
        case notEncrypted
    }

    /// Reason why a pairing was not started.
    public enum Refusal: Error, Hashable, Sendable {
        case busy
        /// Existing bond, which no pairing replaces.
        case bonded
        /// Back-off after the last failure, not yet over.
        case tooEarly(until: Duration)
        /// Earlier pairing time-out on this connection.
        case ended
    }

    /// Action that the owner has to take.
    public enum Effect: Hashable, Sendable {
        /// Send a frame on the Security Manager channel.
        case send([UInt8])
        /// Encrypt the link as the central: LE Enable Encryption.
        case encrypt(key: UInt128, diversifier: UInt16, random: UInt64)
        /// Show the user a passkey, 0 to 999999, as six digits to enter at the peer.
        case showPasskey(UInt32)
        /// Ask the user for the passkey that the peer shows, and call `enter`.
        case askPasskey
        /// Ask the user whether the peer shows the same number, 0 to 999999, and call `compare`.
        case compareNumber(UInt32)
        /// Note the peripheral's request for encryption with its bond or for pairing; the manager does not act on it.
        case securityRequested(PairingFeatures.Authentication)
        /// Note that the pairing has succeeded and the link is encrypted; nil if there is no bond, because the peer
        /// does not want one or has sent no identity.
        case paired(Bond?)
        case failed(Failure)
    }

    /// Maximum duration of a step (Core 6.0, Vol 3, Part H, 3.4).
    public static let timeout = Duration.seconds(30)
    /// Role of the host.
    public let role: ConnectionRole
    /// Address of the host on this connection.
    public let local: DeviceAddress
    /// Address of the peer on this connection.
    public let peer: DeviceAddress
    /// Back-off of the peer, to be passed on to its next connection.
    public private(set) var backoff: PairingBackoff
    /// Bond with the peer; nil if there is none.
    public private(set) var bond: Bond?
    /// Number of PDUs ignored because no pairing was in progress or their code is reserved; the counter wraps.
    public private(set) var ignored: UInt64 = 0

    /// Policy of the next pairing; the owner changes it only while no pairing is under way.
    var policy: PairingPolicy
    /// Pairing Request that is sent and not yet answered.
    private var request: PairingFeatures?
    private var pairing: Pairing?
    /// True after a pairing time-out: nothing more is sent on this connection.
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

    /// Association model of the current pairing; nil without a pairing, or while the model is unknown.
    public var model: AssociationModel? { pairing?.terms.model }

    /// True during a pairing that detects a man in the middle.
    public var isAuthenticating: Bool { pairing?.terms.isAuthenticated == true }

    /// Time at which `handleDeadline` must be called; nil if no pairing is in progress.
    public var deadline: Duration? { isPairing ? lastStep + Self.timeout : nil }

    /// Step of the current pairing, for tests.
    var step: Pairing.Step? { pairing?.step }

    /// Role in which the host uses a bond's key.
    var keyRole: LongTermKey.Role { role == .central ? .central : .peripheral }

    /// Returns the actions that the owner has to take now, in this order, each once.
    public mutating func takeEffects() -> [Effect] { output.takeEffects() }

    /// Starts a pairing: the central sends a Pairing Request, the peripheral a Security Request.
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

    /// Encrypts the link as the central with the key of the bond; returns false and does nothing if that is not
    /// possible.
    public mutating func encrypt() -> Bool {
        guard role == .central, !isPairing, !isOver, let key = bond?.key(for: .central) else { return false }
        let value = UInt128(littleEndianBytes: key.value)
        output.emit(.encrypt(key: value, diversifier: key.encryptedDiversifier, random: key.random))
        return true
    }

    /// Returns the key that a central requests by EDIV and Rand; nil if there is none, or before a pairing has reached
    /// encryption.
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

    /// Enters the user's passkey, 0 to 999999; nil if the user gives none.
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

    /// Ends a pairing that has timed out; no more frames are sent afterwards.
    public mutating func handleDeadline(now: Duration) {
        guard let deadline, deadline <= now else { return }
        end(.timedOut, now: now)
        isOver = true
    }

    /// Handles a change of the link's encryption: on, or off or failed.
    public mutating func encryptionChanged(isOn: Bool, now: Duration) {
        guard isPairing else { return }
        guard isOn, step == .encryption else {
            // Encryption before the new key is known uses another key.
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
        // Pairing Failed is never answered, so two devices cannot answer each other forever.
        case .pairingFailed(let reason) where isPairing: end(.refusedByPeer(reason), now: now)
        // During a pairing the request is ignored, because it asks for that same pairing.
        case .securityRequest(let authentication) where role == .central && !isPairing:
            output.emit(.securityRequested(authentication))
        case .pairingRequest(let request) where role == .peripheral && !isPairing: answer(request, now: now)
        // These PDUs are not valid in this role.
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

    /// Fails a current pairing on a malformed frame, and rejects a malformed Pairing Request; other frames are not
    /// answered.
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

    /// Starts the pairing that results from both devices' features, if the policy allows it.
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

    /// Advances the pairing by one step, and ends it after its last step or a failure.
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
