// SPDX-License-Identifier: GPL-2.0-or-later

public import ArgumentParser
import BluetoothAdapters
public import BluetoothHost
public import BluetoothPackets
import Configuration
import Control
import Daemon
import Devices
import LinuxIO
import Texts

extension BluetoothUUID: ExpressibleByArgument {
    /// Parses a short UUID such as `180A`, or a long one of 36 characters.
    public init?(argument: String) {
        self.init(argument)
    }
}

extension GATTLinkSecurity.Level: ExpressibleByArgument {
    /// Words for the security levels, which the help shows instead of the raw values.
    public static var allValueStrings: [String] { allCases.map(\.word) }

    /// Parses `none`, `encrypted` or `authenticated`.
    public init?(argument: String) {
        self.init(word: argument)
    }
}

/// A duration on the command line: `100ms`, `2s`, or a number of seconds without a unit.
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

extension Option {
    /// Creates an option with an optional value, which the help calls `value`.
    init<Wrapped: ExpressibleByArgument>(
        _ help: String,
        value: String,
        completion: CompletionKind? = nil
    ) where Value == Wrapped? {
        self.init(help: ArgumentHelp(help, valueName: value), completion: completion)
    }

    /// Creates an option with a default value, which the help calls `value`.
    init(wrappedValue: Value, _ help: String, value: String) where Value: ExpressibleByArgument {
        self.init(wrappedValue: wrappedValue, help: ArgumentHelp(help, valueName: value))
    }
}

/// The options of every command that uses Bluetooth.
struct AdapterOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Bluetooth adapter or controller to use.",
            discussion: """
                A name such as hci0, or an address, selects an adapter of the kernel, which other programs can use at \
                the same time. With user:hci0, only blewedge uses the controller, and the adapter must be down. The \
                forms h4:unix:PATH, h4:tcp:HOST:PORT and h4:/dev/ttyX[@BAUD] select a controller that is connected by \
                a stream. H4 controllers need no privilege and no Bluetooth support in the kernel. With memory:, \
                blewedge simulates a controller and the devices linble, nordic, scale, hid and badge. To choose the \
                simulated devices, list their names after the colon, as in memory:scale,crowd.
                """,
            valueName: "adapter"
        ),
        transform: { text in try AdapterTransport(text) }
    )
    var adapter: AdapterTransport?

    /// Adapter of the option or, without the option, of the configuration.
    var transport: AdapterTransport { adapter ?? Configuration.ofUser?.adapter ?? .any }
}

extension Configuration {
    /// The configuration of the user who runs the command; nil if it cannot be read.
    static var ofUser: Configuration? { (try? DaemonPaths.current()).flatMap { try? read($0.configurationFile) } }
}

/// Prints messages for people on standard error, so that they do not mix with the data on standard output.
enum Console {
    static func note(_ text: String) {
        try? StandardStream.error.write(line(text))
    }

    static func note(_ message: Message) { note(message.text(.current)) }

    static func report(_ failure: CommandFailure) { report(Reason(failure)) }

    static func report(_ reason: Reason) { lines(of: reason).forEach { note($0) } }

    /// Returns true if the user can be asked.
    ///
    /// This requires that all three standard streams are terminals, and that the output is not JSON.
    static func mayAsk(isJSON: Bool) -> Bool {
        !isJSON && StandardInput.isTerminal && StandardStream.output.isTerminal && StandardStream.error.isTerminal
    }

    /// Asks the user a question; every answer except yes counts as no.
    static func isYes(_ question: String) throws -> Bool {
        try StandardStream.error.write(printable(question))
        return ["y", "yes"].contains(StandardInput.line()?.lowercased() ?? "")
    }

    static func lines(of failure: CommandFailure) -> [String] { lines(of: Reason(failure)) }

    private static func lines(of reason: Reason) -> [String] {
        [reason.cause, reason.remedy.map { LogText.toMend.message($0) }].compactMap { $0?.text(.current) }
    }

    static func line(_ text: String) -> String { "blewedge: \(printable(text))\n" }

    /// Returns a text of several lines in which characters that must not be shown to people are replaced.
    static func printable(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { LocalName.printable(String($0)) }
            .joined(separator: "\n")
    }
}
