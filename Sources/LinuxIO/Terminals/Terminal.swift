// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
import Glibc
package import SystemPackage

/// The terminal at standard input, in raw mode for full-screen pages.
///
/// Every key, even a key that sends a signal, arrives immediately and is not echoed. Each `takeOver` must be followed
/// by `restore`, however the program ends.
package final class Terminal {
    /// SIGWINCH: the terminal's size has changed.
    package static let windowChanged = SIGWINCH
    /// SIGCONT: the program was resumed after a stop.
    package static let goneOn = SIGCONT
    /// SIGHUP: the terminal was hung up.
    package static let hungUp = SIGHUP

    /// Descriptor that is readable after key presses, and when the terminal is closed.
    package let descriptor: Descriptor
    private let before: termios
    private var isRaw = false

    /// Reads the settings of the terminal at standard input, without changing them.
    ///
    /// Throws `inappropriateIOCTLForDevice` if standard input is not a terminal. The corresponding C function is
    /// `tcgetattr`.
    package init() throws(Errno) {
        var settings = termios()
        // Sound: the structure is a local variable that outlives the call.
        _ = try SystemCall.run { unsafe tcgetattr(0, &settings) }
        before = Self.usable(settings)
        // The descriptor is in blocking mode, as other users of this terminal expect, so read it only once each time it
        // is readable.
        descriptor = try Descriptor.forStandardInput()
    }

    /// Switches the terminal to raw mode and discards earlier input.
    ///
    /// A virtual terminal keeps its input while no program reads it, and delivers that input with the next key. Without
    /// the discard, barcodes typed in the meantime would precede the user's Enter. The corresponding C functions are
    /// `tcsetattr` and `tcflush`.
    package func takeOver() throws(Errno) {
        var raw = before
        raw.c_iflag &= ~tcflag_t(BRKINT | ICRNL | INLCR | IGNCR | INPCK | ISTRIP | IXON)
        raw.c_lflag &= ~tcflag_t(ECHO | ECHONL | ICANON | IEXTEN | ISIG)
        let settings = raw
        try set(settings)
        isRaw = true
        _ = tcflush(0, TCIFLUSH)
    }

    /// Returns the settings to restore when the program ends.
    ///
    /// These are `settings`, or those of a shell if a killed program has left the terminal in raw mode.
    private static func usable(_ settings: termios) -> termios {
        guard settings.c_lflag & tcflag_t(ICANON | ECHO | ISIG) == 0 else { return settings }
        var usable = settings
        usable.c_iflag |= tcflag_t(BRKINT | ICRNL | IXON)
        usable.c_lflag |= tcflag_t(ECHO | ICANON | IEXTEN | ISIG)
        return usable
    }

    /// Stops all processes of this group until SIGCONT, as Ctrl-Z does (C: `kill`).
    package static func stopGroup() { _ = kill(0, SIGTSTP) }

    /// Restores the terminal's settings and discards unread keys, so that they do not reach the shell.
    package func restore() {
        guard isRaw else { return }
        isRaw = false
        _ = tcflush(0, TCIFLUSH)
        // Best effort: the terminal may have been hung up.
        try? set(before)
    }

    private func set(_ settings: termios) throws(Errno) {
        var settings = settings
        // Sound: the structure is a local variable that outlives the call.
        _ = try SystemCall.run { unsafe tcsetattr(0, TCSADRAIN, &settings) }
    }
}

/// A device on a serial port, as described by the firmware or a device tree.
package struct SerialDevice: Equatable, Sendable {
    /// Name of the device, such as `serial0-0`.
    package var name: String
    /// Name that the kernel uses to find the driver, such as `of:NbluetoothT(null)Cbrcm,bcm43438-bt`.
    package var modalias: String
    package var hasDriver: Bool

    package init(name: String, modalias: String, hasDriver: Bool) {
        self.name = name
        self.modalias = modalias
        self.hasDriver = hasDriver
    }

    /// Returns the devices whose descriptions identify them as Bluetooth controllers (Linux,
    /// drivers/tty/serdev/core.c).
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

    /// True if the device tree or an ACPI identifier marks the device as a Bluetooth controller.
    ///
    /// In a device tree, the node is named `bluetooth`, or its `compatible` contains `-bt`. The manufacturers' ACPI
    /// identifiers are in the kernel's drivers/bluetooth (hci_bcm.c, hci_h5.c, hci_intel.c, hci_qca.c).
    private var isBluetooth: Bool {
        let text = modalias.lowercased()
        if text.hasPrefix("acpi:") {
            return ["bcm2e", "bcm43", "obda", "rtl8", "int33e", "dlac"].contains { text.hasPrefix("acpi:" + $0) }
        }
        return text.indices.contains { text[$0...].hasPrefix("bluetooth") || text[$0...].hasPrefix("-bt") }
    }
}

