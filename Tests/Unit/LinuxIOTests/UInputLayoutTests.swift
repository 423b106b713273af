// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
import LinuxIO
import Testing

@testable import Keystrokes

@Suite("The layout of an input event")
struct UInputLayoutTests {
    @Test("D-19: the encoder's events are the kernel's struct input_event, byte for byte")
    func sameAsTheKernel() {
        #expect(InputEvent.size == MemoryLayout<input_event>.size)
        #expect(UInputDevice.eventSize == MemoryLayout<input_event>.size)
        #expect(MemoryLayout<input_event>.size == (MemoryLayout<Int>.size == 8 ? 24 : 16))

        let events: [(ours: InputEvent, type: Int32, code: Int32, value: Int32)] = [
            (.key(.enter, down: true), EV_KEY, KEY_ENTER, 1), (.key(.leftShift, down: false), EV_KEY, KEY_LEFTSHIFT, 0),
            (.report, EV_SYN, SYN_REPORT, 0),
        ]
        for event in events {
            var theirs = input_event()
            theirs.type = UInt16(event.type)
            theirs.code = UInt16(event.code)
            theirs.value = event.value
            let bytes = withUnsafeBytes(of: &theirs) { Array($0) }
            let ours =
                [UInt8](repeating: 0, count: InputEvent.timeSize) + withUnsafeBytes(of: event.ours.word) { Array($0) }
            #expect(ours == bytes)
        }
    }
}
