// SPDX-License-Identifier: GPL-2.0-or-later

extension ManagementEvent {
    /// The largest number of a passkey or of a numeric comparison: six digits.
    public static let largestPasskey: UInt32 = 999_999

    /// Reads an event about pairing; nil for any other.
    @_lifetime(reader: copy reader)
    static func pairingKind(_ code: UInt16, _ reader: inout ByteReader) throws(DecodingError) -> Kind? {
        switch code {
        case Code.newLongTermKey:
            let isToBeKept = try flag("Store_Hint", &reader)
            return .newLongTermKey(try ManagementLongTermKey(from: &reader), isToBeKept: isToBeKept)
        case Code.userConfirmationRequest:
            let device = try ManagementAddress(from: &reader)
            let isPlain = try flag("Confirm_Hint", &reader)
            return .userConfirmationRequest(device, isPlain: isPlain, number: try passkey("Value", &reader))
        case Code.userPasskeyRequest: return .userPasskeyRequest(try ManagementAddress(from: &reader))
        case Code.authenticationFailed:
            let device = try ManagementAddress(from: &reader)
            return .authenticationFailed(device, status: ManagementStatus(rawValue: try reader.readUInt8("Status")))
        case Code.deviceUnpaired: return .deviceUnpaired(try ManagementAddress(from: &reader))
        case Code.passkeyNotify:
            let device = try ManagementAddress(from: &reader)
            let number = try passkey("Passkey", &reader)
            return .passkeyNotify(device, passkey: number, entered: try reader.readUInt8("Entered"))
        case Code.newIdentityResolvingKey:
            let isToBeKept = try flag("Store_Hint", &reader)
            let resolved = try reader.readAddress("Random_Address")
            let key = try ManagementResolvingKey(from: &reader)
            return .newIdentityResolvingKey(key, resolved: resolved, isToBeKept: isToBeKept)
        default: return nil
        }
    }

    /// The next byte, which is 0 or 1.
    @_lifetime(reader: copy reader)
    static func flag(_ field: String, _ reader: inout ByteReader) throws(DecodingError) -> Bool {
        let value = try reader.readUInt8(field)
        guard value <= 1 else { throw reader.error(field, .invalidValue(UInt64(value))) }
        return value == 1
    }

    @_lifetime(reader: copy reader)
    private static func passkey(_ field: String, _ reader: inout ByteReader) throws(DecodingError) -> UInt32 {
        let value = try reader.readUInt32(field)
        guard value <= largestPasskey else { throw reader.error(field, .invalidValue(UInt64(value))) }
        return value
    }
}
