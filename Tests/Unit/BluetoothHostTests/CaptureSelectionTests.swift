// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import Testing

@Suite("Contents of a capture")
struct CaptureSelectionTests {
    private func record(_ index: UInt16, _ opcode: MonitorOpcode = .event, length: Int = 10) -> BtsnoopRecord {
        BtsnoopRecord(
            opcode: opcode,
            index: ControllerIndex(rawValue: index),
            time: 0,
            payload: [UInt8](repeating: 0, count: length)
        )
    }

    @Test("One controller's packets only, those before it was known included, and no talk of other programs")
    func oneController() {
        var selection = CaptureSelection()
        #expect(selection.take(record(0)) == nil)
        #expect(selection.take(record(1)) == nil)
        #expect(selection.take(record(1, MonitorOpcode(rawValue: 16))) == nil)
        #expect(selection.take(record(0xFFFF)) == nil)
        #expect(selection.follow(ControllerIndex(rawValue: 1)) == [record(1)])
        #expect(selection.take(record(1)) == record(1))
        #expect(selection.take(record(0)) == nil)
        #expect(selection.take(record(1, MonitorOpcode(rawValue: 13))) == nil)
        // The adapter has returned under another number.
        #expect(selection.follow(ControllerIndex(rawValue: 2)).isEmpty)
        #expect(selection.take(record(2)) == record(2))
        #expect(selection.take(record(1)) == nil)
    }

    @Test("Queued bytes are bounded; drops are counted in every later record")
    func bounded() {
        var selection = CaptureSelection()
        for _ in 0..<10_000 { #expect(selection.take(record(0, length: 1000)) == nil) }
        let waited = selection.follow(ControllerIndex(rawValue: 0))
        #expect(waited.count == CaptureSelection.waitingCapacity / 1024)
        #expect(selection.take(record(0))?.drops == UInt32(10_000 - waited.count))
    }
}
