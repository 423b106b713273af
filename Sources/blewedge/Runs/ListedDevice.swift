// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import LinuxIO
import Texts
import Wedge

/// A device as lists show it, whether this program has heard it or the daemon.
struct ListedDevice {
    let address: String
    let addressType: String
    let name: LocalName?
    /// In dBm; nil where it was never known.
    let rssi: Int?
    let services: [BluetoothUUID]
    /// When it was heard last, for people.
    let heard: String
    /// All of it, for programs.
    let json: String

    /// One that this program has heard.
    init(_ device: DiscoveredDevice) {
        address = "\(device.address.address)"
        addressType = "\(device.address.type)"
        name = device.name
        rssi = device.rssi.map { Int($0) }
        services = device.services
        heard = WallClock.local(WallClock.seconds(at: device.lastHeard))
        json = JSONObject(device).text
    }

    /// One that the daemon has heard; nil for what is none.
    init?(answer: JSONValue) {
        guard let address = answer["address"]?.string, let type = answer["addressType"]?.string else { return nil }
        self.address = LocalName.printable(address)
        addressType = LocalName.printable(type)
        name = answer["name"]?.string.map { LocalName(Array($0.utf8).span, isComplete: true) }
        rssi = answer["rssi"]?.integer.map { Int($0) }
        services = (answer["services"]?.array ?? []).compactMap { $0.string.flatMap { BluetoothUUID($0) } }
        heard = answer["lastHeard"]?.string.map(LocalName.printable) ?? "-"
        json = answer.text
    }
}
