// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Keystrokes
import Texts

/// Error for a value that its key does not accept; describes the accepted values.
struct UnfitValue: Error {
    var wanted: String

    init(_ wanted: String) {
        self.wanted = wanted
    }
}

// Conversions of values, each with its check, for the keys of both configurations and profiles.

extension TOMLValue {
    func text(_ wanted: String = "a text in quotes") throws(UnfitValue) -> String {
        guard case .string(let text) = kind, !text.unicodeScalars.contains(where: { $0.value < 0x20 || $0 == "\u{7F}" })
        else { throw UnfitValue(wanted) }
        return text
    }

    func integer(_ range: ClosedRange<Int>) throws(UnfitValue) -> Int {
        guard case .integer(let number) = kind, let value = Int(exactly: number), range.contains(value) else {
            throw UnfitValue("a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }

    func number<Value: RawRepresentable<Int>>(_ wanted: String) throws(UnfitValue) -> Value {
        guard case .integer(let number) = kind, let found = Int(exactly: number).flatMap(Value.init(rawValue:)) else {
            throw UnfitValue(wanted)
        }
        return found
    }

    func flag() throws(UnfitValue) -> Bool {
        switch kind {
        case .boolean(let value): return value
        case .string("on"): return true
        case .string("off"): return false
        default: throw UnfitValue("true or false")
        }
    }

    /// Returns a duration within bounds: text with a unit, or an integer number of seconds.
    func time(_ range: ClosedRange<Duration>) throws(UnfitValue) -> Duration {
        let value: Duration? =
            switch kind {
            case .string(let text): TimeText.duration(text)
            case .integer(let number): (0...999_999_999).contains(number) ? .seconds(number) : nil
            default: nil
            }
        guard let value, range.contains(value) else {
            throw UnfitValue(
                "a time from \(TimeText.text(range.lowerBound)) to \(TimeText.text(range.upperBound)), such as \"100ms\" or \"2s\""
            )
        }
        return value
    }

    func uuid() throws(UnfitValue) -> BluetoothUUID {
        let wanted = "a UUID such as \"FFE0\" or \"6E400001-B5A3-F393-E0A9-E50E24DCCA9E\""
        guard let uuid = BluetoothUUID(try text(wanted)) else { throw UnfitValue(wanted) }
        return uuid
    }

    func bytes() throws(UnfitValue) -> [UInt8] {
        let wanted = "bytes in hexadecimal, such as \"A5 5A\""
        var reader = HexTemplateReader(try text(wanted))
        do throws(HexTemplateFault) {
            return try reader.bytes()
        } catch {
            throw UnfitValue("\(wanted): \(error)")
        }
    }

    var isArray: Bool { if case .array = kind { true } else { false } }

    /// Value as shown in a fault: quoted text, a number, or the name of its type.
    var shown: String {
        switch kind {
        case .string(let text): JSONObject.quoted(text)
        case .integer(let number): "\(number)"
        case .boolean(let value): "\(value)"
        case .array: "a list"
        case .table: "a table"
        case .other: "a fraction, a date or a time"
        }
    }
}

extension TOMLMember {
    /// Reads the tables `[path.NAME]`, which are members of this table, and stores the line number of each.
    ///
    /// Returns the faults; more than `most` tables are a fault. `refusal` returns the reason why a name cannot be used,
    /// or nil; `read` returns the faults of a table.
    func readTables(
        at path: String,
        most: Int,
        _ lines: inout [String: Int],
        refusal: (String) -> String?,
        read: (_ members: [TOMLMember], _ name: String, _ line: Int) -> [ConfigurationFault]
    ) -> [ConfigurationFault] {
        guard case .table(let tables) = value.kind, tables.count <= most else {
            let reason = "\(path) is a table of at most \(most) tables: write [\(path).NAME]"
            return [ConfigurationFault(line: line, reason: reason)]
        }
        var faults: [ConfigurationFault] = []
        for table in tables {
            guard case .table(let members) = table.value.kind else {
                faults.append(ConfigurationFault(line: table.line, reason: "write [\(path).\(table.key)]"))
                continue
            }
            if let reason = refusal(table.key) {
                faults.append(ConfigurationFault(line: table.line, reason: reason))
                continue
            }
            lines["\(path).\(table.key)"] = table.line
            faults += read(members, table.key, table.line)
        }
        return faults
    }
}

/// Reader of the members of a table by key; members that have not been read at the end are unknown keys.
struct TOMLTableReader {
    private(set) var faults: [ConfigurationFault] = []
    private var members: [TOMLMember]
    private var known: [String] = []
    private let line: Int

    init(_ members: [TOMLMember], line: Int) {
        self.members = members
        self.line = line
    }

    /// Returns the value of a key, converted by `read`; nil if the key is missing or its value is invalid.
    ///
    /// An invalid value is added to the faults.
    mutating func take<Value>(_ key: String, _ read: (TOMLValue) throws(UnfitValue) -> Value) -> Value? {
        known.append(key)
        guard let index = members.firstIndex(where: { $0.key == key }) else { return nil }
        let member = members.remove(at: index)
        do throws(UnfitValue) {
            return try read(member.value)
        } catch {
            note(member.line, "\(key) wants \(error.wanted), not \(member.value.shown)")
            return nil
        }
    }

    /// Returns the value of a required key, as `take` does; a missing key is added to the faults.
    mutating func need<Value>(_ key: String, _ read: (TOMLValue) throws(UnfitValue) -> Value) -> Value? {
        let isThere = members.contains { $0.key == key }
        if !isThere { note(line, "\(key) is missing") }
        return take(key, read)
    }

    mutating func note(_ line: Int?, _ reason: String) {
        faults.append(ConfigurationFault(line: line ?? self.line, reason: reason))
    }

    mutating func note(_ more: [ConfigurationFault]) { faults += more }

    mutating func end() {
        for member in members {
            note(member.line, "unknown key \"\(member.key)\"\(Self.suggestion(for: member.key, among: known))")
        }
        members = []
    }

    /// Returns a suggestion to use a similar key or, if there is none, a list of the known keys.
    static func suggestion(for key: String, among known: [String]) -> String {
        guard let near = NearestName.of(key, among: known) else {
            return "; there are \(known.sorted().joined(separator: ", "))"
        }
        return ": is \"\(near)\" meant?"
    }
}
