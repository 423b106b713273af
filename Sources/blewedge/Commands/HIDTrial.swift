// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Configuration
import HIDReports
import Keystrokes
import Texts

/// Input reports that are decoded one after another for `blewedge hid try`.
struct HIDTrial {
    /// Input report with its meaning.
    struct Reading {
        var bytes: [UInt8]
        var reading: ReportReading
        var held: [HIDUsage]
        var outcome: ReportOutcome
        var text: [UInt8]
    }

    private let isNumbered: Bool
    private var reader: ReportReader
    private var decoder: KeyDecoder

    init(_ map: ReportMap, _ layout: BuiltInLayout) {
        isNumbered = map.isNumbered
        reader = ReportReader(map)
        var settings = KeyDecoder.Settings()
        settings.layout = layout
        decoder = KeyDecoder(settings)
    }

    /// Decodes a report, whose first byte is the id if the map has report ids.
    mutating func read(_ bytes: [UInt8]) throws(CommandFailure) -> Reading {
        guard let id = isNumbered ? bytes.first : 0 else { throw CommandFailure(.usage, HIDFaultText.reportWithoutID) }
        let reading = reader.read(bytes.span.extracting(droppingFirst: isNumbered ? 1 : 0), id: id)
        var text: [UInt8] = []
        let outcome = decoder.decode(reading, into: &text)
        let held = reader.held.usages.map { HIDUsage(page: HIDUsage.keyboardPage, id: $0) }
        return Reading(bytes: bytes, reading: reading, held: held, outcome: outcome, text: text)
    }

    /// Returns an item of a map after its position in bytes, indented by collection.
    static func line(_ item: ReportMapTree.Line) -> String {
        let offset = String(item.offset)
        return String(repeating: " ", count: max(0, 4 - offset.utf8.count)) + offset
            + String(repeating: "  ", count: item.depth + 1) + item.text
    }

    static func line(_ report: HIDReport) -> String {
        let text: HIDText =
            switch report.kind {
            case .input: report.hasKeys ? .inputKeys : .input
            case .output: .output
            case .feature: .feature
            }
        return text.text(.current, "\(report.id)", "\(report.bytes)")
    }

    /// Returns the items of a map, its reports, and the input reports as one object.
    static func object(_ tree: ReportMapTree, _ map: ReportMap, _ readings: [Reading]) -> JSONObject {
        var object = JSONObject()
        object.add(
            "items",
            tree.lines.map { line in
                var item = JSONObject()
                item.add("offset", line.offset)
                item.add("depth", line.depth)
                item.add("text", line.text)
                return item
            }
        )
        object.add(
            "reports",
            map.reports.map { report in
                var item = JSONObject()
                item.add("kind", "\(report.kind)")
                item.add("id", report.id)
                item.add("bits", report.bits)
                item.add("keys", report.kind == .input && report.hasKeys)
                return item
            }
        )
        object.add("readings", readings.map(\.object))
        return object
    }
}

extension HIDTrial.Reading {
    var line: String {
        let language = Language.current
        let bytes = Hexadecimal.text(bytes)
        var meaning =
            text.isEmpty
            ? HIDOutcomeText(outcome).text(language)
            : HIDText.typed.text(language, JSONObject.quoted(String(decoding: text, as: UTF8.self)))
        switch reading.length {
        case .asDeclared: break
        case .shorter: meaning = HIDText.shorter.text(language, meaning)
        case .longer: meaning = HIDText.longer.text(language, meaning)
        }
        guard !held.isEmpty else { return HIDText.noneHeld.text(language, bytes, meaning) }
        return HIDText.held.text(language, bytes, held.map(\.name).joined(separator: ", "), meaning)
    }

    var object: JSONObject {
        var object = JSONObject()
        object.add("report", Hexadecimal.text(bytes))
        object.add("outcome", "\(outcome)")
        object.add("length", "\(reading.length)")
        object.add("held", held.map { Hexadecimal.text(UInt64($0.id), digits: 2) })
        object.add("text", String(decoding: text, as: UTF8.self))
        return object
    }
}

extension HIDOutcomeText {
    fileprivate init(_ outcome: ReportOutcome) {
        self =
            switch outcome {
            case .unchanged: .unchanged
            case .modifier: .modifier
            case .release: .release
            case .ambiguous: .ambiguous
            case .unknownUsage: .unknownUsage
            case .shortcut: .shortcut
            case .pending: .pending
            case .incompleteAltCode: .incompleteAltCode
            case .typed: .typed
            case .rollOver: .rollOver
            case .noKeys: .noKeys
            case .unknownReport: .unknownReport
            }
    }
}
