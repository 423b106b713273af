// SPDX-License-Identifier: GPL-2.0-or-later

import Keystrokes

/// Settings of a conversation, read one by one.
struct ConversationSettings {
    /// Invalid setting.
    struct Unknown: Error {
        var line: Int
        var setting: String
    }

    private(set) var maximumAge: Int64? = Typist.defaultMaximumAge
    private(set) var ring = 1 << 16
    private(set) var heedsCapsLock = true
    private(set) var isOpen = false
    private var tableName = "linble"
    private var tableLines: [String] = []
    private var layoutName = "us"
    private var missing = ""
    private var missingWithCapsLock = ""
    private var profile = Pace.Profile.desktop
    private var stall: Int64?
    private var queue = ReaderQueue.large
    private var isBarcodeMode = false
    private var terminators = BarcodeRules.defaultTerminators
    private var idleGap: Int64?
    private var lengths = (least: 1, most: BarcodeRules.defaultMaximumLength)
    private var prefix = ""
    private var suffix: String?
    private var duplicates: Int64 = 0
    private var meanings: [(bytes: [UInt8], text: String)] = []

    /// Reads one setting.
    mutating func read(_ setting: TypingConversation.Setting) throws {
        let value = setting.value
        let unknown = Unknown(line: setting.number, setting: "\(setting.name) \(value)")
        func wanted<Value>(_ value: Value?) throws -> Value {
            guard let value else { throw unknown }
            return value
        }
        switch setting.name {
        case "table": tableName = value
        case "rule": tableLines.append(value)
        case "layout": layoutName = value
        case "layout-lacks": missing = value
        case "layout-lacks-with-capslock": missingWithCapsLock = value
        case "pace": profile = try wanted(Pace.Profile(rawValue: value))
        case "queue": queue = try wanted(Int(value).flatMap(ReaderQueue.init(rawValue:)))
        case "stall": stall = try wanted(Self.time(value))
        case "max-age":
            let age = try wanted(Self.time(value))
            maximumAge = age == 0 ? nil : age
        case "caps-lock":
            guard ["auto", "ignore"].contains(value) else { throw unknown }
            heedsCapsLock = value == "auto"
        case "ring": ring = try wanted(Int(value))
        case "scan": isBarcodeMode = true
        case "open": isOpen = true
        case "terminator": terminators = try wanted(Self.terminators(value))
        case "idle-gap": idleGap = try wanted(Self.time(value))
        case "min-length": lengths.least = try wanted(Int(value))
        case "max-length": lengths.most = try wanted(Int(value))
        case "prefix": prefix = value
        case "suffix": suffix = value
        case "duplicates": duplicates = try wanted(Self.time(value))
        case "received":
            let parts = value.split(separator: " = ", maxSplits: 1).map { String($0) }
            guard parts.count == 2 else { throw unknown }
            meanings.append((try wanted(TypingConversation.bytes(parts[0])), parts[1]))
        default: throw unknown
        }
    }

    func table() throws -> ByteTable {
        guard tableLines.isEmpty else { return try ByteTable(text: tableLines.joined(separator: "\n")) }
        guard let table = ByteTable(named: tableName) else { throw Unknown(line: 0, setting: tableName) }
        return table
    }

    func layout() throws -> KeyboardLayout {
        guard let layout = KeyboardLayout(named: layoutName) else { throw Unknown(line: 0, setting: layoutName) }
        var strokes = layout.strokes
        var capsLockStrokes = layout.capsLockStrokes
        for character in missing.unicodeScalars {
            strokes[character] = nil
            capsLockStrokes[character] = nil
        }
        for character in missingWithCapsLock.unicodeScalars { capsLockStrokes[character] = nil }
        return KeyboardLayout(name: layout.name, strokes: strokes, capsLockStrokes: capsLockStrokes)
    }

    func pace() throws -> Pace { try Pace(profile, stall: stall, queue: queue) }

    /// Returns the rules of scan mode; nil for stream mode.
    func barcodes() throws -> BarcodeRules? {
        guard isBarcodeMode else { return nil }
        let layout = try layout()
        let rules = try BarcodeRules(
            terminators: terminators,
            idleGap: idleGap,
            minimumLength: lengths.least,
            maximumLength: lengths.most,
            prefix: try BarcodeAffix(prefix, layout: layout),
            suffix: try suffix.map { try BarcodeAffix($0, layout: layout) },
            duplicateWindow: duplicates
        )
        var typed: [[UInt8]: BarcodeAffix] = [:]
        for (bytes, text) in meanings { typed[bytes] = try BarcodeAffix(text, layout: layout) }
        return try rules.typing(typed)
    }

    /// Parses a time such as `5s`, `50ms` or `0`; returns nanoseconds, or nil if it is invalid.
    private static func time(_ text: String) -> Int64? {
        if text == "0" { return 0 }
        for (unit, factor) in [("ms", Int64(1_000_000)), ("s", 1_000_000_000)] where text.hasSuffix(unit) {
            return Int64(text.dropLast(unit.count)).map { $0 * factor }
        }
        return nil
    }

    /// Returns the bytes that end a barcode; nil if the name is unknown.
    private static func terminators(_ text: String) -> Set<UInt8>? {
        guard text != "none" else { return [] }
        let names: [Substring: UInt8] = ["cr": 13, "lf": 10, "tab": 9, "etx": 3, "gs": 29]
        let bytes = text.split(separator: ",").map { names[$0] }
        return bytes.contains(nil) ? nil : Set(bytes.compactMap { $0 })
    }
}
