// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import Keystrokes
import Texts
import Typing

/// A key of the configuration file: its name, what it means, and how it is read and written.
package struct ConfigurationKey: Sendable {
    /// Its name, with the table's that it stands in before it: `gate.vt`.
    package let path: String
    /// The table that it stands in; empty for the file itself.
    package let section: String
    /// Its name there.
    package let name: String
    /// The meaning of the key, for people.
    package let summary: String
    /// A value as an example, for a key that has no default; else empty.
    let example: String
    let set: @Sendable (inout Configuration, TOMLValue) throws(UnfitValue) -> Void
    /// Its value as TOML; nil where it says nothing.
    let text: @Sendable (Configuration) -> String?

    private init<Value>(
        _ path: String,
        _ property: any WritableKeyPath<Configuration, Value> & Sendable,
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
        text = { configuration in write(configuration[keyPath: property]) }
    }

    // MARK: Kinds of keys

    private static func flag(
        _ name: String,
        _ path: any WritableKeyPath<Configuration, Bool> & Sendable,
        _ summary: String
    ) -> ConfigurationKey {
        ConfigurationKey(
            name,
            path,
            summary,
            read: { (value: TOMLValue) throws(UnfitValue) in try value.flag() },
            write: { "\($0)" }
        )
    }

    private static func number(
        _ name: String,
        _ path: any WritableKeyPath<Configuration, Int> & Sendable,
        _ range: ClosedRange<Int>,
        _ summary: String
    ) -> ConfigurationKey {
        ConfigurationKey(
            name,
            path,
            summary,
            read: { (value: TOMLValue) throws(UnfitValue) in try value.integer(range) },
            write: { "\($0)" }
        )
    }

    private static func optionalNumber(
        _ name: String,
        _ path: any WritableKeyPath<Configuration, Int?> & Sendable,
        _ range: ClosedRange<Int>,
        _ summary: String,
        example: Int
    ) -> ConfigurationKey {
        ConfigurationKey(
            name,
            path,
            summary,
            example: "\(example)",
            read: { (value: TOMLValue) throws(UnfitValue) in try value.integer(range) },
            write: { $0.map { "\($0)" } }
        )
    }

    private static func time(
        _ name: String,
        _ path: any WritableKeyPath<Configuration, Duration> & Sendable,
        _ range: ClosedRange<Duration>,
        _ summary: String
    ) -> ConfigurationKey {
        ConfigurationKey(
            name,
            path,
            summary,
            read: { (value: TOMLValue) throws(UnfitValue) in try value.time(range) },
            write: { quoted(TimeText.text($0)) }
        )
    }

    private static func optionalTime(
        _ name: String,
        _ path: any WritableKeyPath<Configuration, Duration?> & Sendable,
        _ range: ClosedRange<Duration>,
        _ summary: String,
        example: String
    ) -> ConfigurationKey {
        ConfigurationKey(
            name,
            path,
            summary,
            example: quoted(example),
            read: { (value: TOMLValue) throws(UnfitValue) in try value.time(range) },
            write: { $0.map { quoted(TimeText.text($0)) } }
        )
    }

    /// A text that is one of a few, or reads as something.
    private static func word<Value>(
        _ name: String,
        _ path: any WritableKeyPath<Configuration, Value> & Sendable,
        _ summary: String,
        wanted: String,
        example: String = "",
        read: @escaping @Sendable (String) -> Value?,
        write: @escaping @Sendable (Value) -> String?
    ) -> ConfigurationKey {
        ConfigurationKey(
            name,
            path,
            summary,
            example: quoted(example),
            read: { (value: TOMLValue) throws(UnfitValue) in
                guard let found = read(try value.text(wanted)) else { throw UnfitValue(wanted) }
                return found
            },
            write: { write($0).map(quoted) }
        )
    }

    /// One of a few words, each of which has a meaning.
    private static func choice<Value: CaseIterable & RawRepresentable<String> & SendableMetatype>(
        _ name: String,
        _ path: any WritableKeyPath<Configuration, Value> & Sendable,
        _ summary: String
    ) -> ConfigurationKey {
        word(
            name,
            path,
            summary,
            wanted: "one of \(names(Value.self))",
            read: { Value(rawValue: $0) },
            write: { $0.rawValue }
        )
    }

    /// A name or a path, which has at least one character.
    private static func name(
        _ name: String,
        _ path: any WritableKeyPath<Configuration, String> & Sendable,
        _ summary: String,
        wanted: String
    ) -> ConfigurationKey {
        word(name, path, summary, wanted: wanted, read: { $0.isEmpty ? nil : $0 }, write: { $0 })
    }

    private static func text(
        _ name: String,
        _ path: any WritableKeyPath<Configuration, String?> & Sendable,
        _ summary: String,
        example: String
    ) -> ConfigurationKey {
        word(name, path, summary, wanted: "a text in quotes", example: example, read: { $0 }, write: { $0 })
    }

    private static func quoted(_ text: String) -> String { JSONObject.quoted(text, as: .toml) }

    private static func names<Value: CaseIterable & RawRepresentable<String>>(_ type: Value.Type) -> String {
        type.allCases.map(\.rawValue).joined(separator: ", ")
    }

    // MARK: The table

    /// Every key, in the order in which `config show` has them: the file's own first, then table by table.
    package static let all: [ConfigurationKey] = file + barcodeModeKeys + otherTables

    private static let file: [ConfigurationKey] = [
        word(
            "adapter",
            \.adapter,
            """
            Which Bluetooth adapter: its name, or its address; or, for this program alone, user:hci0, h4:unix:PATH, \
            h4:tcp:HOST:PORT or h4:/dev/ttyX@BAUD. Not set, the first one.
            """,
            wanted: "an adapter's name such as hci0, its address, user:hci0, or h4: and a stream",
            example: "hci0",
            read: { try? AdapterTransport($0) },
            write: { $0 == .any ? nil : "\($0)" }
        ),
        name(
            "profile",
            \.profile,
            """
            What the device calls its serial port: \(Profile.builtIn.map(\.name).joined(separator: ", ")); one of [profiles] \
            below; a file that has one, by its path; or auto, the first of all these that the device offers.
            """,
            wanted: "a profile's name, a path, or auto"
        ),
        word(
            "table",
            \.table,
            """
            What each byte types: \(names(ByteTable.BuiltIn.self)), or a file. Not set, the profile's, or linble.
            """,
            wanted: "a table's name, or a file",
            example: "linble",
            read: { $0.isEmpty ? .none : .some($0) },
            write: { $0 }
        ),
        name(
            "layout",
            \.layout,
            "The layout that the reader of the keys uses: \(LayoutSource.names).",
            wanted: "a layout's name"
        ),
        choice("pace", \.pace, "The rhythm, by who reads the keys: \(names(Pace.Profile.self))."),
        optionalTime(
            "stall",
            \.stall,
            .zero ... .milliseconds(525),
            """
            How long a reader may stall without losing a key; 0 assumes none. Not set, what the pace says. The greatest \
            that can be survived depends on the pace and the table.
            """,
            example: "100ms"
        ),
        time(
            "max-age",
            \.maximumAge,
            .zero...Configuration.greatestAge,
            """
            Nothing is typed that waited longer while nothing could be typed, with no keyboard, or process or machine \
            asleep; 0 types whatever its age.
            """
        ),
        choice(
            "caps-lock",
            \.capsLock,
            """
            While readers have CapsLock on: auto types letters the other way round, so that they come out as meant; ignore \
            takes it to be off.
            """
        ),
        flag("verify", \.verifies, "Read the keyboard's own events back, and count what arrived and what did not."),
        word(
            "to",
            \.destination,
            """
            Where what is received goes: keyboard; stdout; pty:PATH, a terminal that appears at that path; or unix:PATH, a \
            local socket there. The last two carry bytes to the device too.
            """,
            wanted: WireDestination.form
                + ", with a path that begins with / and has at most \(WireDestination.longestPath) bytes",
            read: { WireDestination($0) },
            write: { "\($0)" }
        ),
        flag(
            "raw",
            \.isRaw,
            "To other ends than the keyboard: the bytes as received, not as the table would type them."
        ),
        choice(
            "slow-reader",
            \.slowReader,
            """
            To other ends than the keyboard, whole lines only: where 64 KiB wait for a reader, drop-newest drops what comes, \
            drop-oldest what waits longest, and wait takes no more from the ring until all readers have room. What nobody \
            got is counted as undelivered, what one reader did not get as missed. A line ends with Enter, in scan mode with \
            its scan, before a silence of 100 ms, and after 4096 bytes. With raw, which has no ring, wait refuses what comes.
            """
        ),
        flag(
            "keys",
            \.allowsKeys,
            "Whether the commands key, snippet and clear are carried out; off refuses them to all."
        ),
        choice(
            "clear",
            \.clearMethod,
            """
            How clear empties a field: backspaces deletes what was typed into it and nothing else, select-all presses Ctrl+A \
            and Backspace, which deletes everything where programs select with it.
            """
        ),
        flag(
            "udev-keyboard",
            \.isUdevKeyboard,
            """
            Whether udev calls it a keyboard (ID_INPUT_KEYBOARD), for programs that read nothing else: the keys 1 to 31 are \
            declared then, Escape and the left Ctrl among them. Off declares the keys only that are typed.
            """
        ),
        flag("status-line", \.showsStatus, "Whether the status line is shown where a terminal shows one."),
        text(
            "hook",
            \.hook,
            "A program that is told of connects, disconnects and received data, without a shell and without arguments.",
            example: "/usr/local/bin/scanner-event"
        ),
    ]

    private static let barcodeModeKeys: [ConfigurationKey] = [
        flag("scan-mode.on", \.barcodeMode.isOn, "Type whole scans only, each checked before its first key."),
        word(
            "scan-mode.terminator",
            \.barcodeMode.terminators,
            "The bytes that end a scan: \(TerminatorText.form).",
            wanted: TerminatorText.form,
            read: { TerminatorText.bytes($0) },
            write: { TerminatorText.text($0) }
        ),
        optionalTime(
            "scan-mode.idle-gap",
            \.barcodeMode.idleGap,
            .milliseconds(1)...Duration.nanoseconds(BarcodeRules.longestTime),
            "The silence that ends a scan too. Not set, only terminators do.",
            example: "50ms"
        ),
        number(
            "scan-mode.min-length",
            \.barcodeMode.minimumLength,
            0...BarcodeRules.greatestLength,
            "No scan of fewer bytes is typed."
        ),
        number(
            "scan-mode.max-length",
            \.barcodeMode.maximumLength,
            0...BarcodeRules.greatestLength,
            "No scan of more bytes is typed."
        ),
        word(
            "scan-mode.prefix",
            \.barcodeMode.prefix,
            "What is typed before each scan; keys by name in braces, as in {f9}.",
            wanted: "a text in quotes",
            read: { $0 },
            write: { $0 }
        ),
        text(
            "scan-mode.suffix",
            \.barcodeMode.suffix,
            "What is typed after each scan in its terminator's stead. Not set, the terminator as the table says.",
            example: "{tab}"
        ),
        time(
            "scan-mode.duplicates",
            \.barcodeMode.duplicates,
            .zero...Duration.nanoseconds(BarcodeRules.longestTime),
            "The same scan within this time is not typed again; 0 types every one."
        ),
    ]

    private static let otherTables: [ConfigurationKey] = [
        optionalNumber(
            "gate.vt",
            \.gateTerminal,
            Configuration.terminals,
            "Type only while this virtual terminal is in front. Not set, always.",
            example: 1
        ),
        time(
            "scan.refresh",
            \.refreshPeriod,
            Configuration.refreshPeriods,
            "How often the list of devices is drawn anew."
        ),
        optionalNumber(
            "advertised-address.offset",
            \.addressOffset,
            0...AdvertisedAddress.greatestOffset,
            """
            Devices are known, too, by an address in the manufacturer data of their advertisements, this many bytes behind \
            its beginning (0 is the low byte of the company's number). Not set, only by the address on the air.
            """,
            example: 2
        ),
        flag(
            "advertised-address.reversed",
            \.isAddressReversed,
            "Whether that address has its last written byte first."
        ),
    ]
}
