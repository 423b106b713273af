// SPDX-License-Identifier: GPL-2.0-or-later
//
// Cases for the comparison of our parser of report descriptors with Linux's (Tests/KernelLab/scenarios/hid_judge.py),
// and our verdicts.
//
//   hidcases all                  each descriptor of Tests/Vectors/hid-real-maps.txt
//   hidcases mutants SEED N       N mutants of them
//   hidcases keyboards N          those with keyboard input, and N random reports for each
//   hidcases keys SEED M N        mutants of those with keyboard input, M of them still with it, and N random reports for each
//   hidcases text LAYOUT MAP      text of the reports on standard input, in hexadecimal, of a device set for a layout
//   hidcases ... --control NAME   with one of our rules broken: signed-maximum, early-page, no-stack, roll-over
//
// Prints lines, or the text in hexadecimal:
//
//   map NAME HEX                  a descriptor
//   ours accepted | ours refused REASON
//   report HEX [short]            an input report of the last descriptor, with its id first if it has one; after one that
//                                 is shorter than declared, the next is the same, padded with zeros. There is none after
//                                 which the keys would depend on whether the short one was ignored.
//   keys USAGE...                 the usages of page 07 that are held after it, sorted, hexadecimal

import Glibc
import HIDReports
import Keystrokes
import TestSupport

func fail(_ text: String) -> Never {
    let line = Array("hidcases: \(text)\n".utf8)
    _ = write(2, line, line.count)
    exit(64)
}

func hex(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
}

/// Returns true if the same keys are held after the padded report, whether the short one before it was ignored or not.
///
/// They are not if a value is out of its field's range: limited, it differs from the last one each time.
func isIgnorable(_ short: [UInt8], _ padded: [UInt8], id: UInt8, _ reader: ReportReader) -> Bool {
    var (patient, strict) = (reader, reader)
    _ = patient.read(short.span, id: id)
    _ = patient.read(padded.span, id: id)
    _ = strict.read(padded.span, id: id)
    return Set(patient.held.usages) == Set(strict.held.usages)
}

/// Prints one case; `reports` is the number of reports if the descriptor has keyboard input.
///
/// A control changes only our verdicts, not the reports.
func judge(_ name: String, _ bytes: [UInt8], reports: Int, seed: UInt64, _ control: Control?) {
    print("map \(name) \(hex(bytes))")
    let map: ReportMap
    do throws(ReportMapError) {
        map = try ReportMap(control?.changed(bytes) ?? bytes)
        print("ours accepted")
    } catch {
        print("ours refused at \(error.offset): \(error.reason)")
        return
    }
    let original = control == nil ? map : (try? ReportMap(bytes)) ?? map
    guard original.hasKeyboardInput else { return }
    var maker = ReportMaker(original, seed: seed)
    var reader = ReportReader(map)
    // Without a control.
    var plain = ReportReader(original)
    var padded: [UInt8]?
    for _ in 0..<reports {
        var report = padded ?? maker.next()
        padded = nil
        var payload = Array(report.dropFirst(original.isNumbered ? 1 : 0))
        var mark = ""
        if let id = original.isNumbered ? report.first : 0 {
            let layout = original.reports.first { $0.kind == .input && $0.id == id }
            if let layout, payload.count < layout.bytes {
                let zeros = [UInt8](repeating: 0, count: layout.bytes - payload.count)
                if isIgnorable(payload, payload + zeros, id: id, plain) {
                    mark = " short"
                    padded = report + zeros
                } else {
                    report += zeros
                    payload += zeros
                }
            }
            _ = plain.read(payload.span, id: id)
            let changed = control?.changed(payload, of: layout) ?? payload
            _ = reader.read(changed.span, id: id)
        }
        print("report \(hex(report))\(mark)")
        print((["keys"] + reader.held.usages.sorted().map { String($0, radix: 16) }).joined(separator: " "))
    }
}

/// Returns the text that a device types with the reports on standard input.
func text(_ layout: BuiltInLayout, _ bytes: [UInt8]) throws -> [UInt8] {
    let map = try ReportMap(bytes)
    var reader = ReportReader(map)
    var settings = KeyDecoder.Settings()
    settings.layout = layout
    var decoder = KeyDecoder(settings)
    var text: [UInt8] = []
    while let line = readLine(), let report = VectorFile.bytes(line) {
        let id = map.isNumbered ? report.first ?? 0 : 0
        let reading = reader.read(report.span.extracting(droppingFirst: map.isNumbered ? 1 : 0), id: id)
        _ = decoder.decode(reading, into: &text)
    }
    return text
}

var arguments = Array(CommandLine.arguments.dropFirst())
var control: Control?
if let place = arguments.firstIndex(of: "--control") {
    guard place + 1 < arguments.count, let known = Control(rawValue: arguments[place + 1]) else {
        fail("--control: one of \(Control.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    control = known
    arguments.removeSubrange(place...(place + 1))
}
do {
    let maps = try VectorFile.lines("hid-real-maps.txt").map { line -> (name: String, bytes: [UInt8]) in
        let words = line.text.split(separator: " ")
        return (String(words[0]), words.count > 2 ? VectorFile.bytes(words[2]) ?? [] : [])
    }
    let keyboards = maps.filter { (try? ReportMap($0.bytes))?.hasKeyboardInput == true }
    let numbers = arguments.dropFirst().compactMap { Int($0) }
    switch (arguments.first, numbers.count) {
    case ("all", 0):
        for map in maps { judge(map.name, map.bytes, reports: 0, seed: 0, control) }
    case ("keyboards", 1):
        for (index, map) in keyboards.enumerated() {
            judge(map.name, map.bytes, reports: numbers[0], seed: UInt64(index), control)
        }
    case ("mutants", 2), ("keys", 3):
        let isKeys = arguments[0] == "keys"
        let originals = (isKeys ? keyboards : maps).filter { !$0.bytes.isEmpty }
        let seed = UInt64(truncatingIfNeeded: numbers[0])
        var mutator = MapMutator(maps: originals.map(\.bytes), seed: seed &* 2 + (isKeys ? 1 : 0))
        var (number, wanted) = (0, numbers[1])
        while wanted > 0 {
            let (origin, bytes) = mutator.next()
            let name = "\(originals[origin].name)/\(seed)/\(number)"
            judge(name, bytes, reports: isKeys ? numbers[2] : 0, seed: seed << 32 + UInt64(number), control)
            number += 1
            if !isKeys || (try? ReportMap(bytes))?.hasKeyboardInput == true { wanted -= 1 }
        }
    case ("text", _):
        guard arguments.count == 3, let layout = BuiltInLayout(rawValue: arguments[1]),
            let map = VectorFile.bytes(arguments[2])
        else { fail("text LAYOUT MAP") }
        print(hex(try text(layout, map)))
    default: fail("all | mutants SEED N | keyboards N | keys SEED M N | text LAYOUT MAP, and --control NAME")
    }
} catch {
    fail("\(error)")
}
