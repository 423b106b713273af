// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
package import BluetoothPackets
package import Devices
import LinuxIO
package import Texts

extension JSONObject {
    /// Maximum size of all devices in an answer, in bytes: the client's limit, minus a reserve for the other members.
    private static let mostBytes = ControlClient.mostBytes - 4096
    /// Maximum size of one device, in bytes, which is small enough for a full device table to fit.
    private static let mostDeviceBytes = 4000

    /// Creates an object with the results of a scan, in order, as many as fit into `mostBytes`.
    ///
    /// `leftOut` is the number of omitted devices, and `selection` is the selected device. The `paired` devices are
    /// marked. If a device is longer than
    /// `mostDeviceBytes`, its data and last services are removed, and `cut` is added, so that no device displaces the
    /// others.
    package init(
        devices: [DiscoveredDevice],
        choice: DeviceSelector? = nil,
        paired: Set<DeviceAddress> = [],
        mostBytes: Int = mostBytes,
        mostDeviceBytes: Int = mostDeviceBytes
    ) {
        self.init()
        var objects: [JSONObject] = []
        var rest = mostBytes
        for device in devices {
            var object = JSONObject(device, mostBytes: mostDeviceBytes)
            if paired.contains(device.address) { object.add("paired", true) }
            // This counts the comma after the object, too.
            rest -= object.text.utf8.count + 1
            guard rest >= 0 else { break }
            objects.append(object)
        }
        add("devices", objects)
        if objects.count < devices.count { add("leftOut", devices.count - objects.count) }
        add("selection", choice?.kept.map { JSONObject($0) })
    }

    /// Creates an object of at most `mostBytes`, unless the name of the device is longer than that.
    private init(_ device: DiscoveredDevice, mostBytes: Int) {
        self.init(device)
        guard text.utf8.count > mostBytes else { return }
        let end = Self.end(of: device)
        func cut(_ services: ArraySlice<String>) -> JSONObject {
            var object = Self.beginning(of: device)
            object.add("services", Array(services))
            object.add("cut", true)
            object.add(membersOf: end)
            return object
        }
        var rest = mostBytes - cut([]).text.utf8.count
        let services = device.services.map(\.description)
        let last = services.firstIndex { service in
            // This counts the quotation marks and the comma, too.
            rest -= service.utf8.count + 3
            return rest < 0
        }
        self = cut(services[..<(last ?? services.endIndex)])
    }

    /// Creates the object of a device, as reported to programs.
    package init(_ device: DiscoveredDevice) {
        self = Self.beginning(of: device)
        add("services", device.services.map(\.description))
        let solicited = device.data.solicitedServiceUUIDs
        if !solicited.isEmpty { add("solicited", solicited.map(\.description)) }
        add("appearance", device.data.appearance)
        add("txPower", device.data.txPower)
        add(
            "manufacturerData",
            device.data.manufacturerData.map { entry in
                var inner = JSONObject()
                inner.add("company", entry.company)
                inner.add("data", Hexadecimal.text(entry.data))
                return inner
            }
        )
        add(
            "serviceData",
            device.data.serviceData.map { entry in
                var inner = JSONObject()
                inner.add("service", entry.service.description)
                inner.add("data", Hexadecimal.text(entry.data))
                return inner
            }
        )
        add(membersOf: Self.end(of: device))
    }

    private static func beginning(of device: DiscoveredDevice) -> JSONObject {
        var object = JSONObject()
        object.add(device.address)
        object.add("name", device.name?.text)
        object.add("rssi", device.rssi)
        object.add("connectable", device.isConnectable)
        return object
    }

    private static func end(of device: DiscoveredDevice) -> JSONObject {
        var object = JSONObject()
        // The rest of the advertisement was lost, or never sent.
        if device.isTruncated { object.add("truncated", true) }
        object.add("lastHeard", WallClock.universal(WallClock.seconds(at: device.lastHeard)))
        return object
    }
}

// Conversion of addresses and selected devices to members, and back.

extension JSONObject {
    /// Adds an address and its type; does nothing if the address is nil.
    package mutating func add(_ device: DeviceAddress?) {
        add("address", device.map { "\($0.address)" })
        add("addressType", device.map { "\($0.type)" })
    }

    package init(_ choice: SelectedDevice) {
        self.init()
        add("name", choice.name)
        add(choice.device)
        add("security", choice.security.word)
    }
}

extension DeviceAddress {
    /// Parses an object's address and its type; returns nil if it has no address.
    package init?(answer: JSONValue) {
        guard let address = answer["address"]?.string.flatMap(BluetoothAddress.init),
            let type = AddressType.allCases.first(where: { "\($0)" == answer["addressType"]?.string })
        else { return nil }
        self.init(address, type)
    }
}

extension SelectedDevice {
    /// Parses the selected device as reported by the daemon; returns nil if there is none.
    package init?(answer: JSONValue) {
        guard let device = DeviceAddress(answer: answer) else { return nil }
        self.init(device, name: answer["name"]?.string)
    }
}
