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

    /// The keys that this host distributes.
    private var ownKeys: PairingFeatures.Keys {
        var keys: PairingFeatures.Keys = identityResolvingKey == nil ? [] : .identity
        if allowsLegacy { keys.insert(.encryption) }
        return keys
    }

    /// The keys that are asked of the peer.
    private var peerKeys: PairingFeatures.Keys { allowsLegacy ? [.encryption, .identity] : .identity }

    /// AuthReq.
    var authentication: PairingFeatures.Authentication {
        var authentication: PairingFeatures.Authentication = .bonding
        if knowsSecureConnections { authentication.insert(.secureConnections) }
        if requiresAuthentication || ioCapability != .noInputNoOutput { authentication.insert(.mitmProtection) }
        return authentication
    }

    /// The features of a Pairing Request.
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
