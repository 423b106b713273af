// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import Testing

@testable import LinuxIO

extension KeyboardLightsTests {
    @Test("A light is read, and that no more waits to be read is no error")
    func reading() throws {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        try #require(socketpair(AF_UNIX, type, 0, &ends) == 0)
        defer { close(ends[1]) }
        var lights = KeyboardLights(Descriptor(owning: ends[0], .keyboard))
        #expect(try lights.readCapsLock() == nil)
        // `struct input_event` of a 64-bit machine: the time, EV_LED, LED_CAPSL, on.
        let event = [UInt8](repeating: 0, count: 16) + [0x11, 0, 1, 0, 1, 0, 0, 0]
        #expect(write(ends[1], event, event.count) == event.count)
        #expect(try lights.readCapsLock() == true)
        #expect(try lights.readCapsLock() == nil)
    }
}
