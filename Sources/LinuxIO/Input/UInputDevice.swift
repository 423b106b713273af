// SPDX-License-Identifier: GPL-2.0-or-later

import CBluetooth
import CLinux
package import SystemPackage

/// A virtual keyboard created through /dev/uinput.
///
/// When the value is destroyed, the kernel removes the device and releases its keys, even while a `KeyboardLights` is
/// in use.
///
/// The set of keys is fixed when the keyboard is created: the kernel drops events of any other key. Declaring
/// other codes enlarges the event queue of each application, because the kernel sizes the queue for the longest
/// frame.
package struct UInputDevice: ~Copyable, Sendable {
    /// Device node for creating virtual input devices.
    package static let path = "/dev/uinput"
    /// Vendor, product and version numbers that identify the keyboard (D-11); the bus is BUS_VIRTUAL.
    package static let identity: (vendor: UInt16, product: UInt16, version: UInt16) = (0xB1ED, 0x0001, 1)
    /// Size of one event, `struct input_event`, in bytes.
    package static let eventSize = MemoryLayout<input_event>.size

    /// Descriptor for writing events.
    package let descriptor: Descriptor
    /// Event node that applications open, such as `/dev/input/event3`; nil if the kernel created none (no evdev
    /// module).
    package let eventNode: String?

    /// Creates a keyboard with exactly the given key codes.
    ///
    /// It also has a CapsLock light if `hasCapsLockLight` is true, and relative axes with the codes `axes`, for which
    /// no events may be sent.
    ///
    /// Throws `noSuchFileOrDirectory` (ENOENT) or `operationNotSupportedByDevice` (ENODEV) if the uinput module is
    /// missing, `permissionDenied` if this process may not open the node. The corresponding C calls are `open` and
    /// `ioctl(UI_SET_KEYBIT, UI_SET_RELBIT, UI_DEV_SETUP, UI_DEV_CREATE)`.
    package init(
        name: String,
        keyCodes: some Sequence<UInt16>,
        axes: [UInt16],
        hasCapsLockLight: Bool = false
    ) throws(Errno) {
        let device = try Descriptor.open(Self.path, O_RDWR | O_NONBLOCK, .keyboard)
        let number = device.number
        let set = { (request: Int, argument: UInt) throws(Errno) in
            let site = CallSite(.keyboard, .ioctl, option: Int32(truncatingIfNeeded: request))
            _ = try SystemCall.run(site) { blewedge_ioctl(number, UInt(request), argument) }
        }
        try set(Int(blewedge_UI_SET_EVBIT), UInt(EV_KEY))
        for code in keyCodes { try set(Int(blewedge_UI_SET_KEYBIT), UInt(code)) }
        if !axes.isEmpty { try set(Int(blewedge_UI_SET_EVBIT), UInt(EV_REL)) }
        for code in axes { try set(Int(blewedge_UI_SET_RELBIT), UInt(code)) }
        if hasCapsLockLight {
            try set(Int(blewedge_UI_SET_EVBIT), UInt(EV_LED))
            try set(Int(blewedge_UI_SET_LEDBIT), UInt(LED_CAPSL))
        }

        var setup = uinput_setup()
        setup.id.bustype = UInt16(BUS_VIRTUAL)
        setup.id.vendor = Self.identity.vendor
        setup.id.product = Self.identity.product
        setup.id.version = Self.identity.version
        // Sound: the name is copied with room for its terminating zero, and both structures outlive the calls.
        unsafe withUnsafeMutableBytes(of: &setup.name) { bytes in
            unsafe bytes.copyBytes(from: name.utf8.prefix(bytes.count - 1))
        }
        _ = try SystemCall.run(CallSite(.keyboard, .ioctl, option: Int32(blewedge_UI_DEV_SETUP))) {
            unsafe blewedge_ioctl_pointer(number, UInt(blewedge_UI_DEV_SETUP), &setup)
        }
        try set(Int(blewedge_UI_DEV_CREATE), 0)
        eventNode = Self.eventNode(of: number)
        descriptor = device
    }

    deinit {
        // Closing the descriptor does not remove the device while a `KeyboardLights` is in use. The call fails only if
        // the device no longer exists.
        _ = blewedge_ioctl(descriptor.number, UInt(blewedge_UI_DEV_DESTROY), 0)
    }

    /// Returns a handle to the keyboard's lights for another thread (C: `fcntl(F_DUPFD_CLOEXEC)`).
    package func lights() throws(Errno) -> KeyboardLights { KeyboardLights(try descriptor.duplicate()) }

    /// Writes complete events.
    ///
    /// The kernel processes all events passed in one call, even if the program is killed during the call. The
    /// corresponding C function is `write`.
    package func write(_ events: borrowing RawSpan) throws(Errno) -> NonBlocking<Int> {
        let result = try descriptor.write(events)
        // The kernel accepts key events immediately or not at all, so waiting would not help.
        if result == .wouldBlock { throw .wouldBlock }
        return result
    }

    private static func eventNode(of number: Int32) -> String? {
        var name = [UInt8](repeating: 0, count: 64)
        // Sound: the request contains the buffer's length, and the kernel writes a terminating zero within that length.
        // Without a name, the directory is that of all devices, which has no event nodes.
        _ = try? SystemCall.run(CallSite(.keyboard, .ioctl)) {
            unsafe blewedge_ioctl_pointer(number, blewedge_UI_GET_SYSNAME_64, &name)
        }
        let directory = "/sys/devices/virtual/input/" + String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
        return FileSystem.names(in: directory).first { $0.hasPrefix("event") }.map { "/dev/input/" + $0 }
    }
}

