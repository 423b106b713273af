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
    /// barcodes that came while no program read, in front of a person's Enter. The corresponding C functions are
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
    package var hasDriver: Bool

    package init(name: String, modalias: String, hasDriver: Bool) {
        self.name = name
        self.modalias = modalias
        self.hasDriver = hasDriver
    }

    /// The devices that are Bluetooth controllers by their description (Linux, drivers/tty/serdev/core.c).
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

/// A serial line that other programs open by a path, and whose other end this process holds; it goes with its owner.
package struct PseudoTerminal: ~Copyable {
    /// This process's end, for the event loop; it does not block.
    package let descriptor: Descriptor
    /// The device that other programs open; the path leads to it.
    package let device: String
    private let path: String
    /// Tells of programs that open the device; nil on a kernel without inotify.
    private let openings: OpeningWatch?
    /// Held open where openings cannot be watched, so that this end stays quiet.
    private let line: Descriptor?

    /// A line, raw in both directions, to which `path` becomes a symbolic link.
    ///
    /// A link to a terminal that a process which was killed has left there is replaced; anything else at the path
    /// throws `fileExists`. The corresponding C calls are `open("/dev/ptmx")`, `ioctl(TIOCSPTLCK, TIOCGPTN)`,
    /// `tcsetattr` and `symlink`.
    package init(linkedAt path: String) throws(Errno) {
        let end = try Descriptor.open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK)
        let number = end.number
        var isLocked: Int32 = 0
        var index: UInt32 = 0
        // Sound, as the calls below: each structure is a local that outlives its call.
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
            // Its settings stay as long as this end is open.
            self.line = nil
            _ = consume line
        } else {
            openings = nil
            self.line = consume line
        }
    }

    /// True while a program has the device open; always where that cannot be known (C: `poll`).
    package var isOpened: Bool {
        guard line == nil else { return true }
        var entry = pollfd(fd: descriptor.number, events: 0, revents: 0)
        // Sound: one entry, a local.
        return unsafe poll(&entry, 1, 0) < 1 || entry.revents & Int16(POLLHUP) == 0
    }

    /// Calls `handler` after each opening of the device; nil where that cannot be known.
    package func watchOpenings(
        on loop: EventLoop,
        handler: @escaping () -> Void
    ) throws(Errno) -> EventLoop.Registration? {
        try openings?.watch(on: loop, handler: handler)
    }

    package func unwatchOpenings(_ registration: EventLoop.Registration, on loop: EventLoop) {
        openings?.unwatch(registration, on: loop)
    }

    /// Takes note of the openings so far.
    package func clearOpenings() { openings?.clear() }

    /// Discards what no program has read, so that the next one to open the device is not given it (C: `open` and
    /// `tcflush`).
    package func discardUnread() throws(Errno) {
        let opened = try Descriptor.open(device, O_RDWR | O_NOCTTY | O_NONBLOCK)
        // What is on its way first, then what has arrived.
        for (number, queue) in [(descriptor.number, TCOFLUSH), (opened.number, TCIFLUSH)] {
            _ = try SystemCall.run { tcflush(number, queue) }
        }
    }

    deinit {
        // A file that another process has put there since is not removed.
        if Self.target(of: path) == device { _ = unsafe unlink(path) }
    }

    /// The target of a symbolic link; nil where there is none (C: `readlink`).
    private static func target(of path: String) -> String? {
        var buffer = [CChar](repeating: 0, count: 64)
        // Sound: the kernel writes at most the buffer's bytes; a longer target is cut, and is none of ours.
        let count = unsafe readlink(path, &buffer, buffer.count)
        guard count > 0 else { return nil }
        return String(decoding: buffer.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

/// A watch on a file that is readable after a program has opened it.
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

    /// Takes note of the openings so far.
    func clear() {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while case .done(let count)? = try? descriptor.read(into: &buffer), count > 0 {}
    }
}
