// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// Roles and addresses of the two devices in a pairing, and the features that they have exchanged.
struct PairingTerms: Sendable {
    let role: ConnectionRole
    let local: DeviceAddress
    let peer: DeviceAddress
    let policy: PairingPolicy
    let request: PairingFeatures
    let response: PairingFeatures

    var isInitiator: Bool { role == .central }
    var initiator: DeviceAddress { isInitiator ? local : peer }
    var responder: DeviceAddress { isInitiator ? peer : local }
    var ownFeatures: PairingFeatures { isInitiator ? request : response }
    var peerFeatures: PairingFeatures { isInitiator ? response : request }
    var model: AssociationModel { AssociationModel(initiator: request, responder: response) }
    var isSecure: Bool { both(.secureConnections) }
    /// True if the pairing detects a man in the middle, which requires a number and LE Secure Connections.
    var isAuthenticated: Bool { model.hasNumber && both(.secureConnections) }

    /// Returns true if both devices have set this feature.
    func both(_ feature: PairingFeatures.Authentication) -> Bool {
        request.authentication.intersection(response.authentication).contains(feature)
    }
}

/// Source of random numbers for a pairing, and list of the effects of its steps.
struct PairingOutput: Sendable {
    var random: PairingRandomness
    private var effects: [SecurityManager.Effect] = []

    init(_ random: PairingRandomness) {
        self.random = random
    }

    mutating func emit(_ effect: SecurityManager.Effect) { effects.append(effect) }

    mutating func send(_ pdu: SecurityManagerPDU) { emit(.send(pdu.encoded)) }

    mutating func newNumber() -> UInt128 { UInt128.random(in: 0...UInt128.max, using: &random) }

    mutating func takeEffects() -> [SecurityManager.Effect] {
        defer { effects = [] }
        return effects
    }
}
