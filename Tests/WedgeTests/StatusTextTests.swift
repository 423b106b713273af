// SPDX-License-Identifier: GPL-2.0-or-later

import Testing
import Texts
import Wedge

@Suite("Status for people")
struct StatusTextTests {
    private func value(_ text: String) throws(JSONValue.Fault) -> JSONValue { try JSONValue(Array(text.utf8)) }

    @Test(
        "LK-24: status for people: the state in the first line, then all else in its order, counts only where they count"
    )
    func lines() throws {
        let answer = try value(
            """
            {"ok":true,"version":1,"state":"lost","reason":"time-out","device":"A","selection":{"name":"A\\u001b[2J","address":"F0"},\
            "paused":false,"counts":{"received":12,"typed":0,"tooShort":2},"lastReceived":null,"causes":[],"pid":7}
            """
        )
        #expect(
            StatusText.lines(answer, in: .english) == [
                "the link to A was lost: time-out; trying again in 3 s", "  selection  name A\u{FFFD}[2J, address F0",
                "  paused     no",
                "  counts     received 12, too short 2", "  pid        7",
            ]
        )
        #expect(
            StatusText.lines(try value(#"{"state":"newer","seconds":1}"#), in: .english) == ["newer", "  seconds  1"]
        )
        let later = try value(#"{"state":"newer","seconds":2,"last":{"secondsAgo":3,"length":4}}"#)
        #expect(StatusText.lasting(later) == (try value(#"{"state":"newer","last":{"length":4}}"#)))
        #expect(StatusText.lines(.array([])) == [])
        #expect(StatusText.lines(.object([]), in: .english) == ["unknown"])
    }

    @Test("LK-25, D-6: status says when and how much was received last")
    func lastReceived() throws {
        let answer = try value(#"{"state":"newer","lastReceived":{"secondsAgo":3,"length":14}}"#)
        #expect(StatusText.lines(answer) == ["newer", "  last received  seconds ago 3, length 14"])
    }

    @Test("LK-24: status says the state and everything else in both languages")
    func languages() throws {
        let answer = try JSONValue(
            Array(
                #"""
                {"ok":true,"version":1,"state":"lost","reason":"time-out","device":"L\u0007","seconds":3,"gate":"open",
                "paused":false,"counts":{"received":7,"typed":7,"lost":0,"ringFull":0},"news":"x","newThing":1,
                "rivals":[]}
                """#.utf8
            )
        )
        #expect(
            StatusText.lines(answer, in: .english) == [
                "the link to L\u{FFFD} was lost: time-out; trying again in 3 s",
                "  seconds    3", "  gate       open", "  paused     no",
                "  counts     received 7, typed 7", "  news       x", "  new thing  1",
            ]
        )
        let japanese = StatusText.lines(answer, in: .japanese)
        #expect(japanese.first == "接続が切れました: L\u{FFFD}: time-out; 切断から3秒後に再接続を試みます")
        #expect(japanese.contains("  経過秒数   3") && japanese.contains("  バイト数   受信 7, 入力 7"))
        let unknown = try JSONValue(Array(#"{"ok":true,"state":"asleep"}"#.utf8))
        #expect(StatusText.lines(unknown, in: .english) == ["asleep"])
    }
}
