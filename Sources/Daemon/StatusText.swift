// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Configuration
import Control
package import Devices
import Keystrokes
import Link
package import Texts
import Typing

/// Formats the daemon's answer to `status` as lines for the user.
///
/// The first line is a sentence about the state. The other lines are all other members of the answer in their order,
/// including members of a newer daemon that this program does not know.
package enum StatusText {
    /// Members that are part of the first line.
    private static let told: Set<String> = [
        "ok", "version", "name", "state", "reason", "remedy", "device", JSONObject.formsName,
    ]
    /// Members whose values are translated.
    private static let spoken: Set<String> = ["gate", "addressType", "security", "requiredSecurity"]

    /// Members that contain counters; counters that are zero are omitted.
    private static let counters: Set<String> = [
        "counts", "keyReports", "values", "earlyValues", "links", "radio", "readers", "beacons",
    ]

    /// Returns the lines; with `glyphs`, a signal strength is also shown as bars.
    package static func lines(
        _ answer: JSONValue,
        in language: Language = .current,
        glyphs: TerminalGlyphs? = nil
    ) -> [String] {
        guard case .object(let members) = answer else { return [] }
        var rows: [(name: String, text: String)] = []
        for (name, value) in members where !told.contains(name) {
            if name == "outputs", case .array(let outputs) = value {
                // Each output has its own line.
                for (number, output) in outputs.enumerated() {
                    let text = text(output, of: name, language) ?? ""
                    rows.append((number == 0 ? LabelText.text(of: name, language) : "", text))
                }
                continue
            }
            if name == "devices", case .array(let devices) = value {
                for (number, device) in devices.enumerated() {
                    rows.append((number == 0 ? LabelText.text(of: name, language) : "", line(device, language)))
                }
                continue
            }
            let words = spoken.contains(name) ? nil : said(answer, name, language)
            let bars = name == "link" ? bars(value, glyphs) : ""
            if let text = words ?? text(value, of: name, language).map({ bars + $0 }) {
                rows.append((LabelText.text(of: name, language), text))
            }
        }
        let width = rows.map { DisplayWidth.columns(of: $0.name) }.max() ?? 0
        return [sentence(answer, in: language)]
            + rows.map { "  \(DisplayWidth.padded($0.name, to: width))  \($0.text)" }
    }

    /// Returns signal bars to be placed before the other facts about a link.
    ///
    /// The result is empty without `glyphs` or without a signal strength.
    private static func bars(_ link: JSONValue, _ glyphs: TerminalGlyphs?) -> String {
        guard let glyphs, let rssi = link["rssi"]?.integer.flatMap({ Int(exactly: $0) }) else { return "" }
        return glyphs.text(SignalBars(rssi: rssi)) + " "
    }

    /// Returns the text of a member in the user's language; nil if the answer has none.
    private static func said(_ answer: JSONValue, _ name: String, _ language: Language) -> String? {
        answer.message(name).map { LocalName.printable($0.text(language)) }
    }

    /// Returns the answer without the members that change with time alone, so that other changes can be detected.
    package static func lasting(_ answer: JSONValue) -> JSONValue {
        switch answer {
        case .object(let members):
            .object(members.filter { !ages.contains($0.name) }.map { ($0.name, lasting($0.value)) })
        case .array(let values): .array(values.map(lasting))
        default: answer
        }
    }

    /// Members that contain an age, and the signal strength, which changes all the time.
    private static let ages: Set<String> = ["since", "seconds", "secondsAgo", "rssi"]

    /// Returns a device of a daemon that has several, with its state, its bytes and its last value, as one line.
    private static func line(_ device: JSONValue, _ language: Language) -> String {
        let name = LocalName.printable(device["name"]?.string ?? "")
        let facts = ["counts", "values", "lastReceived"].compactMap { member in
            device[member].flatMap { text($0, of: member, language) }
        }
        return ([name + ": " + sentence(device, in: language)] + facts).joined(separator: "; ")
    }

    private static func sentence(_ answer: JSONValue, in language: Language) -> String {
        func text(_ name: String) -> String? { answer[name]?.string.map(LocalName.printable) }
        let name = text("state") ?? PlainText.unknown.text(language)
        // A newer daemon may report a state that this program does not know.
        guard let state = Session.State(rawValue: name) else { return name }
        let device = text("device") ?? PlainText.theDevice.text(language)
        let (cause, remedy) = (said(answer, "reason", language), said(answer, "remedy", language))
        return state.sentence(of: device, cause, remedy, in: language)
    }

    /// Returns a value as one line; nil if it is empty.
    private static func text(
        _ value: JSONValue,
        of name: String,
        _ language: Language,
        isCounter: Bool = false
    ) -> String? {
        let isCounter = isCounter || counters.contains(name)
        switch value {
        case .null: return nil
        case .bool(let value): return (value ? LabelText.yes : .no).text(language)
        case .integer(let number): return "\(number)"
        case .real(let number): return "\(number)"
        case .string(let text):
            return spoken.contains(name) ? LabelText.text(of: text, language) : LocalName.printable(text)
        case .array(let values):
            let texts = values.compactMap { Self.text($0, of: name, language, isCounter: isCounter) }
            return texts.isEmpty ? nil : texts.joined(separator: ", ")
        case .object(let members):
            let texts = members.filter { !isCounter || $0.value != .integer(0) }.compactMap { member in
                text(member.value, of: member.name, language, isCounter: isCounter).map {
                    "\(LabelText.text(of: member.name, language)) \($0)"
                }
            }
            return texts.isEmpty ? nil : texts.joined(separator: ", ")
        }
    }

}