/// Tries the system calls with which the product starts, and undoes each of them immediately.
package enum DeviceProbe {
    /// Returns the error that occurs when the product's Bluetooth sockets are created; nil if they can be created.
    ///
    /// The corresponding C calls are `socket(AF_BLUETOOTH, SOCK_RAW, BTPROTO_HCI)` and
    /// `socket(AF_BLUETOOTH, SOCK_SEQPACKET, BTPROTO_L2CAP)`.
    package static func bluetoothFault() -> Errno? {
        do {
            _ = try ManagementSocket()
            _ = try Descriptor.bluetoothSocket(.link, type: blewedge_SOCK_SEQPACKET, protocol: BTPROTO_L2CAP)
            return nil
        } catch {
            return error
        }
    }

    /// Returns the error that occurs when /dev/uinput is opened; nil if it can be opened.
    ///
    /// If the node exists before its module is loaded, opening it makes the kernel load the module. The corresponding
    /// C function is `open`.
    package static func uinputFault() -> Errno? {
        do {
            _ = try Descriptor.open(UInputDevice.path, O_RDWR | O_NONBLOCK, .keyboard)
            return nil
        } catch {
            return error
        }
    }

    /// Returns the error that occurs when the file is opened for reading; nil if it can be opened (C: `open`).
    package static func readingFault(_ path: String) -> Errno? {
        do {
            _ = try Descriptor.open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
            return nil
        } catch {
            return error
        }
    }

    /// Returns true if the kernel creates event nodes for input devices, or if this is unknown.
    ///
    /// The source is `/proc/bus/input/handlers` (Linux, drivers/input/input.c).
    package static func hasEventNodes(proc: String = "/proc") -> Bool {
        guard let handlers = try? FileSystem.contents(of: "\(proc)/bus/input/handlers", limit: 1 << 16) else {
            return true
        }
        let words = handlers.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }
        return words.contains { $0.elementsEqual("Name=evdev".utf8) }
    }
}

/// An event node of an input device, such as `/dev/input/event3`, opened for reading as an application opens it.
///
/// Each open descriptor has its own event queue, so reading from this one removes no events from the queues of
/// applications.
package struct EventNode: ~Copyable {
    /// An event without its timestamp.
    package struct Event: Hashable, Sendable {
        /// The event's type, such as EV_SYN or EV_KEY.
        package var type: UInt16
        /// The event's code within its type, such as SYN_REPORT, SYN_DROPPED or a key code.
        package var code: UInt16
        /// The event's value; for a key, 1 means pressed, 0 released, 2 repeated.
        package var value: Int32

        package init(type: UInt16, code: UInt16, value: Int32) {
            self.type = type
            self.code = code
            self.value = value
        }

        /// Event that reports that the kernel discarded all unread events of this queue (SYN_DROPPED).
        package static let dropped = Event(type: UInt16(EV_SYN), code: UInt16(SYN_DROPPED), value: 0)
        /// Event that ends a frame (SYN_REPORT).
        package static let report = Event(type: UInt16(EV_SYN), code: UInt16(SYN_REPORT), value: 0)

        /// True if the event reports that an application has switched a light (EV_LED); such an event types nothing.
        package var isLight: Bool { type == UInt16(EV_LED) }
    }

    package let descriptor: Descriptor
    private var buffer: [UInt8]

    /// Opens a node for reading; throws `permissionDenied` if this process may not read it (C: `open`).
    package init(_ path: String) throws(Errno) {
        descriptor = try Descriptor.open(path, O_RDONLY | O_NONBLOCK)
        // Set this after the last throwing call: if the initialiser throws, Swift 6.2 destroys a field twice that is
        // already set.
        buffer = [UInt8](repeating: 0, count: 64 * UInputDevice.eventSize)
    }

    /// Appends the pending events, at most 64; returns false if there are none (C: `read`).
    package mutating func read(into events: inout [Event]) throws(Errno) -> Bool {
        guard case .done(let count) = try descriptor.read(into: &buffer), count > 0 else { return false }
        // Sound: all bytes of the array are initialised.
        unsafe Self.parse(buffer.span.bytes.extracting(first: count), into: &events)
        return true
    }

    /// Appends the events in `bytes`, each a `struct input_event`; an incomplete event at the end is ignored.
    package static func parse(_ bytes: RawSpan, into events: inout [Event]) {
        forEach(in: bytes) { events.append($0) }
    }

    /// Calls `body` with each event in `bytes`, like `parse`, but allocates no memory.
    package static func forEach(in bytes: RawSpan, _ body: (Event) -> Void) {
        let size = UInputDevice.eventSize
        for start in stride(from: 0, through: bytes.byteCount - size, by: size) {
            // Type, code and value are the last eight bytes of an event, in the machine's byte order.
            let tail = bytes.extracting((start + size - 8)..<(start + size))
            // Sound: the span contains the eight bytes, and any bytes are valid integers.
            unsafe body(
                Event(
                    type: tail.unsafeLoadUnaligned(as: UInt16.self),
                    code: tail.unsafeLoadUnaligned(fromByteOffset: 2, as: UInt16.self),
                    value: tail.unsafeLoadUnaligned(fromByteOffset: 4, as: Int32.self)
                )
            )
        }
    }
}

