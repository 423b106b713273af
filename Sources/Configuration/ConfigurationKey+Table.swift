// SPDX-License-Identifier: GPL-2.0-or-later

import Beacons
import BluetoothAdapters
import BluetoothHost
import Devices
import HIDReports
import Keystrokes
import Texts
import Typing

extension ConfigurationKey {
    /// All keys, in the order of `config show`: the top-level keys first, then the tables one by one.
    package static let all: [ConfigurationKey] = file + barcodeModeKeys + otherTables + beaconKeys

    /// Names of the tables that contain keys, in alphabetical order.
    static let sections = Set(all.map(\.section)).subtracting([""]).sorted()

    private static let affixWanted = "a text in quotes without control characters, with keys by name, such as {enter}"

    private static let file: [ConfigurationKey] = [
        word(
            "adapter",
            \.adapter,
            """
            Bluetooth adapter: its name or address; or a controller for this program alone, user:hci0, h4:unix:PATH, \
            h4:tcp:HOST:PORT or h4:/dev/ttyX@BAUD; or memory: for simulated devices. Default: the first adapter.
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
            Service for the data: auto uses the first that the device offers of those in [profiles] below, then \
            \(Profile.builtIn.map(\.name).joined(separator: ", ")). With one of these names, or the path of a file, no \
            other is used.
            """,
            wanted: "a profile's name, a path, or auto"
        ),
        word(
            "security",
            \.security,
            """
            Minimum security of a link; below it, nothing is typed: none, encrypted, or authenticated (paired with a \
            number, which is not possible in legacy pairing). The selected device, its keys and its profile may \
            require more.
            """,
            wanted: "one of \(GATTLinkSecurity.Level.words)",
            read: { GATTLinkSecurity.Level(word: $0) },
            write: { $0.word }
        ),
        time(
            "early-reports",
            \.earlyReports,
            .zero...Configuration.longestEarly,
            """
            Accept data of a paired device that arrived at most this long before its link was encrypted, for USB \
            adapters that deliver data before events; 0 refuses and counts it.
            """
        ),
        word(
            "table",
            \.table,
            """
            Table that says what each byte types: \(names(ByteTable.BuiltIn.self)), or a file. Default: the table of \
            the profile that is set, or linble.
            """,
            wanted: "a table's name, or a file",
            example: "linble",
            read: { $0.isEmpty ? .none : .some($0) },
            write: { $0 }
        ),
        name(
            "layout",
            \.layout,
            "Keyboard layout of the application: \(LayoutSource.names).",
            wanted: "a layout's name"
        ),
        choice(
            "device-layout",
            \.deviceLayout,
            "Keyboard layout that a keyboard scanner is set to: \(names(BuiltInLayout.self))."
        ),
        choice(
            "device-caps-lock",
            \.deviceCapsLock,
            """
            CapsLock handling of a keyboard scanner: taps assumes that CapsLock is off, and presses it for text; \
            reads-led follows the CapsLock light, which blewedge leaves off; assumes-on assumes that CapsLock is on.
            """
        ),
        flag(
            "device-shift-repeats",
            \.deviceShiftRepeats,
            """
            Type a held key again when only Shift or AltGr changes, for keyboard scanners that omit the release \
            between a and A.
            """
        ),
        flag(
            "device-num-lock",
            \.deviceNumLock,
            """
            NumLock state that blewedge reports to a keyboard scanner when it connects. If true, the keypad of the \
            scanner types digits.
            """
        ),
        choice(
            "device-gs-key",
            \.deviceGSKey,
            """
            Function key that a keyboard scanner presses for the separator GS of GS1 barcodes: \
            \(names(GroupSeparatorKey.self)).
            """
        ),
        choice("pace", \.pace, "Typing rhythm for the application: \(names(Pace.Profile.self))."),
        optionalTime(
            "stall",
            \.stall,
            .zero...Duration.nanoseconds(Pace.greatestStall / 1_000_000 * 1_000_000),
            """
            How long an application may stall without losing a key; 0 assumes no stalls. Default: the value of the \
            pace. The maximum depends on the pace, the queue and the table.
            """,
            example: "100ms"
        ),
        numberChoice(
            "queue",
            \.queue,
            """
            Number of events that the kernel queues for each application: with 256, the same stall is survived at four \
            times the rate. For 256, the keyboard declares axes that it never uses; 64 declares none, for Xorg's old \
            evdev driver.
            """
        ),
        time(
            "max-age",
            \.maximumAge,
            .zero...Configuration.greatestAge,
            """
            Data that waited longer while nothing could be typed (no keyboard, process stopped, or machine asleep) is \
            dropped; 0 keeps data of any age.
            """
        ),
        choice(
            "caps-lock",
            \.capsLock,
            """
            While CapsLock is on: auto inverts the case of typed letters so that they come out right; ignore types as \
            if it were off.
            """
        ),
        flag(
            "verify",
            \.verifies,
            "Read back the keyboard's events, and count those that arrived and those that did not."
        ),
        destinations(
            "to",
            \.destinations,
            """
            Output for received data: keyboard; stdout; pty:PATH, a pseudoterminal at that path; or unix:PATH, a local \
            socket. The last two also carry bytes to the device. A list such as ["keyboard", "unix:PATH"] names \
            several outputs, at most \(Configuration.mostOutputs). Each has its own queue and byte counts, and none \
            waits for another.
            """
        ),
        flag(
            "raw",
            \.isRaw,
            "For outputs other than the keyboard: deliver the received bytes instead of the text to type."
        ),
        choice(
            "slow-reader",
            \.slowReader,
            """
            For outputs other than the keyboard: what to do when 64 KiB are queued for a client. drop-newest drops the \
            new line, drop-oldest drops the oldest queued line, and wait accepts no more data until all clients have \
            room. Only whole lines are dropped. Bytes that no client got count as undelivered, those that some client \
            did not get as missed. A line ends at an Enter, at the end of a barcode in scan mode, before a silence of \
            100 ms, or after 4096 bytes. With raw, wait rejects new data.
            """
        ),
        flag(
            "gated",
            \.isGated,
            """
            For outputs other than the keyboard: true withholds data while typing is paused or the gate is closed, and \
            drops queued data when it closes; false delivers it.
            """
        ),
        flag(
            "keys",
            \.allowsKeys,
            "Accept the commands key, snippet and clear; false rejects them for all clients."
        ),
        choice(
            "snippets",
            \.snippetSet,
            "Snippets in addition to those of snippets.json: none, or habr (HTML tags, as an example)."
        ),
        choice(
            "clear",
            \.clearMethod,
            """
            How the command clear empties a field: backspaces deletes only the typed text; select-all presses Ctrl+A \
            and Backspace, which deletes everything in applications that select with Ctrl+A.
            """
        ),
        flag(
            "udev-keyboard",
            \.isUdevKeyboard,
            """
            Declare the keys 1 to 31, among them Escape and the left Ctrl, so that udev recognises a keyboard \
            (ID_INPUT_KEYBOARD); some applications read no other devices. false declares only the keys that are typed.
            """
        ),
        flag("status-line", \.showsStatus, "Show the status line on a terminal."),
        text(
            "hook",
            \.hook,
            """
            Program to run on each connect, disconnect and received barcode, without a shell or arguments. It gets the \
            barcodes on its standard input, one per line.
            """,
            example: "/usr/local/bin/scanner-event"
        ),
    ]

