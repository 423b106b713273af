// SPDX-License-Identifier: GPL-2.0-or-later

import Beacons
import BluetoothHost
import BluetoothPackets
import Configuration
import Control
import Daemon
import Texts

/// The kind of a device, as far as its advertisement shows.
enum DeviceKind: Equatable {
    /// The device offers a known serial service; the value is the name of the profile.
    case serial(String)
    /// The device is a keyboard that uses HID.
    case keyboard
    /// The device uses HID, but its appearance is not that of a keyboard.
    case otherHID
    case beacon
    /// The device advertises values in a known format; the value is the title of the profile.
    case values(String)
    /// The device advertises services, none of which is a known serial service.
    case other
    /// The device advertises no services.
    case unknown

    init(
        services: [BluetoothUUID],
        appearance: UInt16? = nil,
        serviceData: [BluetoothUUID] = [],
        isBeacon: Bool
    ) {
        if let profile = Profile.serial.first(where: { services.contains($0.service) }) {
            self = .serial(profile.title)
        } else if DiscoveredDevice.isKeyboard(services, appearance) {
            self = .keyboard
        } else if services.contains(.humanInterfaceDevice) {
            self = .otherHID
        } else if isBeacon {
            self = .beacon
        } else if let profile = Profile.advertised(in: serviceData) {
            self = .values(profile.title)
        } else {
            self = services.isEmpty ? .unknown : .other
        }
    }

    var isSerial: Bool { if case .serial = self { true } else { false } }

    func text(_ language: Language) -> String {
        switch self {
        case .values(let title): title
        case .serial(let title): title.hasSuffix(Self.suffix) ? String(title.dropLast(Self.suffix.count)) : title
        case .keyboard: PageText.kindKeyboard.text(language)
        case .otherHID: PageText.kindOtherHID.text(language)
        case .beacon: PageText.kindBeacon.text(language)
        case .other: PageText.kindOther.text(language)
        case .unknown: ""
        }
    }

    /// Last word of the names of most services; it is omitted in tables in which every row contains a service.
    private static let suffix = " Service"

    /// Returns true if the daemon's answer describes a beacon.
    static func isBeacon(_ answer: JSONValue) -> Bool {
        let manufacturer = (answer["manufacturerData"]?.array ?? []).map { entry in
            (0xFF as UInt8, entry["company"]?.integer.flatMap { UInt16(exactly: $0) }, entry["data"])
        }
        let services = (answer["serviceData"]?.array ?? []).map { entry in
            (0x16 as UInt8, entry["service"]?.string.flatMap { UInt16($0, radix: 16) }, entry["data"])
        }
        return (manufacturer + services).contains { type, number, data in
            guard let number, let data = data?.string.flatMap({ Hexadecimal.bytes($0) }), data.count < 252 else {
                return false
            }
            let head = [UInt8(data.count + 3), type, UInt8(truncatingIfNeeded: number), UInt8(number >> 8)]
            return BeaconFrame(advertisement: (head + data).span) != nil
        }
    }
}
