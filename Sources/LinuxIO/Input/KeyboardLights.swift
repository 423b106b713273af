// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
package import SystemPackage

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
