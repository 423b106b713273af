// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import BluetoothHost
import BluetoothPackets
import Configuration
import Control
import Daemon
import Devices
import Link
import LinuxIO
import Rehearsal
import SystemPackage
import Texts

/// A simulated device in the foreground, from opening the adapter to printing the summary.
final class SimulateRun {
    /// Kind of the simulated device.
    enum Kind {
        case serial(Profile)
        case keyboard(Set<KeyboardFault>)
    }

    enum Source {
        case standardInput
        case file(String)
        case barcodes(Int)
    }

    /// The format in which values that a central writes are printed.
    enum Output {
        /// Text in which characters that control a terminal are replaced.
        case text
        case hex
        /// JSON lines with all events.
        case json
    }

    /// The security that a central must have, and the conditions for pairing.
    struct Security {
        /// Minimum security level of a central that subscribes or writes.
        var required = GATTLinkSecurity.Level.none
        /// Time during which a central may pair; nil if pairing is off.
        var limit: Duration?
        /// The way in which the user of the simulated device takes part in a pairing.
        var console = PairingConsole.none

        var access: GATTAccess {
            switch required {
            case .none: .open
            case .encrypted: .encrypted
            case .authenticated: .authenticated
            }
        }
    }

    private let foreground: ForegroundRun
    private let access: GATTAccess
    /// The pairing and the bonds; nil if no security is required and pairing is off.
    private let pairing: SimulatedPairing?
    private let kind: Kind
    private let name: String
    private let source: Source
    private let rate: Int
    private let lineEnd: [UInt8]
    private let output: Output
    private var input: LineInput?
    private var board: (any SimulatedBoard)?
    private var barcode = 0
    private var isAtEnd = false
    /// True once the device was advertised; before that, there is nothing to count.
    private var isAdvertised = false
    private var written = 0
    private var writtenBytes = 0

    init(
        _ kind: Kind,
        name: String,
        source: Source,
        rate: Int,
        lineEnd: [UInt8],
        output: Output,
        security: Security,
        transport: AdapterTransport,
        capture: CaptureOptions
    ) throws(CommandFailure) {
        foreground = try ForegroundRun(transport, capture: capture)
        access = security.access
        let isJSON = if case .json = output { true } else { false }
        pairing =
            security.required == .none && security.limit == nil
            ? nil
            : try SimulatedPairing(
                foreground,
                through: transport,
                console: security.console,
                required: security.required,
                limit: security.limit,
                isJSON: isJSON
            )
        self.kind = kind
        self.name = name
        self.source = source
        self.rate = rate
        self.lineEnd = lineEnd
        self.output = output
        foreground.onFinish = { [unowned self] completion in end(completion) }
    }

    /// Runs until a signal arrives; throws the exit status.
    func run() throws {
        // Open the input before signals are blocked, because opening a named pipe waits for a writer.
        input = try makeInput()
        defer {
            if isAdvertised { printCounts() }
            pairing?.release()
        }
        try foreground.run { [unowned self] radio in advertise(on: radio) }
    }

    private func makeInput() throws(CommandFailure) -> LineInput? {
        let what: Message
        let input: LineInput
        do throws(Errno) {
            switch source {
            case .barcodes: return nil
            case .standardInput:
                what = LogText.standardInput.message()
                input = LineInput(try Descriptor.forStandardInput(), on: foreground.loop)
            case .file(let path):
                what = Message(detail: path)
                input = LineInput(try Descriptor.forReading(path), on: foreground.loop)
            }
        } catch {
            throw Self.failure(error, reading: what)
        }
        input.onLines = { [unowned self] in board?.pump() }
        input.onFailure = { [unowned self] error in foreground.finish(.failure(Self.failure(error, reading: what))) }
        return input
    }

    private static func failure(_ error: Errno, reading what: Message) -> CommandFailure {
        let isPermission = error == .permissionDenied || error == .notPermitted
        return CommandFailure(isPermission ? .permission : .inputOutput, CommandFaultText.unreadable, what, "\(error)")
    }

    // MARK: The device

    private func advertise(on radio: RadioArbiter) {
        do {
            if let adapter = radio.adapter { try pairing?.prepare(adapter) }
            let board = try makeBoard(on: radio)
            self.board = board
            // Do this before the first connection, because a link of the kernel keeps the IO capability with which it
            // began.
            pairing?.begin()
            try board.start { [unowned self] result in
                switch result {
                case .success:
                    isAdvertised = true
                    note("advertising", LogText.advertising.message(name, radio.adapter?.name ?? ""))
                case .failure(let error):
                    foreground.finish(.failure(CommandFailure(.unavailable, CommandFaultText.simulation, "\(error)")))
                }
            }
        } catch let failure as CommandFailure {
            foreground.finish(.failure(failure))
        } catch let failure as SimulationFailure {
            let isName = if case .doesNotFit = failure { true } else { false }
            foreground.finish(
                .failure(
                    isName
                        ? CommandFailure(.usage, CommandFaultText.nameDoesNotFit, "\(failure)")
                        : CommandFailure(.unavailable, CommandFaultText.simulation, "\(failure)")
                )
            )
        } catch {
            foreground.finish(.failure(CommandFailure(.usage, CommandFaultText.nameTooLong)))
        }
    }

