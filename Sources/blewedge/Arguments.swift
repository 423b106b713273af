// SPDX-License-Identifier: GPL-2.0-or-later

public import ArgumentParser
public import BluetoothLE

extension BluetoothUUID: ExpressibleByArgument {
    /// `180A`, or 36 characters.
    public init?(argument: String) {
        self.init(argument)
    }
}

/// A length of time on the command line: `100ms`, `2s`, or seconds without a unit.
struct TimeArgument: ExpressibleByArgument {
    let duration: Duration

    init(_ duration: Duration) {
        self.duration = duration
    }

    init?(argument: String) {
        let digits: Substring
        let unit: Duration
        if argument.hasSuffix("ms") {
            digits = argument.dropLast(2)
            unit = .milliseconds(1)
        } else {
            digits = argument.hasSuffix("s") ? argument.dropLast() : argument[...]
            unit = .seconds(1)
        }
        // Nine digits of seconds are thirty years: enough, and far from overflow.
        guard digits.utf8.count <= 9, digits.utf8.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }),
            let count = Int64(digits)
        else { return nil }
        duration = unit * Int(count)
    }

    var defaultValueDescription: String {
        let (seconds, attoseconds) = duration.components
        return attoseconds == 0 ? "\(seconds)s" : "\(seconds * 1000 + attoseconds / 1_000_000_000_000_000)ms"
    }
}

/// What every command that uses Bluetooth takes.
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