/// A pseudo-terminal that other programs open by a path, which is a symbolic link to it.
///
/// This process owns the master end. The link is removed when the value is destroyed.
package struct PseudoTerminal: ~Copyable {
    /// Non-blocking master end, for the event loop.
    package let descriptor: Descriptor
    /// Device that other programs open; `path` is a link to it.
    package let device: String
    private let path: String
    /// Watch for programs that open the device; nil on a kernel without inotify.
    private let openings: OpeningWatch?
    /// Slave end; it is kept open if openings cannot be watched, so that the master end reports no hang-up.
    private let line: Descriptor?

    /// Creates a pseudo-terminal, raw in both directions, and a symbolic link to it at `path`.
    ///
    /// Replaces a link to a terminal that a killed process has left behind; throws `fileExists` if the path leads to
    /// anything else. The corresponding C calls are `open("/dev/ptmx")`, `ioctl(TIOCSPTLCK, TIOCGPTN)`, `tcsetattr` and
    /// `symlink`.
    package init(linkedAt path: String) throws(Errno) {
        let end = try Descriptor.open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK)
        let number = end.number
        var isLocked: Int32 = 0
        var index: UInt32 = 0
        // Sound, here and below: each structure is a local variable that outlives its call.
        _ = try SystemCall.run { unsafe blewedge_ioctl_pointer(number, blewedge_TIOCSPTLCK, &isLocked) }
        _ = try SystemCall.run { unsafe blewedge_ioctl_pointer(number, blewedge_TIOCGPTN, &index) }
        let device = "/dev/pts/\(index)"
        let line = try Descriptor.open(device, O_RDWR | O_NOCTTY)
        let lineNumber = line.number
        var settings = termios()
        _ = try SystemCall.run { unsafe tcgetattr(lineNumber, &settings) }
        unsafe cfmakeraw(&settings)
        _ = try SystemCall.run { unsafe tcsetattr(lineNumber, TCSANOW, &settings) }
        if let target = Self.target(of: path), target.hasPrefix("/dev/pts/") { _ = unsafe unlink(path) }
        _ = try SystemCall.run { unsafe symlink(device, path) }
        descriptor = end
        self.device = device
        self.path = path
        if let watch = try? OpeningWatch(device) {
            openings = consume watch
            // The settings persist as long as the master end is open.
            self.line = nil
            _ = consume line
        } else {
            openings = nil
            self.line = consume line
        }
    }

    /// True while a program has the device open; also true if this is unknown (C: `poll`).
    package var isOpened: Bool {
        guard line == nil else { return true }
        var entry = pollfd(fd: descriptor.number, events: 0, revents: 0)
        // Sound: the call gets one entry, a local variable.
        return unsafe poll(&entry, 1, 0) < 1 || entry.revents & Int16(POLLHUP) == 0
    }

    /// Calls `handler` each time a program has opened the device; returns nil if openings cannot be watched.
    package func watchOpenings(
        on loop: EventLoop,
        handler: @escaping () -> Void
    ) throws(Errno) -> EventLoop.Registration? {
        try openings?.watch(on: loop, handler: handler)
    }

    package func unwatchOpenings(_ registration: EventLoop.Registration, on loop: EventLoop) {
        openings?.unwatch(registration, on: loop)
    }

    /// Discards the notifications of openings up to now.
    package func clearOpenings() { openings?.clear() }

    /// Discards bytes that no program has read, so that the next program that opens the device does not receive them
    /// (C: `open` and `tcflush`).
    package func discardUnread() throws(Errno) {
        let opened = try Descriptor.open(device, O_RDWR | O_NOCTTY | O_NONBLOCK)
        // Bytes in transit are discarded first, then the bytes that have arrived.
        for (number, queue) in [(descriptor.number, TCOFLUSH), (opened.number, TCIFLUSH)] {
            _ = try SystemCall.run { tcflush(number, queue) }
        }
    }

    deinit {
        // Do not remove a file that another process has created at the path since then.
        if Self.target(of: path) == device { _ = unsafe unlink(path) }
    }

    /// Returns the target of a symbolic link; nil if there is no link (C: `readlink`).
    private static func target(of path: String) -> String? {
        var buffer = [CChar](repeating: 0, count: 64)
        // Sound: the kernel writes at most the buffer's length. A longer target is truncated; it cannot be a link of
        // this program.
        let count = unsafe readlink(path, &buffer, buffer.count)
        guard count > 0 else { return nil }
        return String(decoding: buffer.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

/// A watch on a file; its descriptor is readable after a program has opened the file.
struct OpeningWatch: ~Copyable {
    private let descriptor: Descriptor

    /// Watches a file (C: `inotify_init1` and `inotify_add_watch` (IN_OPEN)).
    init(_ path: String) throws(Errno) {
        let flags = Int32(IN_CLOEXEC | IN_NONBLOCK)
        let made = Descriptor(owning: try SystemCall.run(CallSite(.loop, .inotifyInit)) { inotify_init1(flags) }, .loop)
        let number = made.number
        _ = try SystemCall.run { unsafe inotify_add_watch(number, path, UInt32(IN_OPEN)) }
        descriptor = made
    }

    func watch(on loop: EventLoop, handler: @escaping () -> Void) throws(Errno) -> EventLoop.Registration {
        try loop.watch(descriptor, for: .readable) { _ in handler() }
    }

    func unwatch(_ registration: EventLoop.Registration, on loop: EventLoop) { loop.unwatch(registration, descriptor) }

    /// Discards the notifications of openings up to now.
    func clear() {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while case .done(let count)? = try? descriptor.read(into: &buffer), count > 0 {}
    }
}
