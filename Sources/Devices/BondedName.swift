// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothLE

/// The name that a device was paired under, as a line of the file of bonds.
package struct BondedName: Equatable, Sendable {
    private static let word = "name "

    /// The device's identity.
    package var device: DeviceAddress
    /// The name.
    package var text: String

    /// The name of a device.
    package init(_ device: DeviceAddress, _ text: String) {
        self.device = device
        self.text = text
    }

    /// The line, without a line feed.
    package var record: String { "\(Self.word)\(device.address) \(device.type) \(KeptChoice.quoted(text))" }

    /// Reads such a line; nil for anything that `record` does not write.
    package init?(record: String) {
        guard record.hasPrefix(Self.word) else { return nil }
        let words = record.dropFirst(Self.word.count).split(separator: " ", maxSplits: 2)
        guard words.count == 3, let address = BluetoothAddress(words[0]),
            let type = AddressType.allCases.first(where: { "\($0)" == words[1] }),
            let text = KeptChoice.unquoted(words[2])
        else { return nil }
        self.init(DeviceAddress(address, type), text)
        guard self.record == record else { return nil }
    }
}

/// A line of the file of bonds that cannot be read as one.
package struct DamagedBond: Equatable, Sendable {
    /// The length of an address as text.
    private static let length = 17

    /// The line's number, from 1 on.
    package var number: Int
    /// The words that look like an address.
    private var addresses: [String]

    init(_ line: String, number: Int) {
        self.number = number
        addresses = line.split(separator: " ").map(String.init).filter { word in
            word.utf8.count == Self.length && word.utf8.count { $0 == UInt8(ascii: ":") } >= 4
        }
    }

    /// True for a line with this address.
    func names(_ address: BluetoothAddress) -> Bool { addresses.contains("\(address)") }

    /// True unless the line names another device: one letter of an address may be wrong, and a line without any address may
    /// be any device's.
    package func mayBe(of address: BluetoothAddress) -> Bool {
        let text = "\(address)".utf8
        return addresses.isEmpty || addresses.contains { word in zip(word.utf8, text).count { $0 != $1 } <= 1 }
    }
}
