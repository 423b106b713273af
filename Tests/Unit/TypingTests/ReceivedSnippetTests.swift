// SPDX-License-Identifier: GPL-2.0-or-later

import Control
import Keystrokes
import Testing
import Texts
import Typing

@Suite("Snippets that are typed for a barcode")
struct ReceivedSnippetTests {
    @Test("A file says which barcode types a snippet, whole, in halves, or a built-in one")
    func file() throws {
        let json =
            #"{"bold": {"received": "B1"}, "sig": {"text": "Jane>Doe", "received": "\u0002S"}, "a": {"text": "b"}}"#
        let snippets = try Snippets(json: Array(json.utf8), over: .habr)
        #expect(snippets[title: "bold"]?.received == Array("B1".utf8))
        #expect(snippets[title: "bold"]?.text == "<b></b>" && snippets[title: "bold"]?.leftPresses == 4)
        #expect(snippets[title: "sig"]?.received == [2, 0x53] && snippets[title: "sig"]?.leftPresses == 3)
        #expect(snippets[title: "a"]?.text == "b" && snippets[title: "a"]?.received == nil)
        #expect(Snippets(.habr).all.allSatisfy { $0.received == nil })
    }

    @Test(
        "A barcode that is named wrongly, or twice, is refused with the snippet's title",
        arguments: [
            (#"{"a": {"text": "b", "received": ""}}"#, "\"received\" has 0 bytes"),
            (#"{"a": {"text": "b", "received": 1}}"#, "\"received\" is no text"),
            (#"{"a": {"text": "b", "opening": "c"}}"#, "leave out the halves"),
            (
                #"{"a": {"received": "x"}, "bee": {"text": "c", "received": "x"}}"#,
                "\"bee\" are typed for the same scan"
            ),
            (#"{"a": {"text": "b", "recieved": "x"}}"#, "unknown member \"recieved\""),
        ]
    )
    func wrong(json: String, reason: String) {
        do throws(Snippets.Fault) {
            _ = try Snippets(json: Array(json.utf8))
            Issue.record("taken")
        } catch {
            #expect(error.description.contains(reason) && error.description.contains("\"a\""), "\(error)")
        }
    }

    @Test("256 bytes can be a snippet's barcode, and no more")
    func longest() {
        func isTaken(_ count: Int) -> Bool {
            let json = #"{"a": {"text": "b", "received": "\#(String(repeating: "x", count: count))"}}"#
            return (try? Snippets(json: Array(json.utf8))) != nil
        }
        #expect(isTaken(256) && !isTaken(257))
    }

    @Test(
        "The rules of scan mode take them with the way to the input point, where the keyboard may have Left"
    )
    func rules() throws {
        let snippets = try Snippets(json: Array(#"{"bold": {"received": "B1"}}"#.utf8), over: .habr)
        let left = try #require(KeyCode(name: "left"))
        let plain = try BarcodeRules()
        let rules = try #require(try snippets.meant(in: plain, layout: .us, beside: KeySet()))
        #expect(rules.keys.codes.contains(left) && !plain.keys.codes.contains(left))
        let altGr = KeySet([.rightAlt])
        let stiff = try #require(try snippets.meant(in: plain, layout: .us, beside: altGr))
        #expect(
            !stiff.keys.codes.contains(left) && stiff.keys.union(altGr).forbidden == nil && stiff.keys != plain.keys
        )
        #expect(try Snippets(.habr).meant(in: nil, layout: .us, beside: KeySet()) == nil)
    }

    @Test(
        "Without scan mode, or with a text that the layout lacks, they are refused by name before anything is typed"
    )
    func refused() throws {
        let cases: [(String, BarcodeRules?, [String])] = [
            (#"{"sig": {"text": "S", "received": "x"}}"#, nil, ["\"sig\"", "scan"]),
            (#"{"yen": {"text": "5¥", "received": "x"}}"#, try BarcodeRules(), ["\"yen\"", "¥", "us"]),
            (#"{"cr": {"text": "S", "received": "x\r"}}"#, try BarcodeRules(), ["can be no scan"]),
        ]
        for (json, rules, words) in cases {
            let snippets = try Snippets(json: Array(json.utf8))
            do throws(TypingError) {
                _ = try snippets.meant(in: rules, layout: .us, beside: KeySet())
                Issue.record("taken: \(json)")
            } catch {
                #expect(error.failure.status == .configuration)
                let said = "\(error.failure.cause) \(error.failure.remedy?.english ?? "")"
                for word in words { #expect(said.contains(word), "\(error)") }
            }
        }
    }
}