    private static let barcodeModeKeys: [ConfigurationKey] = [
        flag(
            "scan-mode.on",
            \.barcodeMode.isOn,
            "Type only whole barcodes, each checked before its first key is pressed."
        ),
        word(
            "scan-mode.terminator",
            \.barcodeMode.terminators,
            "Bytes that end a barcode: \(TerminatorText.form).",
            wanted: TerminatorText.form,
            read: { TerminatorText.bytes($0) },
            write: { TerminatorText.text($0) }
        ),
        optionalTime(
            "scan-mode.idle-gap",
            \.barcodeMode.idleGap,
            .milliseconds(1)...Duration.nanoseconds(BarcodeRules.longestTime),
            "Length of a silence that also ends a barcode. Default: only terminators end it.",
            example: "50ms"
        ),
        number(
            "scan-mode.min-length",
            \.barcodeMode.minimumLength,
            0...BarcodeRules.greatestLength,
            "Minimum length of a barcode in bytes; shorter ones are not typed."
        ),
        number(
            "scan-mode.max-length",
            \.barcodeMode.maximumLength,
            0...BarcodeRules.greatestLength,
            "Maximum length of a barcode in bytes; longer ones are not typed."
        ),
        word(
            "scan-mode.prefix",
            \.barcodeMode.prefix,
            "Text to type before each barcode; keys by name in braces, as in {f9}.",
            wanted: Self.affixWanted,
            read: { $0 },
            write: { $0 }
        ),
        text(
            "scan-mode.suffix",
            \.barcodeMode.suffix,
            "Text to type after each barcode instead of its terminator. Default: the terminator, as in the table.",
            wanted: Self.affixWanted,
            example: "{tab}"
        ),
        time(
            "scan-mode.duplicates",
            \.barcodeMode.duplicates,
            .zero...Duration.nanoseconds(BarcodeRules.longestTime),
            "Time within which the same barcode is not typed again; 0 types every one."
        ),
    ]

    private static let otherTables: [ConfigurationKey] = [
        optionalNumber(
            "gate.vt",
            \.gateTerminal,
            Configuration.terminals,
            "Type only while this virtual terminal is in the foreground. Default: always.",
            example: 1
        ),
        time(
            "scan.refresh",
            \.refreshPeriod,
            Configuration.refreshPeriods,
            "Refresh interval of the list of devices."
        ),
        optionalNumber(
            "advertised-address.offset",
            \.addressOffset,
            0...ManufacturerAddressField.greatestOffset,
            """
            Offset in bytes of a second device address in the manufacturer data of advertisements (0 is the low byte \
            of the company identifier). Default: devices have only the address in the packet.
            """,
            example: 2
        ),
        flag(
            "advertised-address.reversed",
            \.isAddressReversed,
            "The byte order of that address is reversed: the last byte as written comes first."
        ),
    ]

