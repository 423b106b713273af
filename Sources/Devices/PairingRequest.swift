// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
package import BluetoothPackets

/// The ways in which the user can take part in a pairing; the raw values are their names in options and requests.
package enum PairingConsole: String, CaseIterable, Sendable {
    case none
    case display
    case yesNo = "yes-no"
    case keyboard
    case keyboardDisplay = "keyboard-display"

    /// IO capability that is announced to the other device.
    package var capability: IOCapability {
        switch self {
        case .none: .noInputNoOutput
        case .display: .displayOnly
        case .yesNo: .displayYesNo
        case .keyboard: .keyboardOnly
        case .keyboardDisplay: .keyboardDisplay
        }
    }

    package var isAsked: Bool {
        switch self {
        case .none, .display: false
        case .yesNo, .keyboard, .keyboardDisplay: true
        }
    }
}

/// The device to pair with, and the user's requirements for its keys.
package struct PairingRequest: Equatable, Sendable {
    /// Permitted time limits of a pairing.
    package static let limits = Duration.seconds(1) ... .seconds(600)

    package var device: DeviceSelector
    /// The way in which the user takes part in the pairing.
    package var console = PairingConsole.none
    /// Minimum security of the bond.
    package var required = GATTLinkSecurity.Level.encrypted
    /// Time limit for the pairing.
    package var limit = Duration.seconds(60)

    /// Creates a request that accepts any encryption keys and requires no interaction with the user.
    package init(_ device: DeviceSelector) { self.device = device }
}

package enum PairingAnswer: Equatable, Sendable {
    /// The user's answer to a comparison: true if both devices show the same number.
    case same(Bool)
    /// The number that the other device shows, as entered by the user; nil means that the user declines.
    case passkey(UInt32?)

    /// Formats a number with six digits, as devices show it.
    package static func digits(_ number: UInt32) -> String {
        let text = "\(number)"
        return String(repeating: "0", count: max(0, 6 - text.utf8.count)) + text
    }

    /// Parses a number of six digits; returns nil for any other text.
    package static func number(_ digits: some StringProtocol) -> UInt32? {
        guard digits.utf8.count == 6, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return UInt32(digits)
    }
}
