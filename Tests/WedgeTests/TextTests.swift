// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import Testing
import Wedge

@Suite("Texts in two languages")
struct TextTests {
    /// Texts that are the same in both languages: units, marks and names of keys and of things.
    private static let common: Set<String> = ["RSSI", "OK", "BS", "PgUp/PgDn", "[  ]", "gate.vt", "line"]

    @Test("LK-24: every text is there in both languages, and Japanese is no copy of the English")
    func complete() {
        #expect(TextTable.whole.entries.flatMap(\.texts).count > 600)
        for (id, text) in TextTable.whole.entries.flatMap(\.texts) {
            let isSaid = Language.allCases.allSatisfy { !text[$0].allSatisfy(\.isWhitespace) }
            #expect(isSaid, "\(id) is empty in a language")
            #expect(text.english.unicodeScalars.allSatisfy { $0.isASCII }, "\(id): every terminal has ASCII")
            let isJapanese = text.japanese.unicodeScalars.contains { (0x3040...0x9FFF).contains($0.value) }
            // Where nothing but what a text is told of is said, there is nothing to translate.
            let isBare = !LocalText.outside(text.english).contains(where: \.isLetter)
            #expect(
                isJapanese || isBare || Self.common.contains(text.japanese),
                "\(id) is no Japanese: \(text.japanese)"
            )
        }
    }

    @Test("LK-24: no two texts have the same id, so that the control socket names one")
    func names() {
        let ids = TextTable.whole.entries.flatMap(\.texts).map(\.id)
        #expect(Set(ids).count == ids.count)
    }

    @Test("LK-24: both languages are told of the same, and no place is left open")
    func places() {
        for entry in TextTable.whole.entries {
            var all: Set<Int> = []
            for (id, text) in entry.texts {
                let places = LocalText.places(in: text.english)
                all.formUnion(places)
                #expect(places == LocalText.places(in: text.japanese), "\(id)")
                // Commands are the same in every language.
                #expect(
                    Self.commands(in: text.english) == Self.commands(in: text.japanese),
                    "\(id) names other commands"
                )
            }
            #expect(all == Set(1..<(all.count + 1)), "\(entry.id) begins with {1} and leaves none out")
        }
        #expect(
            PageText.askSwitch.text(.english, "A {2}", "B") == "Another device is chosen already: A {2}. Switch to B?"
        )
        #expect(PageText.notTyped.text(.english) == "Nothing is typed: ")
        #expect(LocalText.places(in: "{} {x} {1 {2} {") == [2])
    }

    private static func commands(in text: String) -> [Substring] {
        text.split(separator: "`", omittingEmptySubsequences: false).enumerated().filter { $0.offset % 2 == 1 }
            .map(\.element)
    }

    @Test("LK-24: every state has its text and its hint, in the words of the LINBLE keyboard")
    func states() {
        #expect(Session.State.allCases.count == 9)
        #expect(Session.State.connecting.text(.japanese, "LINBLE-TEST") == "接続を試みています: LINBLE-TEST")
        #expect(Session.State.connected.text(.japanese, "LINBLE-TEST") == "通信可能です: LINBLE-TEST")
        #expect(Session.State.failed.hint.japanese.hasPrefix("アドバタイズしているか確認して下さい"))
        #expect(PageText.use.text(.japanese) == "つかう" && PageText.cancel.text(.japanese) == "キャンセル")
    }

    @Test("LK-24: a state's sentence says what it is, why, and what can be done, in both languages")
    func sentences() {
        let choice = DeviceChoice.name("LINBLE-TEST")
        let reason = Reason("it does not answer", remedy: "bring it near")
        #expect(
            Session.State.failed.sentence(choice, reason, in: .english)
                == "no connection to LINBLE-TEST: it does not answer (bring it near); is it advertising? trying again"
        )
        #expect(
            Session.State.connected.sentence(choice, nil, in: .english)
                == "connected to LINBLE-TEST: typing what it sends"
        )
        #expect(Session.State.unselected.sentence(nil, nil, in: .japanese).contains("`blewedge use DEVICE`"))
        #expect(Session.State.lost.sentence(nil, nil, in: .japanese).contains("3秒後"))
    }

    @Test("LK-24: status says the state and everything else in both languages")
    func status() throws {
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

    @Test(
        "LK-24: the language is the locale's where it can be shown, or as it is forced",
        arguments: [
            (["LANG": "ja_JP.UTF-8"], Language.japanese),
            (["LANG": "ja_JP.utf8", "TERM": "xterm"], .japanese),
            (["LANG": "ja"], .english),
            (["LANG": "ja_JP.eucJP"], .english),
            (["LANG": "ja_JP.UTF-8@x"], .japanese),
            (["LANG": "jam_JM.UTF-8"], .english),
            (["LANG": "en_US.UTF-8", "LC_MESSAGES": "ja_JP.UTF-8"], .japanese),
            (["LANG": "ja_JP.UTF-8", "LC_MESSAGES": "en_US.UTF-8"], .english),
            (["LANG": "ja_JP.UTF-8", "LC_ALL": "C"], .english),
            (["LANG": "ja_JP.UTF-8", "LC_ALL": ""], .japanese),
            (["LANG": "ja_JP.UTF-8", "LC_CTYPE": "C"], .english),
            (["LANG": "ja_JP.UTF-8", "TERM": "linux"], .english),
            (["LANG": "ja_JP.UTF-8", "TERM": "linux", "BLEWEDGE_LANG": "ja"], .japanese),
            (["LANG": "ja_JP.UTF-8", "BLEWEDGE_LANG": "en"], .english),
            (["LANG": "ja_JP.UTF-8", "BLEWEDGE_LANG": "fr"], .japanese),
            ([:], .english),
        ]
    )
    func language(environment: [String: String], language: Language) {
        #expect(Language { environment[$0] } == language)
    }

    @Test("LK-1: a time is said in the greatest unit that it fills")
    func times() {
        let texts = [-1, 0, 59, 60, 3599, 3600, 86_399, 86_400].map { TimeLabelText.text(seconds: $0, .english) }
        #expect(texts == ["0 s", "0 s", "59 s", "1 min", "59 min", "1 h", "23 h", "1 d"])
        #expect(TimeLabelText.text(seconds: 61, .japanese) == "1分")
    }
}
