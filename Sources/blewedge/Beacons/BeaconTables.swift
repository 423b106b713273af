// SPDX-License-Identifier: GPL-2.0-or-later

import Beacons
import BluetoothLE
import Configuration
import Control
import Daemon
import Devices
import LinuxIO
import Texts

/// The tables of beacons and regions for people, made of what programs are told.
enum BeaconTables {
    /// The regions that are known.
    static func regions(_ answer: JSONValue) -> [String] {
        let regions = answer["regions"]?.array ?? []
        guard !regions.isEmpty else { return [BeaconText.noRegions.text(.current)] }
        return table(
            [.columnRegion, .columnKinds, .columnName],
            regions.map { [text($0, "region"), kinds($0), text($0, "name")] }
        )
    }

    /// The designated beacons.
    static func designated(_ answer: JSONValue) -> [String] {
        let beacons = answer["designated"]?.array ?? []
        guard !beacons.isEmpty else { return [BeaconText.noDesignated.text(.current)] }
        return table(
            [.columnCode, .columnBeacon, .columnSwitcher],
            beacons.map { beacon in
                let isSwitcher = beacon["switcher"]?.bool == true
                return [
                    text(beacon, "code"), text(beacon, "beacon"), (isSwitcher ? LabelText.yes : .no).text(.current),
                ]
            }
        )
    }

    /// The beacons of ranged regions, nearest first.
    static func ranged(_ answer: JSONValue) -> [String] {
        let beacons = (answer["ranged"]?.array ?? []).flatMap { $0["beacons"]?.array ?? [] }
        return table(
            [.columnBeacon, .columnSignal, .columnPower, .columnDistance, .columnCode],
            beacons.map {
                [text($0, "beacon"), text($0, "rssi"), text($0, "measuredPower"), distance($0), text($0, "keyCode")]
            }
        )
    }

    /// How it stands.
    static func status(_ answer: JSONValue) -> [String] {
        let watched = answer["watched"]?.array?.count ?? 0
        var lines = [BeaconText.watched.text(.current, "\(watched)")]
        if let cause = answer.message("availabilityCause") {
            lines.append(Reason(cause, remedy: answer.message("availabilityRemedy")).line(.current))
        }
        lines += (answer["inside"]?.array ?? []).map { BeaconText.insideRegion.text(.current, $0.string ?? "") }
        lines += designated(answer)
        if answer["advertising"]?.string == BeaconAdvertiser.State.on.rawValue {
            lines.append(BeaconText.isBeacon.text(.current, text(answer, "advertised")))
        } else if let fault = answer.message("advertisingFault") {
            lines.append(Reason(fault, remedy: answer.message("advertisingRemedy")).line(.current))
        }
        return lines
    }

    private static func distance(_ beacon: JSONValue) -> String {
        let words: [String: BeaconText] = ["immediate": .immediate, "near": .near, "far": .far]
        let word = words[beacon["proximity"]?.string ?? ""] ?? .unknown
        let metres: Double? =
            switch beacon["metres"] {
            case .real(let metres): metres
            case .integer(let metres): Double(metres)
            default: nil
            }
        guard let metres else { return word.text(.current) }
        return "\(word.text(.current)) (\((metres * 10).rounded() / 10) m)"
    }

    private static func text(_ value: JSONValue, _ name: String) -> String {
        switch value[name] {
        case .string(let text): LocalName.printable(text)
        case .integer(let number): "\(number)"
        default: "-"
        }
    }

    /// The kinds of a region; one that a newer daemon tells of stays as it is.
    private static func kinds(_ region: JSONValue) -> String {
        (region["kinds"]?.array ?? []).compactMap(\.string).map { word in
            let isKnown = RegionKinds.words.contains { $0.word == word }
            return (isKnown ? BeaconText(rawValue: word)?.text(.current) : nil) ?? LocalName.printable(word)
        }.joined(separator: ", ")
    }

    private static func table(_ columns: [BeaconText], _ rows: [[String]]) -> [String] {
        let all = [columns.map { $0.text(.current) }] + rows
        let widths = columns.indices.map { column in all.map { DisplayWidth.columns(of: $0[column]) }.max() ?? 0 }
        return all.map { row in
            let cells = zip(row.dropLast(), widths).map { DisplayWidth.padded($0, to: $1) } + row.suffix(1)
            return cells.joined(separator: "  ")
        }
    }
}

extension DaemonOptions {
    /// Prints an answer: as it is for programs, as lines for people.
    func print(_ answer: JSONValue, _ lines: (JSONValue) -> [String]) throws {
        let text = json ? answer.text + "\n" : lines(answer).map { $0 + "\n" }.joined()
        try StandardStream.output.write(text)
    }

    /// Asks the daemon about beacons, or does it alone where none runs, and prints the answer.
    @discardableResult
    func ask(
        _ request: BeaconRequest,
        patience: Duration = ControlClient.patience,
        alone: () throws -> JSONObject,
        _ lines: (JSONValue) -> [String]
    ) throws -> JSONValue {
        var answer = JSONValue.null
        try perform { client in
            answer = try client.ask(.beacons(request), patience: patience).value
        } alone: {
            answer = try alone().value
        }
        try print(answer, lines)
        return answer
    }
}
