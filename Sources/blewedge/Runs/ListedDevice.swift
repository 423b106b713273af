// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import Control
import Daemon
import Devices
import LinuxIO
import Texts

/// A device as lists show it, whether this program has heard it or the daemon.
struct ListedDevice {
    let address: String
    let addressType: String
    let name: LocalName?
    /// In dBm; nil where it was never known.
    let rssi: Int?
    let services: [BluetoothUUID]
    /// The services that it asks for.
    let solicited: [BluetoothUUID]
    /// When it was heard last, for people.
    let heard: String
    /// All of it, for programs.
    let json: String
    /// Whether it is the one that the user has chosen.
    fileprivate(set) var isChosen = false

    /// One that this program has heard.
    init(_ device: DiscoveredDevice) {
        address = "\(device.address.address)"
        addressType = "\(device.address.type)"
        name = device.name
        rssi = device.rssi.map { Int($0) }
        services = device.services
        solicited = device.data.solicitedServiceUUIDs
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
        services = Self.uuids(answer["services"])
        solicited = Self.uuids(answer["solicited"])
        heard = answer["lastHeard"]?.string.flatMap(TUITime.seconds).map(WallClock.local) ?? "-"
        json = answer.text
    }

    private static func uuids(_ list: JSONValue?) -> [BluetoothUUID] {
        (list?.array ?? []).compactMap { $0.string.flatMap { BluetoothUUID($0) } }
    }

    /// The chosen device, as it is known without having been heard.
    fileprivate init(_ choice: KeptChoice) {
        address = "\(choice.device.address)"
        addressType = "\(choice.device.type)"
        name = choice.name.map { LocalName(Array($0.utf8).span, isComplete: true) }
        rssi = nil
        services = []
        solicited = []
        heard = "-"
        json = JSONObject(choice).text
    }
}

/// The rows of a list that is drawn again and again: the chosen device on top, where it stays when it is heard no more,
/// then the others that are heard (LK-6).
struct ListedRows {
    private let filter: ScanFilter
    /// The chosen device as it was heard last; nil for none.
    private var chosen: ListedDevice?

    init(_ filter: ScanFilter) {
        self.filter = filter
    }

    /// The rows for the devices of the last minute; a chosen device that the filter keeps out is treated as any other.
    mutating func rows(_ heard: [ListedDevice], _ choice: KeptChoice?) -> [ListedDevice] {
        guard let choice else {
            chosen = nil
            return heard
        }
        let known = ListedDevice(choice)
        if let news = heard.first(where: { $0.address == known.address }) {
            chosen = news
        } else if chosen?.address != known.address {
            chosen = filter.matches(name: known.name, services: []) ? known : nil
        }
        guard var first = chosen else { return heard }
        first.isChosen = true
        return [first] + heard.filter { $0.address != known.address }
    }
}
