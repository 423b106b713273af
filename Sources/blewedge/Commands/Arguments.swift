// SPDX-License-Identifier: GPL-2.0-or-later

public import ArgumentParser
public import BluetoothLE
import Devices
import Texts

extension BluetoothUUID: ExpressibleByArgument {
    /// `180A`, or 36 characters.
    public init?(argument: String) {
        self.init(argument)
    }
}

extension GATTLinkSecurity.Level: ExpressibleByArgument {
    /// The levels by their words, not by their numbers.
    public static var allValueStrings: [String] { allCases.map(\.word) }

    /// `none`, `encrypted` or `authenticated`.
    public init?(argument: String) {
        self.init(word: argument)
    }
}

/// A length of time on the command line: `100ms`, `2s`, or seconds without a unit.
struct TimeArgument: ExpressibleByArgument {
    let duration: Duration

    init(_ duration: Duration) {
        self.duration = duration
    }

    init?(argument: String) {
        guard let duration = TimeText.duration(argument) else { return nil }
        self.duration = duration
    }

    var defaultValueDescription: String { TimeText.text(duration) }
}

/// The options of every command that uses Bluetooth.
struct AdapterOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The adapter to use: its name, its address, or another way to a controller.",
            discussion: """
                hci0 or an address: an adapter of the kernel, beside other programs. user:hci0: a controller for this \
                program alone, which must be down. h4:unix:PATH, h4:tcp:HOST:PORT, h4:/dev/ttyX[@BAUD]: a controller at \
                the other end of a stream, without the kernel's Bluetooth and without privilege.
                """,
            valueName: "adapter"
        ),
        transform: { text in try AdapterTransport(text) }
    )
    var adapter: AdapterTransport?

    var transport: AdapterTransport { adapter ?? .any }
}
