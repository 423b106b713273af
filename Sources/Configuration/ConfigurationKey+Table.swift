// SPDX-License-Identifier: GPL-2.0-or-later

import Beacons
import BluetoothAdapters
import BluetoothHost
import Devices
import Keystrokes
import Texts
import Typing

extension ConfigurationKey {
    /// All keys, in the order of `config show`: the top-level ones first, then table by table.
    package static let all: [ConfigurationKey] = file + barcodeModeKeys + otherTables + beaconKeys

    private static let file: [ConfigurationKey] = [
        word(
            "adapter",
            \.adapter,
            """
            Which Bluetooth adapter: its name, or its address; or, for this program alone, user:hci0, h4:unix:PATH, \
            h4:tcp:HOST:PORT or h4:/dev/ttyX@BAUD; or memory:, for a rehearsal before simulated devices. Not set, the \
            first one.
            """,
            wanted: "an adapter's name such as hci0, its address, user:hci0, h4: and a stream, or memory:",
            example: "hci0",
            read: { try? AdapterTransport($0) },
            write: { $0 == .any ? nil : "\($0)" }
        ),
        name(
            "profile",
            \.profile,
            """
            The kind of serial service: auto takes the first that the device offers of those in [profiles] below, then \
            \(Profile.builtIn.map(\.name).joined(separator: ", ")). A name of these, or a file by its path, takes no other.
            """,
            wanted: "a profile's name, a path, or auto"
        ),
        word(
            "security",
            \.security,
            """
            The least security of a link, without which nothing of it is typed: none, encrypted, or authenticated (by a number \
            when it was paired, which legacy pairing cannot do). A device's own choice, its keys and its profile may demand more.
            """,
            wanted: "one of \(GATTLinkSecurity.Level.words)",
            read: { GATTLinkSecurity.Level(word: $0) },
            write: { $0.word }
        ),
        word(
            "table",
            \.table,
            """
            What each byte types: \(names(ByteTable.BuiltIn.self)), or a file. Not set, that of the profile that is named, or linble.
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
            .zero...Duration.nanoseconds(Pace.greatestStall / 1_000_000 * 1_000_000),
            """
            How long a reader may stall without losing a key; 0 assumes none. Not set, what the pace says. The greatest \
            that can be survived depends on the pace, the queue and the table.
            """,
            example: "100ms"
        ),
        numberChoice(
            "queue",
            \.queue,
            """
            How many events the kernel keeps for each reader of the keyboard: 256 survives the same stall at four times the \
            rate. It is made by declaring axes on which nothing is sent; 64 declares none, for Xorg's old driver evdev.
            """
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
        destinations(
            "to",
            \.destinations,
            """
            Where what is received goes: keyboard; stdout; pty:PATH, a terminal that appears at that path; or unix:PATH, a \
            local socket there. The last two carry bytes to the device too. A list, as in ["keyboard", "unix:PATH"], names \
            several, at most \(Configuration.mostOutputs): each has its own queue and account, and none waits for another.
            """
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
            "gated",
            \.isGated,
            """
            Whether other ends than the keyboard get nothing either while typing is paused or the gate is closed, and lose \
            what waits as it closes; false delivers to them all the same.
            """
        ),
        flag(
            "keys",
            \.allowsKeys,
            "Whether the commands key, snippet and clear are carried out; off refuses them to all."
        ),
        choice(
            "snippets",
            \.snippetSet,
            "The snippets below those of snippets.json: none, or habr, HTML tags as an example."
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
            """
            A program that is told of connects and disconnects and gets received barcodes on its standard input, one a line, \
            without a shell and without arguments.
            """,
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
            0...ManufacturerAddressField.greatestOffset,
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

    /// Keys of `[beacons]`.
    static let beaconKeys: [ConfigurationKey] = [
        text(
            "beacons.regions",
            \.beacons.regionsFile,
            """
            The file of the regions: lines such as `static UUID name`, `dynamic UUID/MAJOR name` and \
            `key UUID/MAJOR/MINOR code`. Not set, there are none.
            """,
            example: "/etc/blewedge/regions"
        ),
        word(
            "beacons.watch",
            \.beacons.watched,
            "The regions that the daemon watches from its start, with commas between: \(names(BeaconMonitor.Group.self)).",
            wanted: "words of \(names(BeaconMonitor.Group.self)), with commas between",
            example: "initial, designated",
            read: { words($0) { BeaconMonitor.Group(rawValue: $0) } },
            write: { $0.isEmpty ? nil : $0.map(\.rawValue).joined(separator: ", ") }
        ),
        word(
            "beacons.tell",
            \.beacons.options,
            "What is told of them, with commas between: \(WatchOptions.named.map(\.word).joined(separator: ", ")).",
            wanted: "words of \(WatchOptions.named.map(\.word).joined(separator: ", ")), with commas between",
            read: {
                words($0) { word in WatchOptions.named.first { $0.word == word }?.option }.map { WatchOptions($0) }
            },
            write: { options in
                WatchOptions.named.filter { options.contains($0.option) }.map(\.word).joined(separator: ", ")
            }
        ),
        time(
            "beacons.enter-within",
            \.beacons.entryWindow,
            .milliseconds(100) ... .seconds(60),
            "The longest time between the two sightings that enter a region."
        ),
        time(
            "beacons.exit-after",
            \.beacons.exitSilence,
            .seconds(1) ... .seconds(3600),
            "The silence after which a region is left."
        ),
        word(
            "beacons.path-loss",
            \.beacons.pathLoss,
            "The exponent by which metres are estimated: 2 in the open, 1.5 in a corridor, 3 and more among people.",
            wanted: "a number from 1.0 to 6.0 in quotes",
            read: { Double($0).flatMap { BeaconConfiguration.pathLosses.contains($0) ? $0 : nil } },
            write: { "\($0)" }
        ),
        number(
            "beacons.max-designated",
            \.beacons.mostDesignated,
            DesignatedBeacons.limits,
            "The most beacons that can be designated."
        ),
        number(
            "beacons.update-interval",
            \.beacons.updateInterval,
            BeaconConfiguration.updateIntervals,
            "The hours between two fetches of the server's regions; sooner ones are refused (1500)."
        ),
        flag(
            "beacons.test-mode",
            \.beacons.isTest,
            "Whether the server is told that this is a test, and may be sent test logs."
        ),
        constant("beacons.edition", \.beacons.edition, "The edition that the server is told."),
        constant("beacons.version", \.beacons.version, "The version that the server is told."),
        text(
            "beacons.app-code-file",
            \.beacons.appCodeFile,
            "The file of the code that the server knows this board by, readable by its owner alone.",
            example: "/etc/blewedge/app-code"
        ),
        text(
            "beacons.server",
            \.beacons.server,
            "The server's address. Not set, nothing is ever sent to anybody.",
            example: "https://beacons.example.com/v1"
        ),
        word(
            "beacons.auid",
            \.beacons.userID,
            "What the application calls its user, sent with each request to the server. Not set, nothing is.",
            wanted: "1 to \(BeaconConfiguration.longestUserID) bytes of printable text in quotes",
            example: "kiosk17",
            read: { BeaconConfiguration.userID($0) },
            write: { $0 }
        ),
        word(
            "beacons.advertise",
            \.beacons.advertised,
            "The beacon that the daemon is itself: UUID/MAJOR/MINOR. Not set, none.",
            wanted: "a beacon such as \"E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1/2\"",
            example: "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1/2",
            read: { text in BeaconIdentity(text).map { .some($0) } },
            write: { $0.map { "\($0)" } }
        ),
        choice("beacons.advertise-format", \.beacons.advertisedFormat, "The frame in which it is that."),
        number(
            "beacons.advertise-power",
            \.beacons.advertisedPower,
            Int(BeaconFrame.measuredPowers.lowerBound)...Int(BeaconFrame.measuredPowers.upperBound),
            "The strength in dBm at one metre that it tells: to be measured with the board's own antenna."
        ),
    ]

    /// Keys that affect only a beacon server.
    static let serversKeys: Set = [
        "beacons.update-interval", "beacons.test-mode", "beacons.edition", "beacons.version",
    ]

    /// Makes a key for a text by which a server recognises this program; only the default is allowed.
    private static func constant(_ name: String, _ path: Place<String>, _ summary: String) -> Self {
        let only = Configuration()[keyPath: path]
        return word(name, path, summary, wanted: quoted(only), read: { $0 == only ? $0 : nil }, write: { $0 })
    }

    /// Parses words separated by commas; returns nil if a word is unknown or repeated, or if there is none.
    private static func words<Value>(_ text: String, _ read: (String) -> Value?) -> [Value]? {
        let words = text.split(separator: ",").map { $0.filter { $0 != " " } }
        let values = words.compactMap(read)
        return words.isEmpty || values.count < words.count || Set(words).count < words.count ? nil : values
    }
}
