// SPDX-License-Identifier: GPL-2.0-or-later

public import ArgumentParser
import Configuration
import Control
import Daemon
import Devices
public import Keystrokes
import LinuxIO
import SystemPackage
import Texts
import Typing

/// The options of every command that connects to the daemon.
struct DaemonOptions: ParsableArguments {
    @OptionGroup var place: SocketOption

    @Flag(help: "Print the daemon's answer as one line of JSON.")
    var json = false

    func client() throws(CommandFailure) -> ControlClient { try place.client() }

    /// Sends a request to the daemon; `done` is printed for people if the request succeeds.
    func tell(_ request: ControlRequest, done: Message? = nil) throws {
        var client = try client()
        try show(try client.ask(request), done: done)
    }

    /// Prints an answer for programs, or a message for people.
    func show(_ answer: ControlClient.Answer, done: Message?) throws {
        if json {
            try StandardStream.output.write(answer.plainLine + "\n")
        } else if let message = answer.value.message("note") ?? done {
            Console.note(message)
        }
    }

    /// Prints the result of a command that did not use the daemon: an object for programs, or a message for people.
    func show(_ object: JSONObject, done: Message) throws {
        if json { try StandardStream.output.write(object.text + "\n") } else { Console.note(done) }
    }

    /// Calls `through` with the daemon, or `alone` if no daemon is running and no control socket is given.
    func perform(_ through: (inout ControlClient) throws -> Void, alone: () throws -> Void) throws {
        do {
            var client = try client()
            try through(&client)
        } catch let failure as CommandFailure where failure.kind == .noDaemon && place.socket == nil {
            try alone()
        }
    }
}

/// The options for the device's profile, and for the outputs to which its data goes.
struct WireOptions: ParsableArguments {
    @Option(
        "Profile of the serial service: \(Profile.builtIn.map(\.name).joined(separator: ", ")), a profile in the configuration, the path of a profile file, or \(Configuration.anyProfile) for the first profile that the device offers.",
        value: "name|path",
        completion: Completion.profiles
    )
    var profile: String?

    @Option(
        help: ArgumentHelp(
            "Output for received data: \(OutputDestination.form). Data that is written to a pseudoterminal or socket is sent to the device.",
            discussion: """
                Repeat the option --to to use several outputs, at most \(Configuration.mostOutputs). Each output has \
                its own queue and byte counts, and does not wait for the other outputs. The option --to replaces all \
                outputs in the configuration.
                """,
            valueName: "output"
        )
    )
    var to: [String] = []

    @Flag(
        inversion: .prefixedNo,
        help: """
            For outputs other than the keyboard, withhold data while typing is paused or the gate is closed. The \
            option --no-gated delivers data to outputs other than the keyboard at all times.
            """
    )
    var gated: Bool?

    @Flag(help: "For outputs other than the keyboard, deliver the received bytes instead of the text to type.")
    var raw = false

    @Option(
        help: ArgumentHelp(
            "Policy for outputs other than the keyboard when 64 KiB of data are queued for a client.",
            discussion: """
                The default policy, drop-newest, drops the new line. The policy drop-oldest drops the oldest queued \
                line. The policy wait accepts no more data until a client is connected and every client has room. Only \
                complete lines are dropped. A line ends at an Enter, at the end of a barcode in scan mode, before a \
                silence of 100 ms, or after 4096 bytes. The bytes of a line count as typed if at least one client \
                received the complete line, and as undelivered if no client received it. Bytes that did not reach \
                every client count as missed.
                """,
            valueName: "policy"
        )
    )
    var slowReader: SlowReaderPolicy?

    /// Applies the given options, which override the configuration.
    func apply(to configuration: inout Configuration) throws(CommandFailure) {
        if let profile { configuration.profile = profile }
        if !to.isEmpty {
            configuration.destinations = to.compactMap { OutputDestination($0) }
            configuration.ownOutputs = []
            guard configuration.destinations.count == to.count else {
                throw CommandFailure(.usage, CommandFaultText.endWanted, PlainText.ends.message())
            }
            guard Set(configuration.destinations).count == to.count, to.count <= Configuration.mostOutputs else {
                throw CommandFailure(.usage, CommandFaultText.tooManyEnds, "\(Configuration.mostOutputs)")
            }
        }
        if let gated { configuration.isGated = gated }
        if raw { configuration.isRaw = true }
        if let slowReader { configuration.slowReader = slowReader }
        if configuration.isRaw, !configuration.hasOtherOutput {
            throw CommandFailure(.usage, CommandFaultText.rawWantsEnd)
        }
    }
}

