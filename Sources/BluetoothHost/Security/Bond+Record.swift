// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

extension Bond {
    /// The bond as one line of text, with a checksum at its end, without a line feed.
    ///
    /// ```
    /// bond F0:F1:F2:F3:F4:F5 random adapter=00:AA:01:00:00:42 key=central,sc,open,16,0000,0000000000000000,… irk=… crc=…
    /// ```
    /// Each `key` says the role, `sc` or `legacy`, whether a number was compared or entered (`authenticated` or `open`), the
    /// size, EDIV, Rand and the 16 bytes; `irk` is the resolving key. The checksum is the CRC-32 of all before it.
    public var record: String {
        var text = "bond \(identityAddress.address) \(identityAddress.type) adapter=\(localAddress)"
        for key in longTermKeys {
            let words = [
                key.role.rawValue, key.isSecureConnections ? "sc" : "legacy",
                key.usedNumber ? "authenticated" : "open", "\(key.size)",
                Hexadecimal.text(UInt64(key.encryptedDiversifier), digits: 4),
                Hexadecimal.text(key.random, digits: 16), Hexadecimal.text(key.value),
            ]
            text += " key=" + words.joined(separator: ",")
        }
        if let key = identityResolvingKey { text += " irk=" + Hexadecimal.text(key) }
        return text + " crc=" + Hexadecimal.text(UInt64(Self.checksum(text.utf8)), digits: 8)
    }

    /// Reads such a line; nil for anything that `record` does not write, letter by letter.
    public init?(record: String) {
        let words = record.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count >= 6, words[0] == "bond", let address = BluetoothAddress(words[1]),
            let type = AddressType.allCases.first(where: { "\($0)" == words[2] }),
            let local = Self.value(of: words[3], "adapter=").flatMap({ BluetoothAddress($0) })
        else { return nil }
        var keys: [LongTermKey] = []
        var resolvingKey: [UInt8]?
        for word in words[4...].dropLast() {
            if let text = Self.value(of: word, "key="), let key = LongTermKey(words: text) {
                keys.append(key)
            } else if let text = Self.value(of: word, "irk="), let key = Hexadecimal.bytes(text) {
                resolvingKey = key
            } else {
                return nil
            }
        }
        self.init(
            identityAddress: DeviceAddress(address, type),
            localAddress: local,
            longTermKeys: keys,
            identityResolvingKey: resolvingKey
        )
        // The checksum, the order of the words and the form of each number.
        guard self.record == record else { return nil }
    }

    private static func value(of word: Substring, _ name: String) -> Substring? {
        word.hasPrefix(name) ? word.dropFirst(name.count) : nil
    }

    /// CRC-32/ISO-HDLC, by the catalogue's polynomial 0x04C11DB7, reflected.
    private static func checksum(_ bytes: some Sequence<UInt8>) -> UInt32 {
        var sum: UInt32 = 0xFFFF_FFFF
        for byte in bytes {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
        }
        return ~sum
    }
}

extension LongTermKey {
    /// Reads the words of a record's key, separated by commas.
    fileprivate init?(words text: Substring) {
        let words = text.split(separator: ",", omittingEmptySubsequences: false)
        guard words.count == 7, let role = Role(rawValue: String(words[0])), let size = UInt8(words[3]),
            let diversifier = UInt16(words[4], radix: 16), let random = UInt64(words[5], radix: 16),
            let value = Hexadecimal.bytes(words[6])
        else { return nil }
        self.init(
            value,
            encryptedDiversifier: diversifier,
            random: random,
            size: size,
            isAuthenticated: words[2] == "authenticated",
            isSecureConnections: words[1] == "sc",
            role: role
        )
    }
}
