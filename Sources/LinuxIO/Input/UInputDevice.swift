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
