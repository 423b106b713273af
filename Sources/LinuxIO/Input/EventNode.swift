// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
package import SystemPackage

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

    /// The node, for the event loop.
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
    /// The device, for the event loop.
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
