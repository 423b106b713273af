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

        /// An event from its parts.
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

    /// Opens a node for reading; `permissionDenied` where it is not ours to read.
    ///
    /// The corresponding C function is `open`.
    package init(_ path: String) throws(Errno) {
        descriptor = try Descriptor.open(path, O_RDONLY | O_NONBLOCK)
        // After what can throw: Swift 6.2 destroys twice what is set before it.
        buffer = [UInt8](repeating: 0, count: 64 * UInputDevice.eventSize)
    }

    /// Appends the events that wait, at most 64; false when there are none.
    ///
    /// The corresponding C function is `read`.
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
