// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import Control
import Daemon
import Testing
import Texts

@testable import blewedge

@Suite("The script of demo --tui")
struct DemoScriptTests {
    /// Returns a status with this number of typed bytes.
    private static func status(_ device: String, typed: Int, _ state: String = "connected", closed: Bool = false) throws
        -> StatusAnswer
    {
        var text = #"{"ok":true,"state":"\#(state)","device":"\#(device)","counts":{"typed":\#(typed)},"#
        text += #""selection":{"name":"\#(device)","address":"F0:F1:F2:F3:F4:F5","addressType":"random"}"#
        if closed { text += #","gate":"closed","gateReason":"no badge is near""# }
        return try #require(StatusAnswer(try JSONValue(Array((text + "}").utf8))))
    }

    @Test("X-17: the script follows the user's actions, and moves badge and scale out of range and back")
    func walk() throws {
        var model = TUIModel(language: .english)
        var script = DemoScript(now: .zero)
        func advance(_ seconds: Int, _ status: StatusAnswer) -> DemoScriptText {
            model.take(status)
            script.advance(model, now: .seconds(seconds))
            return script.step
        }
        script.advance(model, now: .zero)
        #expect(script.step == .choose)
        #expect(advance(1, try Self.status("Nordic Reader", typed: 0)) == .choose)
        #expect(advance(2, try Self.status("LINBLE-Z1", typed: 0)) == .text)
        #expect(advance(3, try Self.status("LINBLE-Z1", typed: 14)) == .text, "the page is another")
        _ = model.open(.check)
        #expect(advance(4, try Self.status("LINBLE-Z1", typed: 14, "lost")) == .text)
        #expect(advance(5, try Self.status("LINBLE-Z1", typed: 14)) == .chooseScale)
        #expect(advance(6, try Self.status("SCALE-15K", typed: 14)) == .weight)
        #expect(advance(7, try Self.status("SCALE-15K", typed: 14)) == .weight, "nothing is new")
        #expect(script.absent(now: .seconds(7)).isEmpty)
        #expect(advance(8, try Self.status("SCALE-15K", typed: 29)) == .badgeLeaves)
        #expect(script.absent(now: .seconds(8)) == [.badge])
        #expect(advance(16, try Self.status("SCALE-15K", typed: 29)) == .badgeLeaves)
        #expect(advance(17, try Self.status("SCALE-15K", typed: 29, closed: true)) == .badgeLeaves, "too short to read")
        #expect(advance(18, try Self.status("SCALE-15K", typed: 29, closed: true)) == .badgeReturns)
        #expect(script.absent(now: .seconds(27)) == [.badge] && script.absent(now: .seconds(28)).isEmpty)
        #expect(advance(27, try Self.status("SCALE-15K", typed: 29)) == .badgeReturns, "not away for long enough")
        #expect(advance(28, try Self.status("SCALE-15K", typed: 29, closed: true)) == .badgeReturns)
        #expect(advance(29, try Self.status("SCALE-15K", typed: 29)) == .linkBreaks)
        #expect(script.absent(now: .seconds(29)) == [.linble, .nordic, .scale])
        #expect(advance(38, try Self.status("SCALE-15K", typed: 29, "lost")) == .linkBreaks, "too short to read")
        #expect(advance(39, try Self.status("SCALE-15K", typed: 29)) == .linkBreaks)
        #expect(advance(40, try Self.status("SCALE-15K", typed: 29, "lost")) == .linkReturns)
        #expect(script.absent(now: .seconds(49)) == [.linble, .nordic, .scale])
        #expect(advance(49, try Self.status("SCALE-15K", typed: 29)) == .linkReturns, "not away for long enough")
        #expect(script.absent(now: .seconds(50)).isEmpty)
        #expect(advance(50, try Self.status("SCALE-15K", typed: 29)) == .end)
        #expect(advance(51, try Self.status("SCALE-15K", typed: 29, "lost")) == .end)
    }

    @Test("X-17: the step is shown above the last line, on at most a third of the screen; only q ends the demo")
    func frame() {
        for language in Language.allCases {
            var model = TUIModel(language: language)
            _ = model.open(.check)
            #expect(model.press(.character("q"), now: .seconds(1)).isEmpty)
            model.script = DemoScript(now: .zero).message
            for (columns, rows) in [(40, 12), (80, 24), (200, 50)] {
                let text = PageFrame.screen(model, columns: columns, rows: rows).text
                let step = DemoScriptText.choose.text(language).filter { $0 != " " }
                #expect(text.joined().filter { $0 != " " }.contains(step))
                #expect(text.last?.hasPrefix("F10") == true)
            }
            #expect(PageFrame.screen(model, columns: 10, rows: 3).text.count == 3)
            for page in Page.allCases {
                _ = model.open(page)
                #expect(model.press(.character("q"), now: .seconds(page.number * 10)) == [.waitForMore])
                #expect(model.waited(now: .seconds(page.number * 10 + 1)) == [.quit])
            }
        }
    }
}
