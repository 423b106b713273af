// SPDX-License-Identifier: GPL-2.0-or-later

import CBluetooth
import CLinux
package import SystemPackage

/// A virtual keyboard made through /dev/uinput.
///
/// It goes away, its keys released by the kernel, when its owner lets go of it, even while `lights` are in use.
///
/// The keys are declared once: the kernel drops any other. What else is declared makes the event queue of each reader
/// larger: the kernel provides for the longest frame.
package struct UInputDevice: ~Copyable, Sendable {
    /// The node through which devices are made.
    package static let path = "/dev/uinput"
    /// The vendor and product numbers by which the keyboard can be told from others (D-11); bus is BUS_VIRTUAL.
    package static let identity: (vendor: UInt16, product: UInt16, version: UInt16) = (0xB1ED, 0x0001, 1)
    /// The bytes of one event, `struct input_event`.
    package static let eventSize = MemoryLayout<input_event>.size

    /// The device, for writing events.
    package let descriptor: Descriptor
    /// The event node that readers open, such as `/dev/input/event3`; nil where the kernel made none (no evdev module).
    package let eventNode: String?

    /// Makes a keyboard that can press the given key codes and no others, with a CapsLock light if asked for.
    ///
    /// It has relative `axes` of these codes, on which nothing is to be sent.
    ///
    /// Throws `noSuchFileOrDirectory` (ENOENT) or `operationNotSupportedByDevice` (ENODEV) where the uinput module is
    /// missing, `permissionDenied` where the node is not ours to open. The corresponding C calls are `open` and
    /// `ioctl(UI_SET_KEYBIT, UI_SET_RELBIT, UI_DEV_SETUP, UI_DEV_CREATE)`.
    package init(
        name: String,
        keyCodes: some Sequence<UInt16>,
        axes: [UInt16],
        hasCapsLockLight: Bool = false
    ) throws(Errno) {
        let device = try Descriptor.open(Self.path, O_RDWR | O_NONBLOCK, .keyboard)
        let (number, site) = (device.number, CallSite(.keyboard, .ioctl))
        let set = { (request: Int, argument: UInt) throws(Errno) in
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
        // Sound: the name is copied with room for its final zero, and both structures outlive the calls.
        unsafe withUnsafeMutableBytes(of: &setup.name) { bytes in
            unsafe bytes.copyBytes(from: name.utf8.prefix(bytes.count - 1))
        }
        _ = try SystemCall.run(site) { unsafe blewedge_ioctl_pointer(number, UInt(blewedge_UI_DEV_SETUP), &setup) }
        try set(Int(blewedge_UI_DEV_CREATE), 0)
        eventNode = Self.eventNode(of: number)
        descriptor = device
    }

    deinit {
        // Closing is not enough while `lights` are in use. The call fails only for a device that is gone already.
        _ = blewedge_ioctl(descriptor.number, UInt(blewedge_UI_DEV_DESTROY), 0)
    }

    /// The keyboard's lights, for another thread (C: `fcntl(F_DUPFD_CLOEXEC)`).
    package func lights() throws(Errno) -> KeyboardLights { KeyboardLights(try descriptor.duplicate()) }

    /// Writes whole events.
    ///
    /// The kernel takes all of one call, even when the program is killed in the middle of it. The corresponding C
    /// function is `write`.
    package func write(_ events: borrowing RawSpan) throws(Errno) -> NonBlocking<Int> {
        let result = try descriptor.write(events)
        // It takes key events at once, or not at all: there is nothing to wait for.
        if result == .wouldBlock { throw .wouldBlock }
        return result
    }

    private static func eventNode(of number: Int32) -> String? {
        var name = [UInt8](repeating: 0, count: 64)
        // Sound: the request carries the buffer's length, and the kernel ends the name with a zero within it.
        let length = try? SystemCall.run(CallSite(.keyboard, .ioctl)) {
            unsafe blewedge_ioctl_pointer(number, blewedge_UI_GET_SYSNAME_64, &name)
        }
        guard length != nil else { return nil }
        let directory = "/sys/devices/virtual/input/" + String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
        return FileSystem.names(in: directory).first { $0.hasPrefix("event") }.map { "/dev/input/" + $0 }
    }
}

/// Tries of the product's first system calls, undone at once.
package enum DeviceProbe {
    /// The error of making the product's Bluetooth sockets; nil where they can be made.
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

    /// The error of opening /dev/uinput; nil where it can be opened.
    ///
    /// A node that is there before its module makes the kernel load the module. The corresponding C function is `open`.
    package static func uinputFault() -> Errno? {
        do {
            _ = try Descriptor.open(UInputDevice.path, O_RDWR | O_NONBLOCK, .keyboard)
            return nil
        } catch {
            return error
        }
    }

    /// The error of opening the file for reading; nil where it can be opened (C: `open`).
    package static func readingFault(_ path: String) -> Errno? {
        do {
            _ = try Descriptor.open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
            return nil
        } catch {
            return error
        }
    }

    /// True where the kernel makes event nodes for input devices, and where it does not tell (Linux,
    /// drivers/input/input.c (`/proc/bus/input/handlers`)).
    package static func hasEventNodes(proc: String = "/proc") -> Bool {
        guard let handlers = try? FileSystem.contents(of: "\(proc)/bus/input/handlers", limit: 1 << 16) else {
            return true
        }
        let words = handlers.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }
        return words.contains { $0.elementsEqual("Name=evdev".utf8) }
    }
}

