// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// What a host allows, and offers, when it pairs.
public struct PairingPolicy: Hashable, Sendable {
    /// What the user sees of the host, and can tell it.
    public var ioCapability: PairingFeatures.IOCapability
    /// True refuses Just Works and LE legacy pairing.
    public var requiresAuthentication: Bool
    /// True allows LE legacy pairing with a device that does not know LE Secure Connections.
    public var allowsLegacy: Bool
    /// True pairs with a central that asks for it; false refuses with Pairing Not Supported.
    public var acceptsRequests: Bool
    /// The host's own identity: its public or static random address.
    public var identity: DeviceAddress
    /// The key that resolves the host's private addresses; nil if it has none, and tells no identity.
    public var identityResolvingKey: UInt128?
    /// False plays a device that knows LE legacy pairing only, for tests.
    package var knowsSecureConnections = true

    /// A policy of which everything but the identity is the strictest: no legacy pairing, no request of a peer accepted.
    ///
    /// Just Works is allowed, because without display and keys there is nothing else.
    public init(
        identity: DeviceAddress,
        ioCapability: PairingFeatures.IOCapability = .noInputNoOutput,
        requiresAuthentication: Bool = false,
        allowsLegacy: Bool = false,
        acceptsRequests: Bool = false,
        identityResolvingKey: UInt128? = nil
    ) {
        self.identity = identity
        self.ioCapability = ioCapability
        self.requiresAuthentication = requiresAuthentication
        self.allowsLegacy = allowsLegacy
        self.acceptsRequests = acceptsRequests
        self.identityResolvingKey = identityResolvingKey
    }

    private var ownKeys: PairingFeatures.Keys {
        var keys: PairingFeatures.Keys = identityResolvingKey == nil ? [] : .identity
        if allowsLegacy { keys.insert(.encryption) }
        return keys
    }

    private var peerKeys: PairingFeatures.Keys { allowsLegacy ? [.encryption, .identity] : .identity }

    var authentication: PairingFeatures.Authentication {
        var authentication: PairingFeatures.Authentication = .bonding
        if knowsSecureConnections { authentication.insert(.secureConnections) }
        if requiresAuthentication || ioCapability != .noInputNoOutput { authentication.insert(.mitmProtection) }
        return authentication
    }

    var request: PairingFeatures {
        PairingFeatures(
            ioCapability: ioCapability,
            authentication: authentication,
            initiatorKeys: ownKeys,
            responderKeys: peerKeys
        )
    }

    /// The features of the Pairing Response to a request: of the keys those that both want.
    func response(to request: PairingFeatures) -> PairingFeatures {
        PairingFeatures(
            ioCapability: ioCapability,
            authentication: authentication,
            initiatorKeys: request.initiatorKeys.intersection(peerKeys),
            responderKeys: request.responderKeys.intersection(ownKeys)
        )
    }

    /// Refuses features of which no pairing comes that the policy allows.
    func check(_ request: PairingFeatures, _ response: PairingFeatures, peer: PairingFeatures) throws(PairingFailure) {
        guard peer.maximumKeySize == GATTLinkSecurity.longestKey else { throw .encryptionKeySize }
        let isSecure = request.authentication.intersection(response.authentication).contains(.secureConnections)
        // The passkey of legacy pairing keeps nobody out.
        guard isSecure || allowsLegacy && !requiresAuthentication else { throw .authenticationRequirements }
        // Nobody has given the peer any data of ours.
        guard !isSecure || !peer.hasOutOfBandData else { throw .outOfBandNotAvailable }
        guard response.initiatorKeys.isSubset(of: request.initiatorKeys),
            response.responderKeys.isSubset(of: request.responderKeys)
        else { throw .invalidParameters }
        let model = AssociationModel(initiator: request, responder: response)
        guard model.hasNumber || !requiresAuthentication else { throw .authenticationRequirements }
    }
}

