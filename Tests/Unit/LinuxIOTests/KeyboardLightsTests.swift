// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
import LinuxIO
import Testing

@Suite("The lights of a keyboard")
struct KeyboardLightsTests {
    /// Returns the CapsLock state after the device has sent these events as `struct input_event`, with an arbitrary
    /// time.
    private func capsLock(after events: [(type: Int32, code: Int32, value: Int32)], cut: Int = 0) -> Bool? {
        var bytes: [UInt8] = []
        for event in events {
            var theirs = input_event()
            theirs.time.tv_sec = 1_700_000_000
            theirs.type = UInt16(event.type)
            theirs.code = UInt16(event.code)
            theirs.value = event.value
            bytes += withUnsafeBytes(of: &theirs) { Array($0) }
        }
        var found: [EventNode.Event] = []
        EventNode.parse(bytes.span.bytes.extracting(droppingLast: cut), into: &found)
        return KeyboardLights.capsLock(in: found)
    }

    @Test("The last word on CapsLock counts; other lights and other events say nothing of it")
    func decoding() {
        #expect(EV_LED == 0x11 && LED_CAPSL == 1)
        #expect(capsLock(after: []) == nil)
        #expect(capsLock(after: [(EV_LED, LED_CAPSL, 1)]) == true)
        #expect(capsLock(after: [(EV_LED, LED_CAPSL, 0)]) == false)
        #expect(capsLock(after: [(EV_LED, LED_CAPSL, 1), (EV_LED, LED_NUML, 0), (EV_SYN, SYN_REPORT, 0)]) == true)
        #expect(capsLock(after: [(EV_LED, LED_CAPSL, 1), (EV_LED, LED_CAPSL, 0)]) == false)
        #expect(capsLock(after: [(EV_LED, LED_NUML, 1), (EV_LED, LED_SCROLLL, 1)]) == nil)
        #expect(capsLock(after: [(EV_KEY, KEY_ESC, 1), (EV_SYN, SYN_MT_REPORT, 1)]) == nil)
    }

    @Test("A part of an event at the end is passed over", arguments: 1..<MemoryLayout<input_event>.size)
    func truncated(cut: Int) {
        #expect(capsLock(after: [(EV_LED, LED_CAPSL, 1), (EV_LED, LED_CAPSL, 0)], cut: cut) == true)
    }
}
