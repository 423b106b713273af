// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import SensorValues
import TestSupport
import Testing

@Suite("Values of sensors")
struct SensorValuesTests {
    private static func decode(_ format: Substring, _ payload: [UInt8]) throws -> SensorValues {
        switch format {
        case "bthome": try BTHome.decode(payload.span)
        case "xiaomi-scale": try XiaomiScale.scale(payload.span)
        case "xiaomi-body-scale": try XiaomiScale.bodyScale(payload.span)
        default: try WeightMeasurement.decode(payload.span)
        }
    }

    /// Returns the text of each reading by its quantity, and the state.
    private static func facts(_ values: SensorValues) -> [String: String] {
        var facts: [String: String] = [:]
        for reading in values.readings {
            switch reading.value {
            case .number(let number): facts[reading.quantity] = number.text()
            case .word(let word): facts[reading.quantity] = word
            }
        }
        facts["stable"] = values.isStable.map { $0 ? "1" : "0" }
        facts["removed"] = values.isRemoved.map { $0 ? "1" : "0" }
        facts["packet"] = values.packet.map { "\($0)" }
        return facts
    }

    @Test("Each sample has the readings that its source states, and no others")
    func samples() throws {
        var count = 0
        for line in try VectorFile.lines("sensor-values.txt") {
            let fields = line.text.split(separator: "|", omittingEmptySubsequences: false).map {
                $0.split(separator: " ").joined(separator: " ")
            }
            let payload = try #require(VectorFile.bytes(fields[2]))
            if fields[3].hasPrefix("fault=") {
                let fault = #expect(throws: SensorFault.self, "\(fields[0])") {
                    _ = try Self.decode(fields[1][...], payload)
                }
                #expect(fault.map { "fault=\($0)" } == fields[3], "\(fields[0])")
                count += 1
                continue
            }
            let values = try Self.decode(fields[1][...], payload)
            var wanted: [String: String] = [:]
            for fact in fields[3].split(separator: " ") {
                let parts = fact.split(separator: "=", maxSplits: 1)
                wanted[String(parts[0])] = String(parts[1])
            }
            let main = try #require(wanted["what"])
            wanted["what"] = nil
            let unit = wanted.removeValue(forKey: "unit")
            wanted[main] = wanted.removeValue(forKey: "value")
            #expect(Self.facts(values) == wanted, "\(fields[0])")
            let reading = values.readings.first { $0.quantity == main }
            #expect(reading?.unit == (unit == "-" ? "" : unit), "\(fields[0])")
            count += 1
        }
        #expect(count > 130)
    }

    @Test("A payload that is cut off anywhere has fewer values or a fault, and never an address or a length as a value")
    func cut() throws {
        for payload in ["42b2188d38c1a404138a01", "40530548656c6c6f0164", "0cb03605f500d606"] {
            let whole = try #require(VectorFile.bytes(payload))
            for count in whole.indices {
                for format in ["bthome", "xiaomi-scale", "xiaomi-body-scale", "weight-scale"] {
                    let cut = try? Self.decode(format[...], Array(whole[..<count]))
                    let all = try? Self.decode(format[...], whole)
                    guard let cut, let all else { continue }
                    #expect(cut.readings.count <= all.readings.count)
                }
            }
        }
    }

    @Test("Numbers have the decimal places that they need, or as many as are wanted, rounded half away from zero")
    func numbers() {
        let cases: [(Int64, Int, Int?, String)] = [
            (0, 0, nil, "0"), (0, -3, 2, "0.00"), (80_300, -3, nil, "80.3"), (80_300, -3, 3, "80.300"),
            (-5, -3, nil, "-0.005"), (-5, -3, 2, "-0.01"), (-4, -3, 2, "0.00"), (5, -1, 0, "1"), (25, -2, 1, "0.3"),
            (24, -2, 1, "0.2"), (999, -3, 2, "1.00"), (12, 3, nil, "12000"), (12, 3, 1, "12000.0"),
            (7, 0, 9, "7.000000000"),
            (.max, 0, 2, "9223372036854775807.00"), (.min, 0, nil, "-9223372036854775808"),
            (.max, -18, nil, "9.223372036854775807"),
            (.max, -18, 0, "9"), (15, -1, -4, "2"), (1, -40, 2, "0.00"), (3, 0, 99, "3.000000000000000000"),
        ]
        for (digits, exponent, places, text) in cases {
            #expect(DecimalNumber(digits, exponent: exponent).text(places: places) == text)
        }
        #expect(DecimalNumber(1500, exponent: -3) == DecimalNumber(15, exponent: -1))
        #expect("\(DecimalNumber(-15, exponent: -1))" == "-1.5")
    }

    @Test("A template puts value, unit and quantity into its text; what it does not know is refused with its place")
    func templates() throws {
        let reading = SensorReading("weight", .number(DecimalNumber(80_305, exponent: -3)), unit: "kg")
        let cases = [
            ("{value}", "80.305"), ("{value:.1} {unit}", "80.3 kg"), ("{value:.0}", "80"),
            ("{quantity}={value:.3}{unit};", "weight=80.305kg;"),
            ("{{{value}}}", "{80.305}"), ("é{value}\r", "é80.305\r"),
        ]
        for (template, text) in cases { #expect(try ReadingTemplate(template).text(reading) == text) }
        #expect(ReadingTemplate.usual.text(reading) == "80.305")
        #expect(try ReadingTemplate("{value:.2}{unit}").text(SensorReading("button", .word("press"))) == "press")
        let faults: [(String, ReadingTemplate.Fault)] = [
            ("", .noValue), ("{unit}", .noValue), ("kg", .noValue), ("a{value", .unpairedBrace(at: 2)),
            ("{value}}", .unpairedBrace(at: 8)),
            ("{value:.x}", .unknownField("value:.x")), ("{value:.10}", .unknownField("value:.10")),
            ("{}", .unknownField("")),
            ("{Value}", .unknownField("Value")),
        ]
        for (template, fault) in faults {
            #expect(throws: fault) { _ = try ReadingTemplate(template) }
        }
    }

    @Test("A layout finds its number in each form and byte order, with its flags")
    func layouts() throws {
        let cases: [(String, NumberLayout, String)] = [
            ("0102", NumberLayout("a"), "513"), ("0102", NumberLayout("a", isBigEndian: true), "258"),
            ("00ff", NumberLayout("a", offset: 1, length: 1, .signed), "-1"),
            ("ffff", NumberLayout("a", .signed, exponent: -2), "-0.01"),
            ("feffff", NumberLayout("a", length: 3, .signed), "-2"),
            ("ffffffffffffff", NumberLayout("a", length: 7), "72057594037927935"),
            ("b4f0", NumberLayout("a", .sfloat), "18"), ("b4e0", NumberLayout("a", .sfloat), "1.8"),
            ("ff0f", NumberLayout("a", .sfloat), "-1"),
            ("0a80", NumberLayout("a", .sfloat, exponent: -10), "0.00000000000000001"),
            ("6c0100ff", NumberLayout("a", .float), "36.4"),
            ("ff00016c", NumberLayout("a", .float, isBigEndian: true), "36.4"),
            ("20202d20312e323530", NumberLayout("a", length: 9, .digits), "-1.25"),
            ("2b30372c3500", NumberLayout("a", length: 6, .digits), "7.5"),
        ]
        for (payload, layout, text) in cases {
            let bytes = try #require(VectorFile.bytes(payload))
            let values = try layout.decode(bytes.span)
            #expect(values.readings == [SensorReading("a", .number(try #require(values.readings.first?.number)))])
            #expect(values.readings.first?.number?.text() == text, "\(payload)")
            #expect(values.isStable == nil && values.isRemoved == nil)
        }
        let unmeasured = [
            ("ff07", NumberLayout("a", .sfloat)), ("0008", NumberLayout("a", .sfloat)),
            ("feff7f00", NumberLayout("a", .float)),
            ("0100007f", NumberLayout("a", .float)), ("2e", NumberLayout("a", length: 1, .digits)),
            ("312e322e", NumberLayout("a", length: 4, .digits)),
            ("3165", NumberLayout("a", length: 2, .digits)), ("0000000000000000", NumberLayout("a", length: 8)),
            ("01f0", NumberLayout("a", .sfloat, exponent: -18)), ("0110", NumberLayout("a", .sfloat, exponent: 18)),
            ("010000ff", NumberLayout("a", .float, exponent: -18)),
            ("302e31", NumberLayout("a", length: 3, .digits, exponent: -18)),
        ]
        for (payload, layout) in unmeasured {
            let bytes = try #require(VectorFile.bytes(payload))
            #expect(throws: SensorFault.notMeasured, "\(payload)") { _ = try layout.decode(bytes.span) }
        }
        var flagged = NumberLayout("a", unit: "g", offset: 1, length: 1)
        flagged.stable = .init(offset: 0, mask: 0x01)
        flagged.removed = .init(offset: 0, mask: 0x02, isInverted: true)
        flagged.overload = .init(offset: 0, mask: 0x80)
        let values = try flagged.decode([0x01, 9].span)
        #expect(values.isStable == true && values.isRemoved == true && values.readings.first?.unit == "g")
        #expect(try flagged.decode([0x02, 9].span).isRemoved == false)
        #expect(throws: SensorFault.overload) { _ = try flagged.decode([0x80, 9].span) }
        #expect(throws: SensorFault.tooShort(1, least: 2)) { _ = try flagged.decode([0x80].span) }
    }
}

extension SensorReading {
    fileprivate var number: DecimalNumber? {
        if case .number(let number) = value { number } else { nil }
    }
}
