// SPDX-License-Identifier: GPL-2.0-or-later

import Keystrokes

/// Notation of keyboard events in Tests/Vectors/typing, which is described in format.txt there.
enum KeyNotation {
    /// Parses events; returns nil if a word is unknown.
    static func events(_ text: some StringProtocol) -> [InputEvent]? {
        var events: [InputEvent] = []
        var last: [InputEvent] = []
        for word in text.split(separator: " ") {
            if word.first == "x", let count = Int(word.dropFirst()) {
                guard !last.isEmpty, count > 1 else { return nil }
                for _ in 1..<count { events += last }
            } else {
                guard let more = self.events(ofWord: String(word)) else { return nil }
                last = more
                events += last
            }
        }
        return events
    }

    /// Returns the shortest notation of the events.
    static func text(_ events: [InputEvent]) -> String {
        var words: [String] = []
        var index = 0
        while index < events.count {
            let event = events[index]
            let key = KeyCode(rawValue: event.code)
            if event.type == InputEvent.key, events[index...].starts(with: keystroke(key)) {
                words.append("\(key)")
                index += 4
            } else {
                words.append(word(event))
                index += 1
            }
        }
        return words.joined(separator: " ")
    }

    private static let modifiers: [String: KeyCode] = [
        "shift": .leftShift, "ctrl": .leftControl, "altgr": .rightAlt, "alt": .leftAlt, "meta": .leftMeta,
    ]

    private static func events(ofWord word: String) -> [InputEvent]? {
        if word == "." { return [.report] }
        if word.first == "\"", word.last == "\"", word.count > 2 {
            let keys = word.dropFirst().dropLast().map { KeyCode(name: String($0)) }
            return keys.contains(nil) ? nil : keys.compactMap { $0 }.flatMap(keystroke)
        }
        if let sign = word.first, sign == "+" || sign == "-" {
            return KeyCode(name: String(word.dropFirst())).map { [.key($0, down: sign == "+")] }
        }
        let parts = word.split(separator: "+").map { String($0) }
        guard let key = parts.last.flatMap({ KeyCode(name: $0) }) else { return nil }
        guard parts.count > 1 else { return keystroke(key) }
        guard parts.count == 2, let modifier = modifiers[parts[0]] else { return nil }
        return [
            .key(modifier, down: true), .key(key, down: true), .report, .key(key, down: false),
            .key(modifier, down: false), .report,
        ]
    }

    private static func keystroke(_ key: KeyCode) -> [InputEvent] {
        [.key(key, down: true), .report, .key(key, down: false), .report]
    }

    private static func word(_ event: InputEvent) -> String {
        guard event != .report else { return "." }
        let sign = event.value == 1 ? "+" : event.value == 0 ? "-" : "?"
        return event.type == InputEvent.key ? "\(sign)\(KeyCode(rawValue: event.code))" : "\(event)"
    }
}
