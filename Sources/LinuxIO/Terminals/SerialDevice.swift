// SPDX-License-Identifier: GPL-2.0-or-later

/// A device behind a serial port that firmware or device tree describe.
package struct SerialDevice: Equatable, Sendable {
    /// Its name, such as `serial0-0`.
    package var name: String
    /// The name by which its driver is found, such as `of:NbluetoothT(null)Cbrcm,bcm43438-bt`.
    package var modalias: String
    /// True where a driver is bound to it.
    package var hasDriver: Bool

    /// A device from its fields.
    package init(name: String, modalias: String, hasDriver: Bool) {
        self.name = name
        self.modalias = modalias
        self.hasDriver = hasDriver
    }

    /// The devices that are Bluetooth controllers by their description.
    ///
    /// Linux, drivers/tty/serdev/core.c.
    package static func bluetoothControllers(sysfs: String = "/sys") -> [SerialDevice] {
        let directory = "\(sysfs)/bus/serial/devices"
        return FileSystem.names(in: directory).compactMap { name in
            guard let modalias = FileSystem.line(of: "\(directory)/\(name)/modalias") else { return nil }
            let device = SerialDevice(
                name: name,
                modalias: modalias,
                hasDriver: FileSystem.exists("\(directory)/\(name)/driver")
            )
            return device.isBluetooth ? device : nil
        }
    }

    /// Device trees call the node `bluetooth` and end its `compatible` in `-bt`; ACPI has the makers' identifiers, as
    /// in the kernel's drivers/bluetooth (hci_bcm.c, hci_h5.c, hci_intel.c, hci_qca.c).
    private var isBluetooth: Bool {
        let text = modalias.lowercased()
        if text.hasPrefix("acpi:") {
            return ["bcm2e", "bcm43", "obda", "rtl8", "int33e", "dlac"].contains { text.hasPrefix("acpi:" + $0) }
        }
        return text.indices.contains { text[$0...].hasPrefix("bluetooth") || text[$0...].hasPrefix("-bt") }
    }
}
