// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothLE

/// Abilities of the person at this end of a pairing, by their names in options and requests.
package enum PairingConsole: String, CaseIterable, Sendable {
    case none
    case display
    case yesNo = "yes-no"
    case keyboard
    case keyboardDisplay = "keyboard-display"

    /// The capability that the other device is told of.
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

/// The device to pair with, and what the user wants of its keys.
package struct PairingRequest: Equatable, Sendable {
    /// The shortest and the longest time limit.
    package static let limits = Duration.seconds(1) ... .seconds(600)

    package var device: DeviceSelector
    /// Abilities of the person at this end.
    package var console = PairingConsole.none
    /// The security without which there is no bond.
    package var required = GATTLinkSecurity.Level.encrypted
    /// The time after which the device must be paired.
    package var limit = Duration.seconds(60)

    /// A request for any keys, which asks nobody.
    package init(_ device: DeviceSelector) { self.device = device }
}

package enum PairingAnswer: Equatable, Sendable {
    /// Both devices show the same number, or not.
    case same(Bool)
    /// The number that the other device shows; nil declines.
    case passkey(UInt32?)

    /// A number as devices show it: six digits.
    package static func digits(_ number: UInt32) -> String {
        let text = "\(number)"
        return String(repeating: "0", count: max(0, 6 - text.utf8.count)) + text
    }

    /// The number of six digits; nil for any other text.
    package static func number(_ digits: some StringProtocol) -> UInt32? {
        guard digits.utf8.count == 6, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return UInt32(digits)
    }
}