    private func makeBoard(on radio: RadioArbiter) throws(GATTDatabaseError) -> any SimulatedBoard {
        let period = rate > 0 ? Duration.nanoseconds(1_000_000_000 / rate) : .zero
        let next = { [unowned self] in nextLine() }
        let onEvent = { [unowned self] (event: SimulatedEvent) in take(event) }
        switch kind {
        case .serial(let profile):
            return try SerialBoard(
                profile,
                name: name,
                access: access,
                every: period,
                on: radio,
                next: next,
                onEvent: onEvent
            )
        case .keyboard(let faults):
            return try KeyboardBoard(
                name: name,
                access: access,
                faults: faults,
                every: period,
                on: radio,
                next: next,
                onEvent: onEvent
            )
        }
    }

    private func take(_ event: SimulatedEvent) {
        switch event {
        case .connected(let device): note("connected", LogText.connected.message("\(device)"), device)
        case .disconnected(let device, let reason):
            note("disconnected", LogText.disconnectedFrom.message("\(device)", "\(reason)"), device)
        case .subscribed(let isOn):
            note(isOn ? "subscribed" : "unsubscribed", (isOn ? LogText.wanted : .unwanted).message())
            if isOn { board?.pump() }
        case .received(let value):
            written += 1
            writtenBytes += value.count
            foreground.print(text(of: value) + "\n")
        case .lights(let lights):
            written += 1
            writtenBytes += 1
            let hex = Hexadecimal.text([lights])
            note("lights", LogText.lights.message(hex), hex: hex)
        }
    }

    /// Returns the next line with its line end; nil if none is available.
    private func nextLine() -> [UInt8]? {
        guard foreground.outcome == nil, !isAtEnd else { return nil }
        if case .barcodes(let count) = source {
            guard barcode < count else {
                noteEnd()
                return nil
            }
            defer { barcode += 1 }
            return Array(Barcodes.numbered(barcode).utf8) + lineEnd
        }
        guard let piece = input?.next() else {
            if input?.isAtEnd == true { noteEnd() }
            return nil
        }
        return piece.isLineEnd ? piece.bytes + lineEnd : piece.bytes
    }

    private func noteEnd() {
        isAtEnd = true
        note("end", LogText.linesSent.message())
    }

    // MARK: Output

    private func text(of value: [UInt8]) -> String {
        let text = String(decoding: value, as: UTF8.self)
        switch output {
        case .text: return LocalName.printable(text)
        case .hex: return Hexadecimal.text(value)
        case .json:
            var object = JSONObject()
            object.add("event", "received")
            object.add("length", value.count)
            object.add("hex", Hexadecimal.text(value))
            object.add("text", text)
            return object.text
        }
    }

    /// Reports an event: as a JSON line for programs, or on standard error for people.
    private func note(
        _ event: String,
        _ sentence: Message,
        _ device: DeviceAddress? = nil,
        hex: String? = nil
    ) {
        guard case .json = output else { return Console.note(sentence) }
        var object = JSONObject()
        object.add("event", event)
        if event == "advertising" {
            object.add("name", name)
            object.add("adapter", foreground.core?.adapter?.name)
            object.add("adapterAddress", foreground.core?.adapter.map { "\($0.address)" })
        }
        object.add("address", device.map { "\($0.address)" })
        object.add("addressType", device.map { "\($0.type)" })
        object.add("lines", event == "end" ? board?.lines : nil)
        object.add("hex", hex)
        foreground.print(object.text + "\n")
    }

    private func printCounts() {
        guard let board else { return }
        let (notifications, bytes) = board.sent
        guard case .json = output else {
            if board.omitted > 0 { Console.note(LogText.untyped.message("\(board.omitted)")) }
            return Console.note(
                LogText.simulated.message(
                    "\(board.lines)",
                    "\(bytes)",
                    "\(notifications)",
                    "\(writtenBytes)",
                    "\(written)"
                )
            )
        }
        var object = JSONObject()
        object.add("event", "counts")
        object.add("lines", board.lines)
        object.add("notifications", notifications)
        object.add("bytes", bytes)
        object.add("writes", written)
        object.add("written", writtenBytes)
        if case .keyboard = kind { object.add("omitted", board.omitted) }
        foreground.print(object.text + "\n")
    }

    // MARK: The end

    private func end(_ completion: @escaping () -> Void) {
        pairing?.close()
        if let board { board.stop(completion: completion) } else { completion() }
    }
}
