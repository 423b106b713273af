// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Control
import Daemon
import Keystrokes
import Testing
import Texts

@testable import blewedge

@Suite("The status line")
struct StatusLineTests {
    private func facts(_ state: Session.State, received: UInt64 = 0, discarded: UInt64 = 0) -> StatusLine.Facts {
        var bytes = Ledger.Snapshot()
        bytes.received = received
        bytes.discarded = discarded
        bytes.typed = received - discarded
        return StatusLine.Facts(state: state, device: "LINBLE-\u{1B}[2J", isPaused: false, bytes: bytes)
    }

    private func line(_ facts: StatusLine.Facts, _ isFlashing: Bool = false, columns: Int = 100) -> String {
        StatusLine.text(facts, isFlashing: isFlashing, columns: columns, .english)
    }

    @Test("It says the state, the device, what was received and typed, and the rest where there is some")
    func counts() {
        let quiet = line(facts(.connected))
        #expect(quiet.hasPrefix("connected to LINBLE-"))
        #expect(quiet.hasSuffix("  received 0  typed 0"))
        #expect(line(facts(.connected, received: 42, discarded: 2)).hasSuffix("  received 42  typed 40  discarded 2"))
        var all = facts(.connected, received: 42)
        all.bytes.rejections[Ledger.Rejection.untypable.rawValue] = 1
        all.bytes.gated = 2
        all.bytes.losses[Ledger.Loss.ringFull.rawValue] = 3
        all.bytes.waiting = 4
        #expect(line(all, columns: 200).hasSuffix("  received 42  typed 42  rejected 1  gated 2  lost 3  waiting 4"))
        #expect(line(facts(.bluetoothOff)).hasPrefix("Bluetooth is off"))
        var paused = facts(.connected)
        paused.isPaused = true
        #expect(line(paused).hasPrefix("Paused"))
        for state in Session.State.allCases {
            let name = LocalName.printable("LINBLE-\u{1B}[2J")
            #expect(line(facts(state)).hasPrefix(state.text(.english, name)), "\(state)")
        }
    }

    @Test("T11: a note of several lines, for people or a journal, has nothing that turns or moves")
    func notes() {
        #expect(Console.line("a\u{202E}b\u{1B}[2J") == "blewedge: a\u{FFFD}b\u{FFFD}[2J\n")
        #expect(Console.printable("a\u{2028}\nb\r") == "a\u{FFFD}\nb\u{FFFD}")
    }

    @Test("Received data is marked at the right edge for less than half a second")
    func flash() {
        #expect(!line(facts(.connected)).contains("*"))
        let marked = line(facts(.connected, received: 1), true, columns: 90)
        #expect(marked.hasSuffix("* received") && marked.count == 90)
        #expect(StatusLine.flashTime < .milliseconds(500))
    }

    @Test("It is one line that fits, whatever the device is called and however small the terminal is")
    func fits() {
        for columns in [0, 1, 5, 12, 20, 39, 79] {
            for isFlashing in [false, true] {
                for language in [Language.english, .japanese] {
                    var facts = facts(.connected, received: .max, discarded: 7)
                    facts.device = "バーコードリーダ\n\u{1B}]0;x\u{7}"
                    let text = StatusLine.text(facts, isFlashing: isFlashing, columns: columns, language)
                    #expect(DisplayWidth.cut(text, to: columns) == text)
                    #expect(!text.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F })
                }
            }
        }
    }
}
