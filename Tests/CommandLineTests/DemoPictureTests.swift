// SPDX-License-Identifier: GPL-2.0-or-later

import Testing

@testable import blewedge

@Suite("The demo's picture")
struct DemoPictureTests {
    @Test("X-1: each stage has a line with its figures, drawn over the one before, never wider than the terminal")
    func drawing() {
        var stages = DemoPicture.Stages()
        stages.barcodes = (2, 8)
        stages.state = "connected: LINBLE-DEMO"
        (stages.notifications, stages.bytes, stages.waiting) = (2, 28, 14)
        (stages.typed, stages.events, stages.writes) = (14, 56, 3)
        stages.text = "4902778020142"
        var picture = DemoPicture()
        let first = picture.draw(stages, columns: 80)
        #expect(first.hasPrefix("\r\u{1B}[K  scanner  barcode 2 of 8  #####...............\n"))
        #expect(first.contains("  link     2 notifications, 28 bytes\n"))
        #expect(first.contains("  ring     14 bytes wait\n") && first.contains("  keys     56 events in 3 writes\n"))
        #expect(first.hasSuffix("  screen   4902778020142\n"))
        #expect(picture.draw(stages, columns: 80).isEmpty)
        stages.waiting = 0
        let second = picture.draw(stages, columns: 20)
        #expect(second.hasPrefix("\u{1B}[7A\r\u{1B}[K  scanner  barcode "))
        #expect(
            second.split(separator: "\n").allSatisfy { $0.split(separator: "K").last.map { $0.count <= 19 } ?? true }
        )
    }
}
