// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothLE
import LinuxIO
import Texts

extension JSONObject {
    /// A device that was heard, as programs are told of it.
    package init(_ device: DiscoveredDevice) {
        self.init()
        add("address", "\(device.address.address)")
        add("addressType", "\(device.address.type)")
        add("name", device.name?.text)
        add("rssi", device.rssi)
        add("connectable", device.isConnectable)
        add("services", device.services.map(\.description))
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
        add("lastHeard", WallClock.universal(WallClock.seconds(at: device.lastHeard)))
    }
}
