// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothPackets

/// Part of an advertisement in which a device sends values without a connection.
package enum AdvertisedField: Hashable, Sendable, CustomStringConvertible {
    private static let serviceDataWord = "service-data"
    private static let manufacturerWord = "manufacturer"

    case serviceData(BluetoothUUID)
    /// Manufacturer data of the company with this identifier.
    case manufacturer(UInt16)

    /// Parses text such as `service-data FCD2` or `manufacturer 0499`; returns nil if it is neither.
    package init?(_ text: String) {
        let words = text.split(separator: " ")
        guard words.count == 2 else { return nil }
        switch words[0] {
        case Self.serviceDataWord:
            guard let uuid = BluetoothUUID(words[1]) else { return nil }
            self = .serviceData(uuid)
        case Self.manufacturerWord:
            guard words[1].utf8.count == 4, let company = UInt16(words[1], radix: 16) else { return nil }
            self = .manufacturer(company)
        default: return nil
        }
    }

    /// The field as text that `init` parses.
    package var description: String {
        switch self {
        case .serviceData(let uuid): "\(Self.serviceDataWord) \(uuid)"
        case .manufacturer(let company):
            "\(Self.manufacturerWord) \(Hexadecimal.text([UInt8(company >> 8), UInt8(truncatingIfNeeded: company)]))"
        }
    }

    /// Returns the bytes after the UUID or the company identifier; nil if the advertisement does not contain them.
    package func value(in data: AdvertisementData) -> [UInt8]? {
        switch self {
        case .serviceData(let uuid): data.serviceData.first { $0.service == uuid }?.data
        case .manufacturer(let company): data.manufacturerData.first { $0.company == company }?.data
        }
    }
}
