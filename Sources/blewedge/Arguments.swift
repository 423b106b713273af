// SPDX-License-Identifier: GPL-2.0-or-later

public import ArgumentParser
public import BluetoothLE

extension AdapterSelector: ExpressibleByArgument {
    /// `hci0`, or an address.
    public init?(argument: String) {
        self.init(argument)
    }
}

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
    @Option(help: ArgumentHelp("The adapter to use: its name, or its address.", valueName: "hci0|address"))
    var adapter: AdapterSelector?

    var selector: AdapterSelector { adapter ?? .any }
}
