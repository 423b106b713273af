// SPDX-License-Identifier: GPL-2.0-or-later

/// The reason why pairing failed.
///
/// Core 6.0, Vol 3, Part H, 3.5.5, table 3.7.
public struct PairingFailure: RawRepresentable, Error, Hashable, Sendable {
    /// The code.
    public let rawValue: UInt8

    /// A reason from its code.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The user did not enter the passkey.
    public static let passkeyEntryFailed = PairingFailure(rawValue: 0x01)
    /// There is no data of another way than the radio.
    public static let outOfBandNotAvailable = PairingFailure(rawValue: 0x02)
    /// The devices cannot authenticate each other as one of them requires.
    public static let authenticationRequirements = PairingFailure(rawValue: 0x03)
    /// The number is not the one that was confirmed.
    public static let confirmValueFailed = PairingFailure(rawValue: 0x04)
    /// The device does not pair.
    public static let pairingNotSupported = PairingFailure(rawValue: 0x05)
    /// The key would be too short.
    public static let encryptionKeySize = PairingFailure(rawValue: 0x06)
    /// The device does not know the command.
    public static let commandNotSupported = PairingFailure(rawValue: 0x07)
    /// No other reason fits.
    public static let unspecifiedReason = PairingFailure(rawValue: 0x08)
    /// Too little time has passed since the last attempt.
    public static let repeatedAttempts = PairingFailure(rawValue: 0x09)
    /// A length or a value is outside its range.
    public static let invalidParameters = PairingFailure(rawValue: 0x0A)
    /// The check of the shared secret is wrong.
    public static let dhKeyCheckFailed = PairingFailure(rawValue: 0x0B)
    /// The user says that the numbers differ.
    public static let numericComparisonFailed = PairingFailure(rawValue: 0x0C)
    /// The devices pair over BR/EDR.
    public static let classicPairingInProgress = PairingFailure(rawValue: 0x0D)
    /// A key of one transport must not be used for the other.
    public static let crossTransportNotAllowed = PairingFailure(rawValue: 0x0E)
    /// The device does not accept keys at this time.
    public static let keyRejected = PairingFailure(rawValue: 0x0F)
}
