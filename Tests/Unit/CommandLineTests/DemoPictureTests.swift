// SPDX-License-Identifier: GPL-2.0-or-later

import Daemon
import Testing
import Texts

@testable import blewedge

@Suite("The demo's picture")
struct DemoPictureTests {
    @Test("Each stage has a line with its figures, drawn over the one before, never wider than the terminal")
    func drawing() {
        var stages = DemoPicture.Stages()
        stages.barcodes = (2, 8)
        stages.state = Message(detail: "connected: LINBLE-DEMO")
        (stages.notifications, stages.bytes, stages.waiting) = (2, 28, 14)
        (stages.typed, stages.events, stages.writes) = (14, 56, 3)
        stages.text = "4902778020142"
        var picture = DemoPicture()
        let first = picture.draw(stages, columns: 80, in: .english)
        #expect(first.hasPrefix("\r\u{1B}[K  scanner  barcode 2 of 8  #####...............\n"))
        #expect(first.contains("  link     2 notifications, 28 bytes\n"))
        #expect(first.contains("  ring     14 bytes waiting\n") && first.contains("  keys     56 events in 3 writes\n"))
        #expect(first.hasSuffix("  screen   4902778020142\n"))
        #expect(picture.draw(stages, columns: 80, in: .english).isEmpty)
        stages.waiting = 0
        let second = picture.draw(stages, columns: 20, in: .english)
        #expect(second.hasPrefix("\u{1B}[7A\r\u{1B}[K  scanner  barcode "))
        #expect(
            second.split(separator: "\n").allSatisfy { $0.split(separator: "K").last.map { $0.count <= 19 } ?? true }
        )
    }

    @Test("In Japanese the stages' names stand in the same columns, two of them for each character")
    func japanese() {
        var stages = DemoPicture.Stages()
        stages.barcodes = (2, 8)
        stages.text = "4902778020142"
        let lines = stages.lines(.japanese)
        #expect(lines.first == "  リーダ   バーコード 2/8  #####...............")
        #expect(lines.contains("  待ち行列 入力待ち 0バイト") && lines.last == "  画面     4902778020142")
    }
}