/// The reading end of an input device, such as `/dev/input/event3`, as every application has it.
///
/// Every reader has a queue of its own, so this one takes nothing from others.
package struct EventNode: ~Copyable {
    /// One event, without its time.
    package struct Event: Hashable, Sendable {
        /// The event's type, such as EV_SYN or EV_KEY.
        package var type: UInt16
        /// The code within its type, such as SYN_REPORT, SYN_DROPPED or a key.
        package var code: UInt16
        /// The value; of a key 1 is down, 0 up, 2 repeated.
        package var value: Int32

        package init(type: UInt16, code: UInt16, value: Int32) {
            self.type = type
            self.code = code
            self.value = value
        }

        /// The kernel has thrown away the events that this reader had not read (SYN_DROPPED).
        package static let dropped = Event(type: UInt16(EV_SYN), code: UInt16(SYN_DROPPED), value: 0)
        /// A frame ends (SYN_REPORT).
        package static let report = Event(type: UInt16(EV_SYN), code: UInt16(SYN_REPORT), value: 0)

        /// True for the change of a light, which readers of the keys switch, and which types nothing (EV_LED).
        package var isLight: Bool { type == UInt16(EV_LED) }
    }

    package let descriptor: Descriptor
    private var buffer: [UInt8]

    /// Opens a node for reading; `permissionDenied` where it is not ours to read (C: `open`).
    package init(_ path: String) throws(Errno) {
        descriptor = try Descriptor.open(path, O_RDONLY | O_NONBLOCK)
        // After what can throw: Swift 6.2 destroys twice what is set before it.
        buffer = [UInt8](repeating: 0, count: 64 * UInputDevice.eventSize)
    }

    /// Appends the events that wait, at most 64; false when there are none (C: `read`).
    package mutating func read(into events: inout [Event]) throws(Errno) -> Bool {
        guard case .done(let count) = try descriptor.read(into: &buffer), count > 0 else { return false }
        // Sound: the bytes of an array of bytes are all initialised.
        unsafe Self.parse(buffer.span.bytes.extracting(first: count), into: &events)
        return true
    }

    /// Appends the events that lie in `bytes`, each a `struct input_event`; a part of one at the end is passed over.
    package static func parse(_ bytes: RawSpan, into events: inout [Event]) {
        forEach(in: bytes) { events.append($0) }
    }

    /// Hands over each event that lies in `bytes`, as `parse` does, without memory for them.
    package static func forEach(in bytes: RawSpan, _ body: (Event) -> Void) {
        let size = UInputDevice.eventSize
        for start in stride(from: 0, through: bytes.byteCount - size, by: size) {
            // Type, code and value are the last eight bytes of an event, in the machine's order.
            let tail = bytes.extracting((start + size - 8)..<(start + size))
            // Sound: the span holds the eight bytes, and any bytes make integers.
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

/// The event node of an input device, held so that nobody else hears the device: no terminal, no desktop, no
/// application.
package struct GrabbedEventNode: ~Copyable, Sendable {
    private let descriptor: Descriptor

    /// Opens the node and takes the device for itself.
    ///
    /// Throws `deviceBusy` where another has done so. The corresponding C calls are `open` and `ioctl(EVIOCGRAB)`.
    package init(_ path: String) throws(Errno) {
        let node = try Descriptor.open(path, O_RDONLY | O_NONBLOCK)
        let number = node.number
        _ = try SystemCall.run { blewedge_ioctl(number, UInt(blewedge_EVIOCGRAB), 1) }
        descriptor = node
    }

    /// Waits for events, at most `milliseconds`, and answers how many bytes of them there are; 0 when none came (C:
    /// `poll` and `read`).
    package func read(into buffer: inout [UInt8], waiting milliseconds: Int32) throws(Errno) -> Int {
        var entry = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
        // Sound: one entry, a local. Where it fails or nothing came, the read below would block, and says so.
        _ = unsafe poll(&entry, 1, milliseconds)
        return switch try descriptor.read(into: &buffer) {
        case .done(let count): count
        case .wouldBlock: 0
        }
    }
}

/// The lights of a virtual keyboard, as the readers of its keys switch them.
///
/// The virtual terminal in front gives a new keyboard the state of its locks (`kbd_start` in
/// `drivers/tty/vt/keyboard.c`), with the light driver (`input-leds`) or without, and a display server that of its
/// seat; after that each tells of changes. The kernel passes on changes only, and a keyboard begins dark: so a light
/// without an event is off. Events that nobody has read yet are kept in sixteen places, the oldest overwritten without
/// notice; since one light only goes on and off by turns, the last one read is right all the same.
package struct KeyboardLights: ~Copyable {
    package let descriptor: Descriptor
    private var buffer = [UInt8](repeating: 0, count: 16 * UInputDevice.eventSize)

    init(_ descriptor: consuming Descriptor) {
        self.descriptor = descriptor
    }

    /// Reads the waiting events; returns whether CapsLock is on after them, nil where none was about it.
    ///
    /// Throws `noSuchDevice` where the keyboard has gone. The corresponding C function is `read`.
    package mutating func readCapsLock() throws(Errno) -> Bool? {
        var capsLock: Bool?
        while case .done(let count) = try descriptor.read(into: &buffer), count > 0 {
            var events: [EventNode.Event] = []
            // Sound: the bytes of an array of bytes are all initialised.
            unsafe EventNode.parse(buffer.span.bytes.extracting(first: count), into: &events)
            capsLock = Self.capsLock(in: events) ?? capsLock
        }
        return capsLock
    }

    /// The state of CapsLock after these events; nil where none is about its light.
    package static func capsLock(in events: [EventNode.Event]) -> Bool? {
        events.last { $0.isLight && $0.code == UInt16(LED_CAPSL) }.map { $0.value != 0 }
    }
}