    /// Keys of `[beacons]`.
    static let beaconKeys: [ConfigurationKey] = [
        text(
            "beacons.regions",
            \.beacons.regionsFile,
            """
            Regions file, with lines such as `static UUID name`, `dynamic UUID/MAJOR name` and `key UUID/MAJOR/MINOR \
            code`. Default: no regions.
            """,
            example: "/etc/blewedge/regions"
        ),
        word(
            "beacons.watch",
            \.beacons.watched,
            "Groups of regions that the daemon watches from its start, separated by commas: \(names(BeaconMonitor.Group.self)).",
            wanted: "words of \(names(BeaconMonitor.Group.self)), with commas between",
            example: "initial, designated",
            read: { words($0) { BeaconMonitor.Group(rawValue: $0) } },
            write: { $0.isEmpty ? nil : $0.map(\.rawValue).joined(separator: ", ") }
        ),
        word(
            "beacons.tell",
            \.beacons.options,
            "Events to report of these regions, separated by commas: \(WatchOptions.named.map(\.word).joined(separator: ", ")).",
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
            "Maximum time between two sightings for entering a region."
        ),
        time(
            "beacons.exit-after",
            \.beacons.exitSilence,
            .seconds(1) ... .seconds(3600),
            "Time without a sighting after which a region is left."
        ),
        word(
            "beacons.path-loss",
            \.beacons.pathLoss,
            "Path-loss exponent for the distance: 2 in the open, 1.5 in a corridor, 3 or more among people.",
            wanted: "a number from 1.0 to 6.0 in quotes",
            read: { Double($0).flatMap { BeaconConfiguration.pathLosses.contains($0) ? $0 : nil } },
            write: { "\($0)" }
        ),
        number(
            "beacons.max-designated",
            \.beacons.mostDesignated,
            DesignatedBeacons.limits,
            "Maximum number of designated beacons."
        ),
        number(
            "beacons.update-interval",
            \.beacons.updateInterval,
            BeaconConfiguration.updateIntervals,
            "Hours between two fetches of the server's regions; earlier fetches are rejected (1500)."
        ),
        flag(
            "beacons.test-mode",
            \.beacons.isTest,
            "Test mode: tell the server that this is a test, and allow test logs."
        ),
        constant("beacons.edition", \.beacons.edition, "Edition that is sent to the server."),
        constant("beacons.version", \.beacons.version, "Version that is sent to the server."),
        text(
            "beacons.app-code-file",
            \.beacons.appCodeFile,
            "File with the code that identifies this machine to the server, readable only by its owner.",
            example: "/etc/blewedge/app-code"
        ),
        text(
            "beacons.server",
            \.beacons.server,
            "Address of the server. Default: no server, so nothing is sent.",
            example: "https://beacons.example.com/v1"
        ),
        word(
            "beacons.auid",
            \.beacons.userID,
            "The application's identifier of its user, sent with each request to the server. Default: none.",
            wanted: "1 to \(BeaconConfiguration.longestUserID) bytes of printable text in quotes",
            example: "kiosk17",
            read: { BeaconConfiguration.userID($0) },
            write: { $0 }
        ),
        word(
            "beacons.advertise",
            \.beacons.advertised,
            "Beacon that the daemon advertises: UUID/MAJOR/MINOR. Default: none.",
            wanted: "a beacon such as \"E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1/2\"",
            example: "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1/2",
            read: { text in BeaconIdentity(text).map { .some($0) } },
            write: { $0.map { "\($0)" } }
        ),
        choice("beacons.advertise-format", \.beacons.advertisedFormat, "Frame format of the advertised beacon."),
        number(
            "beacons.advertise-power",
            \.beacons.advertisedPower,
            Int(BeaconFrame.measuredPowers.lowerBound)...Int(BeaconFrame.measuredPowers.upperBound),
            "Advertised signal strength at one metre, in dBm; measure it with the board's own antenna."
        ),
    ]

    /// Keys that matter only for a beacon server.
    static let serversKeys: Set = [
        "beacons.update-interval", "beacons.test-mode", "beacons.edition", "beacons.version",
    ]

    /// Creates a key for a text by which a server recognises this program; only the default value is allowed.
    private static func constant(_ name: String, _ path: Place<String>, _ summary: String) -> Self {
        let only = Configuration()[keyPath: path]
        return word(name, path, summary, wanted: quoted(only), read: { $0 == only ? $0 : nil }, write: { $0 })
    }

    /// Parses words separated by commas; returns nil if there are none, or if a word is unknown or repeated.
    private static func words<Value>(_ text: String, _ read: (String) -> Value?) -> [Value]? {
        let words = text.split(separator: ",").map { $0.filter { $0 != " " } }
        let values = words.compactMap(read)
        return words.isEmpty || values.count < words.count || Set(words).count < words.count ? nil : values
    }
}
