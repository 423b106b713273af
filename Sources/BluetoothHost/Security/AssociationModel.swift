// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// The way in which two devices make sure of each other while they pair.
///
/// Core 6.0, Vol 3, Part H, 2.3.5.1.
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

    /// The model that follows from what both devices offer; out-of-band data is none of them.
    ///
    /// Core 6.0, Vol 3, Part H, 2.3.5.1, table 2.8.
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

    /// True where the device in the role shows the passkey.
    func showsPasskey(_ role: ConnectionRole) -> Bool {
        self == (role == .central ? .passkeyFromInitiator : .passkeyFromResponder)
    }

    /// True where the devices have a passkey.
    var hasPasskey: Bool {
        switch self {
        case .justWorks, .numericComparison: false
        case .passkeyFromInitiator, .passkeyFromResponder, .passkeyEntered: true
        }
    }
}
