// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets

/// The input is a record of the bond file, the same without its checksum, or the contents of a bond whose record is
/// changed in one letter.
enum BondEntry {
    static func fault(in bytes: [UInt8]) -> String? {
        var input = FuzzInput(bytes)
        switch input.below(3) {
        case 0: return fault(record: String(decoding: input.remaining(), as: UTF8.self))
        case 1:
            let text = String(decoding: input.remaining(), as: UTF8.self)
            return fault(record: text + " crc=" + Hexadecimal.text(UInt64(checksum(text.utf8)), digits: 8))
        default: return fault(made: &input)
        }
    }

    /// Checks that an accepted record is valid and is encoded to the same text.
    private static func fault(record: String) -> String? {
        guard let bond = Bond(record: record) else { return nil }
        guard bond.record == record else { return "a record that is written otherwise" }
        guard (1...2).contains(bond.longTermKeys.count) else { return "\(bond.longTermKeys.count) keys" }
        for key in bond.longTermKeys {
            let isWhole = key.value.count == 16 && (7...16).contains(key.size) && key.value.contains { $0 != 0 }
            guard isWhole, key.value.dropFirst(Int(key.size)).allSatisfy({ $0 == 0 }) else {
                return "a key that no pairing makes"
            }
        }
        if let key = bond.identityResolvingKey, key.count != 16 || key.allSatisfy({ $0 == 0 }) {
            return "a resolving key that no pairing makes"
        }
        let text = "\(bond) \(String(reflecting: bond))"
        for key in bond.longTermKeys where text.contains(Hexadecimal.text(key.value)) {
            return "a key in a description"
        }
        return nil
    }

    private static func fault(made input: inout FuzzInput) -> String? {
        let kind = input.byte()
        let type: AddressType = kind & 1 == 0 ? .random : .public
        let address = BluetoothAddress(rawValue: number(&input, 6) | (kind & 1 == 0 ? 0xC0 << 40 : 0))
        var keys: [LongTermKey] = []
        for index in 0...Int(kind >> 1 & 1) {
            let isSecure = kind >> 2 & 1 == 1
            let key = LongTermKey(
                input.take(16),
                encryptedDiversifier: isSecure ? 0 : input.word(),
                random: isSecure ? 0 : number(&input, 8),
                size: kind >> 3 & 7 == 7 ? input.byte() : 16,
                isAuthenticated: input.byte() & 1 == 1,
                isSecureConnections: isSecure,
                role: index == 0 ? .central : .peripheral
            )
            if let key { keys.append(key) }
        }
        let bond = Bond(
            identityAddress: DeviceAddress(address, type),
            localAddress: BluetoothAddress(rawValue: number(&input, 6)),
            longTermKeys: keys,
            identityResolvingKey: kind >> 6 & 1 == 0 ? nil : input.take(16)
        )
        guard let bond else { return nil }
        let record = bond.record
        guard Bond(record: record) == bond else { return "a bond that does not come back" }
        var letters = Array(record.utf8)
        let place = Int(input.word()) % letters.count
        let letter = input.byte()
        if letters[place] == letter { return fault(record: record) }
        letters[place] = letter
        guard Bond(record: String(decoding: letters, as: UTF8.self)) == nil else {
            return "a changed letter is not noticed"
        }
        return fault(record: record)
    }

    private static func number(_ input: inout FuzzInput, _ count: Int) -> UInt64 {
        input.take(count).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Computes CRC-32/ISO-HDLC, independently of the product.
    private static func checksum(_ bytes: some Sequence<UInt8>) -> UInt32 {
        ~bytes.reduce(~0) { sum, byte in
            (0..<8).reduce(sum ^ UInt32(byte)) { sum, _ in sum >> 1 ^ (sum & 1 == 1 ? 0xEDB8_8320 : 0) }
        }
    }
}
