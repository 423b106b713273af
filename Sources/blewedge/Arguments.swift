// SPDX-License-Identifier: GPL-2.0-or-later

public import ArgumentParser
public import BluetoothLE
import Wedge

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
        guard let duration = TimeText.duration(argument) else { return nil }
        self.duration = duration
    }

    var defaultValueDescription: String { TimeText.text(duration) }
}

/// What every command that uses Bluetooth takes.
struct AdapterOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The adapter to use: its name, or its address.", valueName: "hci0|address"))
    var adapter: AdapterSelector?

    var selector: AdapterSelector { adapter ?? .any }
}
