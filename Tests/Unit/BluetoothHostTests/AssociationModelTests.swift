// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import Testing

@Suite(.timeLimit(.minutes(10))) struct AssociationModelTests {
    /// Capabilities of the initiator, one per column.
    private static let columns: [PairingFeatures.IOCapability] = [
        .displayOnly, .displayYesNo, .keyboardOnly, .noInputNoOutput, .keyboardDisplay,
    ]

    /// Core 6.0, Vol 3, Part H, 2.3.5.1, table 2.8: one row per responder, with the initiators as columns.
    ///
    /// J means Just Works, N numeric comparison, I or R a passkey displayed by the initiator or the responder, and B a
    /// passkey entered on both devices.
    private static let secure = ["JJRJR", "JNRJN", "IIBJI", "JJJJJ", "INRJN"]
    private static let legacy = ["JJRJR", "JJRJR", "IIBJI", "JJJJJ", "IIRJI"]

    private func features(
        _ io: PairingFeatures.IOCapability,
        _ authentication: PairingFeatures.Authentication
    ) -> PairingFeatures {
        PairingFeatures(ioCapability: io, authentication: authentication, initiatorKeys: [], responderKeys: [])
    }

    private func letter(_ model: AssociationModel) -> Character {
        switch model {
        case .justWorks: "J"
        case .numericComparison: "N"
        case .passkeyFromInitiator: "I"
        case .passkeyFromResponder: "R"
        case .passkeyEntered: "B"
        }
    }

    @Test("The association model of every pair of capabilities is the one of the specification's table")
    func table() {
        for (isSecure, rows) in [(true, Self.secure), (false, Self.legacy)] {
            let mitm: PairingFeatures.Authentication =
                isSecure ? [.mitmProtection, .secureConnections] : .mitmProtection
            for (responder, row) in zip(Self.columns, rows) {
                let made = Self.columns.map { initiator in
                    letter(AssociationModel(initiator: features(initiator, mitm), responder: features(responder, mitm)))
                }
                #expect(String(made) == row, "\(responder), \(isSecure)")
            }
        }
    }

    @Test("Just Works if neither device wants protection; one of them is enough; SC only where both know it")
    func requirements() {
        for io in Self.columns {
            let plain = features(io, .secureConnections)
            #expect(AssociationModel(initiator: plain, responder: plain) == .justWorks)
            #expect(AssociationModel(initiator: plain, responder: plain).hasNumber == false)
        }
        let wants = features(.keyboardDisplay, [.mitmProtection, .secureConnections])
        let plain = features(.keyboardDisplay, .secureConnections)
        let legacy = features(.keyboardDisplay, .mitmProtection)
        #expect(AssociationModel(initiator: wants, responder: plain) == .numericComparison)
        #expect(AssociationModel(initiator: plain, responder: wants) == .numericComparison)
        #expect(AssociationModel(initiator: wants, responder: legacy) == .passkeyFromInitiator)
        #expect(AssociationModel(initiator: wants, responder: legacy).hasNumber)
    }
}
