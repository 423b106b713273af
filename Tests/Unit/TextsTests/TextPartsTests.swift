// SPDX-License-Identifier: GPL-2.0-or-later

import Testing
import Texts

@Suite("Widths, times and messages")
struct TextPartsTests {
    @Test("A character of East Asia is two columns wide, and the one beside its block is one")
    func widths() {
        // Unicode Standard Annex #11: first and last character of wide blocks, and their narrow neighbours.
        let wide =
            "\u{1100}\u{115F}\u{2E80}\u{303E}\u{3041}\u{33FF}\u{3400}\u{4DBF}\u{4E00}\u{9FFF}\u{A000}\u{A4CF}"
            + "\u{AC00}\u{D7A3}\u{F900}\u{FAFF}\u{FE30}\u{FE6F}\u{FF00}\u{FF60}\u{FFE0}\u{FFE6}\u{1F300}\u{1F64F}"
            + "\u{1F900}\u{1F9FF}\u{20000}\u{3FFFD}"
        let narrow =
            "a\u{10FF}\u{1160}\u{2E7F}\u{303F}\u{3040}\u{4DC0}\u{4DFF}\u{A4D0}\u{ABFF}\u{D7A4}\u{F8FF}"
            + "\u{FB00}\u{FE2F}\u{FE70}\u{FEFF}\u{FF61}\u{FFDF}\u{FFE7}\u{1F2FF}\u{1F650}\u{1F8FF}\u{1FA00}"
            + "\u{1FFFF}\u{3FFFE}"
        for scalar in wide.unicodeScalars { #expect(DisplayWidth.columns(Character(scalar)) == 2, "\(scalar.value)") }
        for scalar in narrow.unicodeScalars { #expect(DisplayWidth.columns(Character(scalar)) == 1, "\(scalar.value)") }
        #expect(DisplayWidth.columns(of: "aあb") == 4 && DisplayWidth.columns(of: "") == 0)
    }

    @Test("A text is cut before the column that it exceeds, and padded to it; a table has columns of equal width")
    func tables() {
        let cuts = (0...5).map { DisplayWidth.cut("aあbc", to: $0) }
        #expect(cuts == ["", "a", "a", "aあ", "aあb", "aあbc"])
        let padded = (0...6).map { DisplayWidth.padded("aあbc", to: $0) }
        #expect(padded == ["", "a", "a ", "aあ", "aあb", "aあbc", "aあbc "])
        #expect(
            DisplayWidth.table([["a", "bb", "c "], ["あい", "b", "ccc"], ["", "", ""]]) == [
                "a     bb  c ", "あい  b   ccc", "          ",
            ]
        )
        #expect(DisplayWidth.table([]).isEmpty && DisplayWidth.table([["x"], ["yy"]]) == ["x", "yy"])
    }

    @Test("A time is written in seconds or milliseconds, and read with its unit; nothing else is a time")
    func times() {
        let texts: [(String, Duration)] = [
            ("0s", .zero), ("1s", .seconds(1)), ("1ms", .milliseconds(1)), ("1500ms", .milliseconds(1500)),
            ("999999999s", .seconds(999_999_999)), ("999999999ms", .milliseconds(999_999_999)),
        ]
        for (text, time) in texts {
            #expect(TimeText.duration(text) == time && TimeText.text(time) == text, "\(text)")
        }
        #expect(TimeText.duration("2") == .seconds(2) && TimeText.duration("0ms") == .zero)
        #expect(TimeText.duration("0123456789") == nil && TimeText.duration("000000009s") == .seconds(9))
        for text in ["", "s", "ms", "m", "1m", "-1", "+1", "1.5", "1 s", " 1", "1000000000", "1000000000ms", "/", ":"] {
            #expect(TimeText.duration(text) == nil, "\(text)")
        }
        #expect(TimeText.text(.microseconds(1999)) == "1ms")
        #expect(Duration.seconds(2).inNanoseconds == 2_000_000_000 && Duration.nanoseconds(3).inNanoseconds == 3)
        #expect(Duration.seconds(2).inMilliseconds == 2000 && Duration.microseconds(2999).inMilliseconds == 2)
        #expect(Duration.seconds(Int64.max).inNanoseconds == .max)
    }

    @Test("A place is a digit in braces: all nine are filled, one without an argument is empty, other braces stay")
    func places() {
        let digits = (1...9).map { "{\($0)}" }.joined(separator: "-")
        let arguments = (1...9).map { "\($0)" }
        #expect(Message(LocalText(digits, ""), id: nil, arguments).english == "1-2-3-4-5-6-7-8-9")
        #expect(Message(LocalText("{1}{2}{0}", ""), id: nil, ["a"]).english == "a")
        #expect(Message(LocalText("{x} {1 {12} {{1}} {", ""), id: nil, ["a"]).english == "{x} {1 {12} {a} {")
        #expect(LocalText.places(in: "{2}{10}{ {3}") == [2, 3] && LocalText.outside("a{1}b{2}{") == "ab{")
    }

    @Test("Only an argument that is a whole word of a command is quoted, and an empty one too")
    func words() {
        func filled(_ text: String, _ argument: String) -> String {
            Message(LocalText(text, ""), id: nil, [argument]).english
        }
        #expect(filled("`x {1}` {1}", "a b") == "`x 'a b'` a b")
        #expect(filled("`x --to={1}`", "a b") == "`x --to=a b`" && filled("x {1}", "a b") == "x a b")
        #expect(filled("`x {1}`, `y {1}`", "a b") == "`x 'a b'`, `y 'a b'`")
        #expect(filled("`x {1}`", "") == "`x ''`")
        for plain in ["a_1", "x@y", "50%", "a+b=c", "a:b", "a,b", "a./b", "-x"] {
            #expect(filled("`x {1}`", plain) == "`x \(plain)`")
        }
        for special in ["a;b", "~", "*", "$x", "a\"b", "a\\b", "#a", "a|b", "(a)"] {
            #expect(filled("`x {1}`", special) == "`x '\(special)'`")
        }
    }

    @Test("Names and examples are joined in order; the first line of a message is all of one that has no other")
    func joined() {
        let names = ["a", "b", "c", "d"]
        let lists = (0...4).map { Message.list(Array(names.prefix($0))).english }
        #expect(lists[0].isEmpty && lists[1] == "a" && lists[2] == "a and b")
        for (count, list) in lists.enumerated() {
            let words = list.split { " ,".contains($0) }.filter { $0 != "and" }.map(String.init)
            #expect(words == Array(names.prefix(count)))
        }
        let examples = names.map { Message(detail: $0) }
        #expect(Message.listed([]).english.isEmpty && Message.listed(Array(examples.prefix(1))).english == "a")
        #expect(Message.listed(examples).english == "a, b, c, d")
        #expect(Message(detail: "a\nb\nc").firstLine.english == "a" && Message(detail: "a").firstLine.english == "a")
        let known = ReasonText.gateClosed.message()
        #expect(known.firstLine.says(ReasonText.gateClosed) && !known.says(LogText.nothingWrong))
        #expect(Message(detail: "x").followed(by: Message(detail: "y")).english == "x (y)")
        #expect(Message(detail: "x") == Message(detail: "x") && Message(detail: "x") != Message(detail: "y"))
    }

    @Test("A message on the control socket is its id and its arguments, and is read back in both languages")
    func forms() throws {
        let inner = ReasonText.gateClosed.message()
        let message = PlainText.inBrackets.message(inner, "x")
        let form = try #require(message.form)
        #expect(form.text == #"["PlainText.inBrackets",["ReasonText.gateClosed"],"x"]"#)
        let table = TextTable.common
        let read = try #require(Message(form: form, in: table))
        for language in Language.allCases { #expect(read.text(language) == message.text(language)) }
        #expect(Message(detail: "x").form == nil)
        let plain = PlainText.inBrackets.message(Message(detail: "d"), "x")
        #expect(plain.form?.text == #"["PlainText.inBrackets","d","x"]"#)
        let broken = [
            "[]", "7", #"["PlainText.none"]"#, #"["PlainText.inBrackets",7]"#, #"["PlainText.inBrackets",["?"]]"#,
            #"[["PlainText.inBrackets"]]"#,
        ]
        for text in broken { #expect(Message(form: try JSONValue(Array(text.utf8)), in: table) == nil, "\(text)") }
        #expect(table["PlainText.inBrackets"] == PlainText.inBrackets.texts && table["x"] == nil)
    }

    @Test("A lock that is held is reported with the process, and with the signal's exit status")
    func locks() {
        let cases: [(signal: Int32?, status: Texts.ExitStatus)] = [
            (nil, .timeout), (2, .interrupted), (15, .terminated),
        ]
        for (signal, status) in cases {
            let failure = CommandFailure(lock: "/run/x", heldBy: 41, signal: signal)
            #expect(failure.status == status && failure.cause == FileFaultText.lockedBy.message("/run/x", "41"))
        }
        let unknown = CommandFailure(lock: "/run/x", heldBy: 0, signal: nil)
        #expect(unknown.cause == FileFaultText.locked.message("/run/x") && unknown.remedy != nil)
        #expect(Texts.ExitStatus.allCases.map(\.rawValue) == [0, 64, 69, 70, 74, 75, 77, 78, 130, 143])
        let other = CommandFailure(.usage, FileFaultText.locked, "x", remedy: Message(detail: "y"), kind: .noDaemon)
        #expect(other.remedy?.english == "y" && other.kind == .noDaemon && Reason(other).remedy?.english == "y")
    }
}
