// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
package import BluetoothPackets
package import Devices
package import Texts

/// Step of a pairing, reported to the user who requested it.
package enum PairingEvent: Equatable, Sendable {
    case listening
    case pairing(DeviceAddress)
    case ask(ManagedPairing.Question)
    /// Passkey that the user must enter on the other device.
    case show(UInt32)
    /// Side effect or error that does not end the pairing.
    case note(Reason)
    /// The keys have been stored; this is the last event.
    case paired(BondFacts)
    /// The pairing has failed; this is the last event.
    case failed(CommandFailure)

    /// True for the last event of a pairing.
    package var isLast: Bool {
        switch self {
        case .paired, .failed: true
        case .listening, .pairing, .ask, .show, .note: false
        }
    }
}

extension PairingEvent {
    package init(_ event: DevicePairer.Event) {
        switch event {
        case .listening: self = .listening
        case .pairing(let device): self = .pairing(device)
        case .ask(let question): self = .ask(question)
        case .show(let passkey): self = .show(passkey)
        case .raised(.success(let choice)):
            self = .note(Reason(LogText.choiceRaised.message(choice.label, choice.security.word)))
        // Despite this failure, a daemon requires the bond as long as it exists.
        case .raised(.failure(let error)): self = .note(Reason(error.failure))
        case .paired(let bond): self = .paired(BondFacts(bond))
        case .failed(let error): self = .failed(error.failure)
        }
    }
}

/// Facts about a bond, without its keys.
package struct BondFacts: Equatable, Sendable {
    package var device: DeviceAddress
    package var adapter: BluetoothAddress
    package var level: GATTLinkSecurity.Level
    /// Length of the key, in bytes.
    package var keySize: UInt8
    /// True if the bond was created with LE Secure Connections, false for legacy pairing.
    package var isSecureConnections: Bool
    /// True if the device has distributed its identity resolving key.
    package var hasResolvingKey: Bool
}

extension BondFacts {
    package init(_ bond: Bond) {
        device = bond.identityAddress
        adapter = bond.localAddress
        level = bond.security.level
        keySize = bond.security.keySize
        isSecureConnections = !bond.isLegacy
        hasResolvingKey = bond.identityResolvingKey != nil
    }

    /// Message about a new bond, with the device's identity as its argument.
    package var report: BondText {
        level == .authenticated ? .paired : isSecureConnections ? .pairedOpenly : .pairedLegacy
    }

    package var security: BondText {
        level == .authenticated ? .authenticated : isSecureConnections ? .encrypted : .legacy
    }
}
