// SPDX-License-Identifier: GPL-2.0-or-later

import Texts
import Typing

/// Key of the configuration file: its name, its meaning, and its conversions.
package struct ConfigurationKey: Sendable {
    typealias Place<Value> = any WritableKeyPath<Configuration, Value> & Sendable

    /// Full name, including its table: `gate.vt`.
    package let path: String
    /// Table of the key; empty if the key is at the top level of the file.
    package let section: String
    package let name: String
    package let summary: String
    /// Example value for a key without a default; otherwise empty.
    package let example: String
    /// Default value as TOML; nil if the key has no default.
    package var defaultText: String? { text(Configuration()) }
    let set: @Sendable (inout Configuration, TOMLValue) throws(UnfitValue) -> Void
    /// Copies the value of the key from the first configuration to the second.
    let copy: @Sendable (Configuration, inout Configuration) -> Void
    let text: @Sendable (Configuration) -> String?

    /// Key that must be set for this one to have an effect; nil if there is none.
    var condition: String? {
        switch path {
        case "scan-mode.on": nil
        case _ where section == "scan-mode": "scan-mode.on"
        case "advertised-address.reversed": "advertised-address.offset"
        case "beacons.advertise-format", "beacons.advertise-power": "beacons.advertise"
        case "slow-reader", "gated": "to"
        default: nil
        }
    }

    private init<Value>(
        _ path: String,
        _ property: Place<Value>,
        _ summary: String,
        example: String = "",
        read: @escaping @Sendable (TOMLValue) throws(UnfitValue) -> Value,
        write: @escaping @Sendable (Value) -> String?
    ) {
        let words = path.split(separator: ".")
        self.path = path
        section = words.count > 1 ? String(words[0]) : ""
        name = words.last.map(String.init) ?? path
        self.summary = summary
        self.example = example
        set = { (configuration: inout Configuration, value: TOMLValue) throws(UnfitValue) in
            configuration[keyPath: property] = try read(value)
        }
        copy = { source, target in target[keyPath: property] = source[keyPath: property] }
        text = { configuration in write(configuration[keyPath: property]) }
    }

    // MARK: Kinds of keys

    static func flag(_ name: String, _ path: Place<Bool>, _ summary: String) -> Self {
        Self(name, path, summary, read: { value throws(UnfitValue) in try value.flag() }, write: { "\($0)" })
    }

    static func number(_ name: String, _ path: Place<Int>, _ range: ClosedRange<Int>, _ summary: String) -> Self {
        Self(name, path, summary, read: { value throws(UnfitValue) in try value.integer(range) }, write: { "\($0)" })
    }

    static func optionalNumber(
        _ name: String,
        _ path: Place<Int?>,
        _ range: ClosedRange<Int>,
        _ summary: String,
        example: Int
    ) -> Self {
        Self(
            name,
            path,
            summary,
            example: "\(example)",
            read: { value throws(UnfitValue) in try value.integer(range) },
            write: { $0.map { "\($0)" } }
        )
    }

    static func time(_ name: String, _ path: Place<Duration>, _ range: ClosedRange<Duration>, _ summary: String) -> Self
    {
        Self(
            name,
            path,
            summary,
            read: { value throws(UnfitValue) in try value.time(range) },
            write: { quoted(TimeText.text($0)) }
        )
    }

    static func optionalTime(
        _ name: String,
        _ path: Place<Duration?>,
        _ range: ClosedRange<Duration>,
        _ summary: String,
        example: String
    ) -> Self {
        Self(
            name,
            path,
            summary,
            example: quoted(example),
            read: { value throws(UnfitValue) in try value.time(range) },
            write: { $0.map { quoted(TimeText.text($0)) } }
        )
    }

    /// Creates a key with a text value that `read` converts.
    static func word<Value>(
        _ name: String,
        _ path: Place<Value>,
        _ summary: String,
        wanted: String,
        example: String = "",
        read: @escaping @Sendable (String) -> Value?,
        write: @escaping @Sendable (Value) -> String?
    ) -> Self {
        Self(
            name,
            path,
            summary,
            example: quoted(example),
            read: { value throws(UnfitValue) in
                guard let found = read(try value.text(wanted)) else { throw UnfitValue(wanted) }
                return found
            },
            write: { write($0).map(quoted) }
        )
    }

    /// Creates a key whose value is one of several words.
    static func choice<Value: CaseIterable & RawRepresentable<String> & SendableMetatype>(
        _ name: String,
        _ path: Place<Value>,
        _ summary: String
    ) -> Self {
        let wanted = "one of \(names(Value.self))"
        return word(name, path, summary, wanted: wanted, read: { Value(rawValue: $0) }, write: { $0.rawValue })
    }

    /// Creates a key whose value is a destination or a list of destinations.
    static func destinations(_ name: String, _ path: Place<[OutputDestination]>, _ summary: String) -> Self {
        Self(
            name,
            path,
            summary,
            read: { value throws(UnfitValue) in try value.destinations() },
            write: { destinations in
                let texts = destinations.map { quoted("\($0)") }
                return texts.count == 1 ? texts[0] : "[\(texts.joined(separator: ", "))]"
            }
        )
    }

    /// Creates a key whose value is one of several numbers.
    static func numberChoice<Value: CaseIterable & RawRepresentable<Int> & SendableMetatype>(
        _ name: String,
        _ path: Place<Value>,
        _ summary: String
    ) -> Self {
        let wanted = "one of " + Value.allCases.map { "\($0.rawValue)" }.joined(separator: ", ")
        return Self(
            name,
            path,
            summary,
            read: { value throws(UnfitValue) in try value.number(wanted) },
            write: { "\($0.rawValue)" }
        )
    }

    /// Creates a key whose value is a name or a path of at least one character.
    static func name(_ name: String, _ path: Place<String>, _ summary: String, wanted: String) -> Self {
        word(name, path, summary, wanted: wanted, read: { $0.isEmpty ? nil : $0 }, write: { $0 })
    }

    static func text(
        _ name: String,
        _ path: Place<String?>,
        _ summary: String,
        wanted: String = "a text in quotes",
        example: String
    ) -> Self {
        word(name, path, summary, wanted: wanted, example: example, read: { $0 }, write: { $0 })
    }

    static func quoted(_ text: String) -> String { JSONObject.quoted(text, as: .toml) }

    static func names<Value: CaseIterable & RawRepresentable<String>>(_ type: Value.Type) -> String {
        type.allCases.map(\.rawValue).joined(separator: ", ")
    }
}