struct PaceOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Typing rhythm that suits the application: "
                + Pace.Profile.allCases.map { "\($0.rawValue) (\($0.summary))" }.joined(separator: ", ") + ".",
            valueName: "profile"
        )
    )
    var pace: Pace.Profile?

    @Option(
        "Longest stall of the application during which no key is lost. The default stall time depends on --pace. The value 0 means that the application never stalls.",
        value: "time"
    )
    var stall: TimeArgument?

    @Option(
        "Number of events that the kernel queues for each application. Use 64 events for Xorg's old evdev driver (default: 256).",
        value: "events"
    )
    var queue: ReaderQueue?

    /// Applies the given options, which override the configuration.
    func apply(to configuration: inout Configuration) throws(CommandFailure) {
        if let queue { configuration.queue = queue }
        if let pace { configuration.pace = pace }
        if pace != nil || stall != nil { configuration.stall = stall?.duration }
        guard pace != nil || stall != nil || queue != nil else { return }
        do {
            _ = try Pace(configuration.pace, stall: configuration.stall?.inNanoseconds, queue: configuration.queue)
        } catch {
            throw CommandFailure(.configuration, CommandFaultText.stall, configuration.pace.rawValue, "\(error)")
        }
    }
}

/// The options of `--scan`, which types whole barcodes instead of each byte as it arrives.
struct BarcodeModeOptions: ParsableArguments {
    @Flag(help: "Type only complete barcodes, and check each barcode before typing it.")
    var scan = false

    @Option(
        "Bytes that end a barcode with --scan, separated by commas. Each byte is a name such as cr, lf, tab, etx or gs, or a number such as 0x03. The value none means that no byte ends a barcode.",
        value: "bytes"
    )
    var terminator: TerminatorArgument?

    @Option("With --scan, a silence of this length also ends a barcode.", value: "time")
    var idleGap: TimeArgument?

    @Option("With --scan, do not type barcodes with fewer bytes than this (default: 1).", value: "bytes")
    var minLength: Int?

    @Option(
        "With --scan, do not type barcodes with more bytes than this (default: \(BarcodeRules.defaultMaximumLength)).",
        value: "bytes"
    )
    var maxLength: Int?

    @Option(
        "With --scan, type this text before each barcode. A key name in braces, such as {f9}, presses that key.",
        value: "text"
    )
    var prefix: String?

    @Option("With --scan, type this text, such as {tab}, after each barcode instead of its terminator.", value: "text")
    var suffix: String?

    @Option(
        "With --scan, do not type the same barcode again within this time; 0 types every barcode (default: 0).",
        value: "time"
    )
    var duplicates: TimeArgument?

    /// Returns the rules for barcodes; nil if bytes are typed as they arrive.
    ///
    /// `layout` is the keyboard layout of the application that reads the keys.
    func rules(layout: KeyboardLayout) throws(CommandFailure) -> BarcodeRules? {
        guard scan else {
            if let option = optionWithoutScan { throw CommandFailure(.usage, CommandFaultText.optionWantsScan, option) }
            return nil
        }
        let prefix = try affix(prefix, "--prefix", layout) ?? .nothing
        let suffix = try affix(suffix, "--suffix", layout)
        do {
            return try BarcodeRules(
                terminators: terminator?.bytes ?? BarcodeRules.defaultTerminators,
                idleGap: idleGap?.nanoseconds,
                minimumLength: minLength ?? 1,
                maximumLength: maxLength ?? BarcodeRules.defaultMaximumLength,
                prefix: prefix,
                suffix: suffix,
                duplicateWindow: duplicates?.nanoseconds ?? 0
            )
        } catch {
            throw CommandFailure(.configuration, CommandFaultText.optionFault, "--scan", "\(error)")
        }
    }

    private var optionWithoutScan: String? {
        [
            (terminator != nil, "--terminator"), (idleGap != nil, "--idle-gap"), (minLength != nil, "--min-length"),
            (maxLength != nil, "--max-length"), (prefix != nil, "--prefix"), (suffix != nil, "--suffix"),
            (duplicates != nil, "--duplicates"),
        ].first { $0.0 }?.1
    }

    private func affix(
        _ text: String?,
        _ option: String,
        _ layout: KeyboardLayout
    ) throws(CommandFailure) -> BarcodeAffix? {
        guard let text else { return nil }
        do {
            return try BarcodeAffix(text, layout: layout)
        } catch {
            throw CommandFailure(.configuration, CommandFaultText.optionFault, option, "\(error)")
        }
    }
}

extension Pace.Profile: ExpressibleByArgument {}
extension ReaderQueue: ExpressibleByArgument {}

extension TimeArgument {
    var nanoseconds: Int64 { duration.inNanoseconds }
}

/// The bytes that end a barcode, on the command line: names and numbers separated by commas, or `none`.
struct TerminatorArgument: ExpressibleByArgument {
    let bytes: Set<UInt8>

    init?(argument: String) {
        guard let bytes = TerminatorText.bytes(argument) else { return nil }
        self.bytes = bytes
    }
}
