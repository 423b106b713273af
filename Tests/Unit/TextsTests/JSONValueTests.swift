// SPDX-License-Identifier: GPL-2.0-or-later

import TestSupport
import Testing
import Texts

@Suite("Reading JSON")
struct JSONValueTests {
    private func value(_ text: String) throws(JSONValue.Fault) -> JSONValue { try JSONValue(Array(text.utf8)) }

    @Test("Every kind of value is read; members keep their order")
    func kinds() throws {
        let text = #"{"b":[null,true,false,0,-9223372036854775808,1.5,1e3,"\u00e9\n\ud83d\ude00"],"a":{},"":[]}"#
        #expect(
            try value(text)
                == .object([
                    (
                        "b",
                        .array([
                            .null, .bool(true), .bool(false), .integer(0), .integer(.min), .real(1.5), .real(1000),
                            .string("é\n😀"),
                        ])
                    ), ("a", .object([])), ("", .array([])),
                ])
        )
        #expect(try value(" 7 ") == .integer(7))
        #expect(try value("{\"a\":1}") != value("{\"a\":2}"))
        #expect(try value("{\"a\":1,\"b\":2}") != value("{\"b\":2,\"a\":1}"))
        #expect(try value("{\"a\":1}")["a"]?.integer == 1)
        #expect(try value("{\"a\":1}")["b"] == nil)
        #expect(try value("[1]")["a"] == nil)
    }

    @Test("A value is written as it was read, and is converted only to its own type")
    func parts() throws {
        let text = #"{"a":[null,true,false,-7,1.5,"x\n"],"b":{},"c":[]}"#
        #expect(try value(text).text == text)
        let values = ["null", "true", "7", "1.5", "\"x\"", "[null]", "{}"].compactMap { try? value($0) }
        #expect(values.map(\.bool) == [nil, true, nil, nil, nil, nil, nil])
        #expect(values.map(\.integer) == [nil, nil, 7, nil, nil, nil, nil])
        #expect(values.map(\.string) == [nil, nil, nil, nil, "x", nil, nil])
        #expect(values.map(\.array) == [nil, nil, nil, nil, nil, [.null], nil])
        for (index, one) in values.enumerated() {
            #expect(values.enumerated().allSatisfy { ($0.element == one) == ($0.offset == index) })
        }
        #expect(try value("{\"a\":1}") != value("{\"b\":1}") && value("{\"a\":1}") != value("{\"a\":1,\"b\":1}"))
        let fault = #expect(throws: JSONValue.Fault.self) { try value("[\n1,\n]") }
        #expect(fault?.line == 3 && fault?.description.hasPrefix("line 3, column 1: ") == true)
        var object = JSONObject()
        #expect(object.isEmpty && object.text == "{}" && object.line == Array("{}\n".utf8))
        object.add("v", JSONValue.array([.null]))
        object.add("o", [JSONObject(), object])
        #expect(!object.isEmpty && object.text == #"{"v":[null],"o":[{},{"v":[null]}]}"#)
        #expect(JSONObject.quoted("\u{1F600}\u{1}\u{10FFFF}", as: .toml) == #""😀\u0001\U0010ffff""#)
        #expect(JSONObject.quoted("\u{1}\u{10FFFF}\"\\\r\t") == #""\u0001\udbff\udfff\"\\\r\t""#)
    }

    @Test(
        "What RFC 8259 does not allow is refused, with its line and column",
        arguments: [
            "", " ", "{", "[1,]", "{\"a\":1,}", "{a:1}", "{'a':1}", "[1 2]", "[01]", "[+1]", "[.5]", "[1.]", "[NaN]",
            "[0x1]",
            "\"\t\"", "\"\\x41\"", "\"\\ud800\"", "\"\\u0000\"", "nul", "[1]]", "{} {}", "// c\n1", "{\"a\":1,\"a\":2}",
            "[9223372036854775808]", "[1e999]", "\u{FEFF}{}",
        ]
    )
    func refused(text: String) throws {
        #expect(throws: JSONValue.Fault.self) { try value(text) }
    }

    @Test("Bytes that are no UTF-8, every truncation, and deep nesting are refused; nothing stops the reader")
    func hostile() throws {
        #expect(throws: JSONValue.Fault.self) { try JSONValue([0x22, 0xFF, 0x22]) }
        #expect(throws: JSONValue.Fault.self) { try JSONValue([0x22, 0xC0, 0x80, 0x22]) }
        let whole = Array(#"{"a":["b",{"c":"é"}],"d":-1.5e3}"#.utf8)
        for count in 0..<whole.count {
            #expect(throws: JSONValue.Fault.self) { try JSONValue(Array(whole.prefix(count))) }
        }
        for depth in [33, 3000, 300_000] {
            let text = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
            #expect(throws: JSONValue.Fault.self, "\(depth)") { try value(text) }
        }
        #expect(throws: Never.self) { try value(String(repeating: "[", count: 32) + String(repeating: "]", count: 32)) }
        var random = SeededGenerator(seed: 17)
        for _ in 0..<RunCount.from("BLEWEDGE_CONTROL_RUNS", usual: 5000) {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: .min ... .max, using: &random)
            }
            _ = try? JSONValue(bytes)
        }
    }

    @Test("D-9: nothing in a text that is written acts on a terminal that shows it")
    func controls() throws {
        for value in Array(0x00...0x1F as ClosedRange<UInt8>) + Array(0x7F...0x9F) {
            let control = Unicode.Scalar(value)
            let written = JSONObject.quoted("a\(control)b")
            #expect(written.unicodeScalars.allSatisfy { (0x20...0x7E).contains($0.value) }, "\(value)")
            if value != 0 { #expect(try self.value(written) == .string("a\(control)b")) }
        }
    }

    @Test("Any text that the JSON writer writes is read back unchanged")
    func roundTrip() throws {
        var random = SeededGenerator(seed: 18)
        for _ in 0..<RunCount.from("BLEWEDGE_CONTROL_RUNS", usual: 1000) {
            let scalars = (0..<20).compactMap { _ in Unicode.Scalar(UInt32.random(in: 1...0x2FFF, using: &random)) }
            var text = ""
            text.unicodeScalars.append(contentsOf: scalars)
            var inner = JSONObject()
            inner.add("list", [text, ""])
            var object = JSONObject()
            object.add(text, text)
            object.add("inner", inner)
            object.add("none", JSONObject?.none)
            object.add(membersOf: inner)
            object.add(membersOf: JSONObject())
            let list = JSONValue.array([.string(text), .string("")])
            #expect(
                try value(object.text)
                    == .object([(text, .string(text)), ("inner", .object([("list", list)])), ("list", list)])
            )
        }
    }

    @Test("Integers are written with all their digits: the least and the greatest of each type, and nothing for nil")
    func integers() {
        var object = JSONObject()
        object.add("a", 0)
        object.add("b", Int.min)
        object.add("c", UInt.max)
        object.add("d", Int8.min)
        object.add("e", UInt8.max)
        object.add("f", UInt16.max)
        object.add("g", Int32.min)
        object.add("h", UInt32.max)
        object.add("i", Int64.max)
        object.add("j", UInt64(10_000_000_000_000_000_000))
        object.add("k", Int?.none)
        let values: [any CustomStringConvertible] = [
            0, Int.min, UInt.max, Int8.min, UInt8.max, UInt16.max, Int32.min, UInt32.max, Int64.max,
            10_000_000_000_000_000_000 as UInt64,
        ]
        let members = zip("abcdefghij", values).map { "\"\($0)\":\($1)" }
        #expect(object.text == "{\(members.joined(separator: ","))}")
    }
}
