// SPDX-License-Identifier: GPL-2.0-or-later

import SensorValues
import TestSupport
import Testing

@Suite("Which values are typed")
struct ValueReaderTests {
    /// Returns the outcomes of the payloads, given in hexadecimal, with the text of those that are typed.
    private static func outcomes(_ reader: inout ValueReader, _ payloads: [String]) throws -> [String] {
        try payloads.map { payload in
            let bytes = try #require(VectorFile.bytes(payload))
            let (outcome, text) = reader.receive(bytes.span)
            return text.isEmpty ? "\(outcome)" : "\(outcome) \(String(decoding: text, as: UTF8.self))"
        }
    }

    /// Weight in kg, with the bits stable (20), removed (80) and overload (01) before it.
    private static let layout = NumberLayout(
        "weight",
        unit: "kg",
        offset: 1,
        length: 1,
        stable: .init(offset: 0, mask: 0x20),
        removed: .init(offset: 0, mask: 0x80),
        overload: .init(offset: 0, mask: 0x01)
    )

    @Test(
        "A stable value is typed once, and again after an unstable one; a load that was put on before the start is not"
    )
    func stable() throws {
        var reader = ValueReader(ValueSettings(.number(Self.layout)), isAdvertised: true)
        let payloads = [
            "a009", "a009", "0005", "0009", "2009", "2009", "a009", "2107", "a007", "0003", "2009", "0001", "a004",
            "2006",
        ]
        let outcomes = [
            "removed", "repeated", "unstable", "unstable", "typed 9\r", "repeated", "unchanged", "overload", "removed",
            "unstable", "typed 9\r", "unstable", "typed 4\r", "typed 6\r",
        ]
        #expect(try Self.outcomes(&reader, payloads) == outcomes)
        for outcome in ValueOutcome.allCases {
            let count = outcomes.count { $0.split(separator: " ").first == "\(outcome)" }
            #expect(reader.account[outcome] == UInt64(count), "\(outcome)")
        }
        #expect(reader.account.sum == 14)
    }

    @Test(
        "Notified values are not repetitions of each other; an advertised one is known by its bytes, or by its packet"
    )
    func repetitions() throws {
        let template = try ReadingTemplate("{value:.2} {unit}")
        let each = ValueSettings(.bthome, template: template, moment: .each)
        let payloads = ["40065e1f", "40065e1f", "40000106 5e1f", "400001065f1f", "400002065f1f", "400002065f1f"]
        var notified = ValueReader(each, isAdvertised: false)
        #expect(
            try Self.outcomes(&notified, payloads) == [
                "typed 80.30 kg\r", "typed 80.30 kg\r", "typed 80.30 kg\r", "typed 80.31 kg\r", "typed 80.31 kg\r",
                "typed 80.31 kg\r",
            ]
        )
        var advertised = ValueReader(each, isAdvertised: true)
        #expect(
            try Self.outcomes(&advertised, payloads) == [
                "typed 80.30 kg\r", "repeated", "typed 80.30 kg\r", "repeated", "typed 80.31 kg\r", "repeated",
            ]
        )
    }

    @Test("A payload without a usable value is counted by its fault, and the one after it is not a repetition")
    func faults() throws {
        var reader = ValueReader(ValueSettings(.bthome, quantity: "weight"), isAdvertised: true)
        #expect(
            try Self.outcomes(
                &reader,
                ["41065e1f", "41065e1f", "20065e1f", "4006", "400164", "", "40065e1f", "40065e1f"]
            )
                == [
                    "encrypted", "repeated", "unreadable", "unreadable", "unreadable", "unreadable", "typed 80.3\r",
                    "repeated",
                ]
        )
        var scale = ValueReader(ValueSettings(.weightScale), isAdvertised: false)
        #expect(try Self.outcomes(&scale, ["00ffff", "00"]) == ["notMeasured", "unreadable"])
    }

    @Test("The next link knows no value of the last one, and the counts continue")
    func nextLink() throws {
        var reader = ValueReader(ValueSettings(.number(Self.layout)), isAdvertised: true)
        #expect(try Self.outcomes(&reader, ["0001", "2009", "0002"]) == ["unstable", "typed 9\r", "unstable"])
        reader.endLink()
        #expect(try Self.outcomes(&reader, ["0002", "2009"]) == ["unstable", "typed 9\r"])
        reader.endLink()
        #expect(try Self.outcomes(&reader, ["a009", "2009", "2009"]) == ["removed", "typed 9\r", "repeated"])
        #expect(reader.account[.typed] == 3 && reader.account.sum == 8)
        var waiting = ValueReader(ValueSettings(.number(Self.layout), moment: .request), isAdvertised: false)
        #expect(try Self.outcomes(&waiting, ["2005"]) == ["kept"])
        waiting.endLink()
        #expect(waiting.request() == nil)
    }

    @Test("A value that is typed on request waits until then, and the latest one is typed as often as it is requested")
    func request() throws {
        var reader = ValueReader(ValueSettings(.number(Self.layout), moment: .request), isAdvertised: false)
        #expect(reader.request() == nil)
        #expect(
            try Self.outcomes(&reader, ["0005", "2005", "2005", "2006"]) == ["unstable", "kept", "unchanged", "kept"]
        )
        #expect(reader.request() == Array("6\r".utf8) && reader.request() == Array("6\r".utf8))
    }
}