/// The way in which two devices make sure of each other while they pair (Core 6.0, Vol 3, Part H, 2.3.5.1).
public enum AssociationModel: Hashable, Sendable, CaseIterable {
    /// They do not: anyone could be in the middle.
    case justWorks
    /// Both show a number, and the user says whether it is the same.
    case numericComparison
    /// The initiator shows a passkey, which the user enters at the responder.
    case passkeyFromInitiator
    /// The responder shows a passkey, which the user enters at the initiator.
    case passkeyFromResponder
    /// The user enters one passkey at both.
    case passkeyEntered

    /// True where the user compares or enters a number; it authenticates with LE Secure Connections only.
    public var hasNumber: Bool { self != .justWorks }

    /// The model that follows from what both devices offer; out-of-band data is none of them (Core 6.0, Vol 3, Part H,
    /// 2.3.5.1, table 2.8).
    public init(initiator: PairingFeatures, responder: PairingFeatures) {
        let isProtected = initiator.authentication.union(responder.authentication).contains(.mitmProtection)
        let both = initiator.authentication.intersection(responder.authentication)
        let isSecure = both.contains(.secureConnections)
        guard isProtected else {
            self = .justWorks
            return
        }
        switch (initiator.ioCapability, responder.ioCapability) {
        case (.noInputNoOutput, _), (_, .noInputNoOutput), (.displayOnly, .displayOnly), (.displayOnly, .displayYesNo),
            (.displayYesNo, .displayOnly):
            self = .justWorks
        case (.keyboardOnly, .keyboardOnly): self = .passkeyEntered
        case (_, .keyboardOnly), (.displayOnly, .keyboardDisplay): self = .passkeyFromInitiator
        case (.keyboardOnly, _), (.keyboardDisplay, .displayOnly): self = .passkeyFromResponder
        case (.displayYesNo, .displayYesNo): self = isSecure ? .numericComparison : .justWorks
        case (.displayYesNo, .keyboardDisplay), (.keyboardDisplay, .keyboardDisplay):
            self = isSecure ? .numericComparison : .passkeyFromInitiator
        case (.keyboardDisplay, .displayYesNo): self = isSecure ? .numericComparison : .passkeyFromResponder
        }
    }

    func showsPasskey(_ role: ConnectionRole) -> Bool {
        self == (role == .central ? .passkeyFromInitiator : .passkeyFromResponder)
    }

    var hasPasskey: Bool {
        switch self {
        case .justWorks, .numericComparison: false
        case .passkeyFromInitiator, .passkeyFromResponder, .passkeyEntered: true
        }
    }
}

/// How long a peer that failed to pair has to wait: twice as long after each failure (Core 6.0, Vol 3, Part H, 2.3.6).
public struct PairingBackoff: Hashable, Sendable {
    /// The first wait, and the longest.
    public static let waits: ClosedRange<Duration> = .seconds(1)...Duration.seconds(64)

    /// The wait after the last failure; zero without one.
    public private(set) var wait = Duration.zero
    /// The time before which no attempt is made or accepted; nil without a failure.
    public private(set) var end: Duration?

    /// Nothing has failed.
    public init() {}

    /// True while a peer has to wait.
    public func isWaiting(at now: Duration) -> Bool { end.map { now < $0 } ?? false }

    mutating func fail(at now: Duration) {
        wait = min(max(wait * 2, Self.waits.lowerBound), Self.waits.upperBound)
        end = now + wait
    }

    /// Takes a success: the next failure is a first one.
    mutating func succeed() {
        self = PairingBackoff()
    }
}

/// The random numbers of pairing: the system's, which are fit for keys.
public struct PairingRandomness: RandomNumberGenerator, Sendable {
    private let number: (@Sendable (_ place: UInt64) -> UInt64)?
    private var place: UInt64 = 0

    /// The system's numbers.
    public init() { number = nil }

    /// For tests: each number follows from its place, which begins at 0; a copy goes on at the same one.
    package init(_ number: @escaping @Sendable (_ place: UInt64) -> UInt64) { self.number = number }

    /// The next number.
    public mutating func next() -> UInt64 {
        guard let number else {
            var system = SystemRandomNumberGenerator()
            return system.next()
        }
        defer { place &+= 1 }
        return number(place)
    }
}