/// An event node that this process has grabbed, so that no terminal, desktop or application receives its events.
package struct GrabbedEventNode: ~Copyable, Sendable {
    private let descriptor: Descriptor

    /// Opens and grabs the node.
    ///
    /// Throws `deviceBusy` if another process has grabbed it. The corresponding C calls are `open` and
    /// `ioctl(EVIOCGRAB)`.
    package init(_ path: String) throws(Errno) {
        let node = try Descriptor.open(path, O_RDONLY | O_NONBLOCK)
        let number = node.number
        _ = try SystemCall.run { blewedge_ioctl(number, UInt(blewedge_EVIOCGRAB), 1) }
        descriptor = node
    }

    /// Waits at most `milliseconds` for events, and returns the number of bytes read, or 0 if there were no events (C:
    /// `poll` and `read`).
    package func read(into buffer: inout [UInt8], waiting milliseconds: Int32) throws(Errno) -> Int {
        var entry = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
        // Sound: poll gets one entry, a local variable. If poll fails or times out, the read below returns
        // `wouldBlock`.
        _ = unsafe poll(&entry, 1, milliseconds)
        return switch try descriptor.read(into: &buffer) {
        case .done(let count): count
        case .wouldBlock: 0
        }
    }
}

/// The lights of a virtual keyboard, which applications switch on and off.
///
/// The foreground terminal sets the lights of a new keyboard to the state of its own locks (`kbd_start` in
/// `drivers/tty/vt/keyboard.c`), with or without the light driver (`input-leds`). A display server sets them to the
/// state of its seat. Both then send each change. The kernel reports only changes, and the lights of a new keyboard are
/// off, so a light without an event is off.
///
/// The queue has room for sixteen unread events, and overwrites the oldest without notice. The last event is correct
/// nevertheless, because the events of a light alternate between on and off.
package struct KeyboardLights: ~Copyable {
    package let descriptor: Descriptor
    private var buffer = [UInt8](repeating: 0, count: 16 * UInputDevice.eventSize)

    init(_ descriptor: consuming Descriptor) {
        self.descriptor = descriptor
    }

    /// Reads the pending events; returns the resulting state of CapsLock, or nil if no event concerns CapsLock.
    ///
    /// Throws `noSuchDevice` if the keyboard no longer exists. The corresponding C function is `read`.
    package mutating func readCapsLock() throws(Errno) -> Bool? {
        var capsLock: Bool?
        while case .done(let count) = try descriptor.read(into: &buffer), count > 0 {
            var events: [EventNode.Event] = []
            // Sound: all bytes of the array are initialised.
            unsafe EventNode.parse(buffer.span.bytes.extracting(first: count), into: &events)
            capsLock = Self.capsLock(in: events) ?? capsLock
        }
        return capsLock
    }

    /// Returns the state of CapsLock after these events; nil if no event concerns the CapsLock light.
    package static func capsLock(in events: [EventNode.Event]) -> Bool? {
        events.last { $0.isLight && $0.code == UInt16(LED_CAPSL) }.map { $0.value != 0 }
    }
}