extension AccountText {
    /// Returns the outcomes of all bytes, and the self-check's counts, as lines for the user.
    package static func lines(_ counts: KeyboardService.Counts, _ language: Language) -> [String] {
        let bytes = counts.bytes
        let numbers = [
            bytes.received, counts.values.notifications, bytes.typed, bytes.discarded, bytes.rejected, bytes.gated,
            bytes.lost,
            bytes.waiting,
        ]
        var lines = [
            Self.bytes.text(language, with: numbers.map { "\($0)" })
                + listed(bytes.causes, language)
                + dropped.text(language, "\(counts.values.dropped)")
                + (counts.wire.map { missed.text(language, "\($0.missed)") } ?? "")
        ]
        if let check = counts.check {
            lines.append(readBack.text(language, "\(check.verified)", "\(check.differing)", "\(check.dropped)"))
        }
        return lines + counts.outputs.map { line($0, language) }
    }

    private static func line(_ account: OutputAccount, _ language: Language) -> String {
        let bytes = account.bytes
        let numbers = [
            bytes.received, bytes.typed, bytes.discarded, bytes.rejected, bytes.gated, bytes.lost, bytes.waiting,
        ]
        return output.text(language, with: [account.name] + numbers.map { "\($0)" })
            + listed(bytes.causes, language)
            + (account.readers.map { missed.text(language, "\($0.missed)") } ?? "")
    }

    private static func listed(_ counts: [(name: String, count: UInt64)], _ language: Language) -> String {
        let texts = counts.filter { $0.count > 0 }.map { name, count in
            cause.text(language, LabelText(rawValue: name)?.text(language) ?? name, "\(count)")
        }
        return texts.isEmpty ? "" : causes.text(language, texts.joined(separator: ", "))
    }
}

extension Session.State {
    /// Returns the state as one sentence for the terminal, the journal and the service manager (LK-24).
    ///
    /// The sentence contains the state, its cause, and the remedy or the next step.
    package func sentence(_ choice: DeviceSelector?, _ reason: Reason?, in language: Language = .current) -> String {
        let device = choice.map { "\($0)" } ?? PlainText.theDevice.text(language)
        return sentence(of: device, reason?.cause.text(language), reason?.remedy?.text(language), in: language)
    }

    /// Returns the sentence for a state, with the name of the device, the cause and the remedy.
    ///
    /// A cause or remedy that is unknown is nil.
    package func sentence(of device: String, _ cause: String?, _ remedy: String?, in language: Language) -> String {
        let state = text(language, device)
        // The states `connected` and `connecting` require no action.
        let next = self == .connected || self == .connecting ? "" : "; " + hint[language]
        guard let cause else { return state + next }
        // A cause may already begin with the text of the state.
        let why = cause.hasPrefix(state) ? cause : "\(state): \(cause)"
        return why + (remedy.map { " (\($0))" } ?? "") + next
    }
}

extension KeyboardService.Event {
    /// Returns the event in the form sent to clients; nil for an event that ends the program.
    ///
    /// `name` is the device's name in the configuration; nil if there is only one device, without a table.
    package func object(_ choice: DeviceSelector?, of name: String?) -> JSONObject? {
        var object: JSONObject
        switch self {
        case .keyboard(let node):
            object = JSONObject(event: .keyboard)
            object.add("name", name)
            object.add("node", node)
        case .state(let state, let device, let reason):
            object = JSONObject(event: .state)
            object.add("name", name)
            object.add("state", state.rawValue)
            object.add("device", choice.map { "\($0)" })
            object.add(device)
            object.add("reason", reason?.cause)
            object.add("remedy", reason?.remedy)
        case .keyboardGone(let reason):
            object = JSONObject(event: .keyboardGone)
            object.add("name", name)
            object.add("reason", reason.cause)
            object.add("remedy", reason.remedy)
        case .keyboardFailed: return nil
        }
        return object
    }
}

extension LabelText {
    /// Returns the label of a member of an answer; an unknown `newThing` becomes `new thing`.
    package static func text(of name: String, _ language: Language) -> String {
        if let label = LabelText(rawValue: name) { return label.text(language) }
        return LocalName.printable(name).map { $0.isUppercase ? " \($0.lowercased())" : String($0) }.joined()
    }
}
