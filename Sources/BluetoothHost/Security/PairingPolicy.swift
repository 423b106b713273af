// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// Rules for a host's pairings, and the features that it offers.
public struct PairingPolicy: Hashable, Sendable {
    /// Ability of the host to show a passkey and to let the user enter an answer.
    public var ioCapability: PairingFeatures.IOCapability
    /// True to reject Just Works and LE legacy pairing.
    public var requiresAuthentication: Bool
    /// True to allow LE legacy pairing with a device that does not support LE Secure Connections.
    public var allowsLegacy: Bool
    /// True to accept pairing requests from centrals; false to reject them with Pairing Not Supported.
    public var acceptsRequests: Bool
    /// Identity address of the host: its public or static random address.
    public var identity: DeviceAddress
    /// Key that resolves the host's private addresses; nil if there is none, in which case no identity is distributed.
    public var identityResolvingKey: UInt128?
    /// False to behave like a device that supports only LE legacy pairing; used by tests.
    package var knowsSecureConnections = true

    /// Creates a policy with strict defaults: legacy pairing is not allowed, and requests from centrals are not
    /// accepted.
    ///
    /// Just Works is allowed by default, because it is the only association model that needs neither a display nor a
    /// keyboard.
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

    /// Returns the features of the Pairing Response, with only the keys that both devices want to distribute.
    func response(to request: PairingFeatures) -> PairingFeatures {
        PairingFeatures(
            ioCapability: ioCapability,
            authentication: authentication,
            initiatorKeys: request.initiatorKeys.intersection(peerKeys),
            responderKeys: request.responderKeys.intersection(ownKeys)
        )
    }

    /// Throws an error if the policy does not allow a pairing with these features.
    func check(_ request: PairingFeatures, _ response: PairingFeatures, peer: PairingFeatures) throws(PairingFailure) {
        guard peer.maximumKeySize == GATTLinkSecurity.longestKey else { throw .encryptionKeySize }
        let isSecure = request.authentication.intersection(response.authentication).contains(.secureConnections)
        // The passkey of legacy pairing does not protect against a man in the middle.
        guard isSecure || allowsLegacy && !requiresAuthentication else { throw .authenticationRequirements }
        // The peer cannot have received our out-of-band data, because this host has no out-of-band channel.
        guard !isSecure || !peer.hasOutOfBandData else { throw .outOfBandNotAvailable }
        guard response.initiatorKeys.isSubset(of: request.initiatorKeys),
            response.responderKeys.isSubset(of: request.responderKeys)
        else { throw .invalidParameters }
        let model = AssociationModel(initiator: request, responder: response)
        guard model.hasNumber || !requiresAuthentication else { throw .authenticationRequirements }
    }
}

/// Method with which two devices authenticate each other during pairing (Core 6.0, Vol 3, Part H, 2.3.5.1).
public enum AssociationModel: Hashable, Sendable, CaseIterable {
    /// The devices do not authenticate each other, so a man in the middle is not detected.
    case justWorks
    /// The user compares the numbers shown on both devices.
    case numericComparison
    /// The initiator shows a passkey, which the user enters at the responder.
    case passkeyFromInitiator
    /// The responder shows a passkey, which the user enters at the initiator.
    case passkeyFromResponder
    /// The user enters the same passkey at both devices.
    case passkeyEntered

    /// True if the user compares or enters a number.
    ///
    /// This authenticates the devices only with LE Secure Connections.
    public var hasNumber: Bool { self != .justWorks }

    /// Chooses the model from the features of both devices, ignoring out-of-band data (Core 6.0, Vol 3, Part H,
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

/// Waiting time imposed on a peer after a failed pairing; it doubles after each failure (Core 6.0, Vol 3, Part H,
/// 2.3.6).
public struct PairingBackoff: Hashable, Sendable {
    /// First and longest back-off.
    public static let waits: ClosedRange<Duration> = .seconds(1)...Duration.seconds(64)

    /// Back-off after the latest failure; zero if there was none.
    public private(set) var wait = Duration.zero
    /// Time before which pairings with the peer are neither started nor accepted; nil if there was no failure.
    public private(set) var end: Duration?

    /// Creates a back-off for a peer that has not failed to pair.
    public init() {}

    /// Returns true while the peer must wait.
    public func isWaiting(at now: Duration) -> Bool { end.map { now < $0 } ?? false }

    mutating func fail(at now: Duration) {
        wait = min(max(wait * 2, Self.waits.lowerBound), Self.waits.upperBound)
        end = now + wait
    }

    /// Resets the back-off after a successful pairing.
    mutating func succeed() {
        self = PairingBackoff()
    }
}

/// Source of random numbers for pairing; uses the system's generator, which is suitable for keys.
public struct PairingRandomness: RandomNumberGenerator, Sendable {
    private let number: (@Sendable (_ place: UInt64) -> UInt64)?
    private var place: UInt64 = 0

    /// Creates a generator that uses the system's random numbers.
    public init() { number = nil }

    /// Creates a generator for tests, in which each number depends only on its position, starting at 0.
    ///
    /// A copy of the generator continues at the same position.
    package init(_ number: @escaping @Sendable (_ place: UInt64) -> UInt64) { self.number = number }

    /// Returns the next random number.
    public mutating func next() -> UInt64 {
        guard let number else {
            var system = SystemRandomNumberGenerator()
            return system.next()
        }
        defer { place &+= 1 }
        return number(place)
    }
}
