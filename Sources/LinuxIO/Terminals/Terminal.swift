// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
import Glibc
package import SystemPackage

/// The terminal at standard input, taken over for pages: each key, even those of signals, comes at once and is not
/// shown.
///
/// Whoever takes it over gives it back by `restore`, at every end.
package final class Terminal {
    /// SIGWINCH: the terminal's size has changed.
    package static let windowChanged = SIGWINCH
    /// SIGCONT: the program goes on after a stop.
    package static let goneOn = SIGCONT
    /// SIGHUP: the terminal is gone.
    package static let hungUp = SIGHUP

    /// Readable when keys were pressed, and at the terminal's end.
    package let descriptor: Descriptor
    private let before: termios
    private var isRaw = false

    /// The terminal at standard input; nothing is changed yet.
    ///
    /// Throws `inappropriateIOCTLForDevice` where none is. The corresponding C function is `tcgetattr`.
    package init() throws(Errno) {
        var settings = termios()
        // Sound: the structure is a local that outlives the call.
        _ = try SystemCall.run { unsafe tcgetattr(0, &settings) }
        before = settings
        // The descriptor blocks, as other users of this terminal expect: it is read once each time that it is readable.
        descriptor = try Descriptor.forStandardInput()
    }

    /// Takes the terminal over; what was typed before is dropped.
    ///
    /// A virtual terminal that nobody had open keeps what was typed into it, and hands it over with the next key:
    /// barcodes that came while no program read, in front of a person's Enter.
    ///
    /// The corresponding C functions are `tcsetattr` and `tcflush`.
    package func takeOver() throws(Errno) {
        var raw = before
        raw.c_iflag &= ~tcflag_t(BRKINT | ICRNL | INLCR | IGNCR | INPCK | ISTRIP | IXON)
        raw.c_lflag &= ~tcflag_t(ECHO | ECHONL | ICANON | IEXTEN | ISIG)
        let settings = raw
        try set(settings)
        isRaw = true
        _ = tcflush(0, TCIFLUSH)
    }

    /// Gives the terminal back as it was; keys typed ahead do not reach the shell.
    package func restore() {
        guard isRaw else { return }
        isRaw = false
        _ = tcflush(0, TCIFLUSH)
        // A terminal that is gone needs nothing.
        try? set(before)
    }

    private func set(_ settings: termios) throws(Errno) {
        var settings = settings
        // Sound: as in init.
        _ = try SystemCall.run { unsafe tcsetattr(0, TCSADRAIN, &settings) }
    }
}

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
