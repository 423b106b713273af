// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import BluetoothAdapters
import BluetoothHost
import BluetoothPackets
import Configuration
import Control
import Daemon
import Devices
import LinuxIO
import Rehearsal
import Texts

/// The line end that is sent to the central.
enum LineEnd: String, ExpressibleByArgument, CaseIterable {
    case cr
    case lf
    case crlf
    case none

    var bytes: [UInt8] {
        switch self {
        case .cr: [0x0D]
        case .lf: [0x0A]
        case .crlf: [0x0D, 0x0A]
        case .none: []
        }
    }
}

extension KeyboardFault: ExpressibleByArgument {}

struct SimulateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Simulate a serial device or a keyboard scanner that sends lines.",
        usage: "blewedge simulate [<options>]",
        discussion: """
            The simulated device advertises the LINBLE UART service or the service of another profile, and accepts \
            connections until Ctrl-C. Lines are read from standard input, a file or a generator, and are sent as \
            notifications in order. The command reads lines only as fast as the central receives them, and waits while \
            no central is connected. Each write from a central is printed on a separate line.

            With --hid, the simulated device is a keyboard scanner (HID over GATT) instead: it types the lines on a US \
            keyboard, with Enter after each line. A central can use it only over a link that is encrypted with keys \
            from pairing. By default, pairing needs no input or output. When a paired central disconnects, the \
            keyboard keeps its subscriptions. With --fault, the keyboard misbehaves deliberately, to test a host.

            With --pairable, one central may pair once within the given time. The keys of the central are saved in the \
            state directory. `blewedge bonds` lists these keys, and `blewedge forget` deletes them. With --security, a \
            central can subscribe and write only over a link that is encrypted with keys from pairing. If a daemon \
            uses the adapter, stop the daemon first.

            EXAMPLES:
              blewedge simulate                       Send each line typed here.
              blewedge simulate --name SCANNER-7 --file scans.txt
              blewedge simulate --barcodes 1000 --rate 20
              blewedge simulate --profile nordic --name SCANNER-8
              blewedge simulate --adapter hci1 --json
              blewedge simulate --adapter h4:unix:/run/controller.sock
              blewedge simulate --adapter user:hci1 --pairable 60 --security encrypted
              blewedge simulate --hid --barcodes 50   Type barcodes as a keyboard scanner.
              blewedge simulate --hid --file scans.txt --fault forget-subscriptions
            """
    )

    @OptionGroup var adapterOptions: AdapterOptions

    @OptionGroup var captureOptions: CaptureOptions

    @Option("Name to advertise (default: LINBLE-TEST, with --hid HID Scanner).", value: "name")
    var name: String?

    @Option(
        "Profile of the serial service to offer (default: linble): \(Profile.serial.map(\.name).joined(separator: ", ")).",
        value: "profile"
    )
    var profile: String?

    @Flag(help: "Simulate a keyboard scanner (HID over GATT) instead of a serial device.")
    var hid = false

    @Option(
        help: ArgumentHelp(
            "Deliberate fault of the keyboard scanner; may be repeated.",
            discussion: """
                no-encryption requires no encryption. keep-key-down omits the release between different characters. \
                forget-subscriptions forgets the subscriptions of a paired central when it disconnects. short-map \
                refuses to read the second half of the report map.
                """,
            valueName: "kind"
        )
    )
    var fault: [KeyboardFault] = []

    @Option("Send the lines of this file instead of standard input.", value: "file", completion: .file())
    var file: String?

    @Option("Number of different barcodes to send instead of standard input.", value: "number")
    var barcodes: Int?

    @Option(
        "Maximum number of lines per second; 0 sends as fast as possible (default: 1 with --barcodes, 0 without).",
        value: "number"
    )
    var rate: Int?

    @Option("Line ending to send after each line; with --hid, cr (Enter) or none.", value: "end")
    var lineEnd = LineEnd.cr

    @Option(
        "Accept pairing for this time, from 1 to 600 s. By default, pairing is rejected; with --hid, it is accepted for 600 s.",
        value: "time"
    )
    var pairable: TimeArgument?

    @Option(
        "Minimum security level for subscribing and writing (default: none); with --hid, also for reading (default: encrypted).",
        value: GATTLinkSecurity.Level.allValueStrings.joined(separator: "|")
    )
    var security: GATTLinkSecurity.Level?

    @Option(
        "Input and output that you can use for pairing with --pairable. Your answers are read from standard input, whose lines are then not sent to the central.",
        value: PairingConsole.allCases.map(\.rawValue).joined(separator: "|")
    )
    var console: PairingConsole?

    @Flag(help: "Print received data in hexadecimal instead of as text.")
    var hex = false

    @Flag(help: "Print received data and events as JSON, with one object per line.")
    var json = false

    func validate() throws {
        if file != nil, barcodes != nil { throw ValidationError("--file and --barcodes exclude each other.") }
        if hex, json { throw ValidationError("--hex and --json exclude each other; JSON has both forms.") }
        if let barcodes, !(1...10_000_000).contains(barcodes) {
            throw ValidationError("--barcodes takes 1 to 10000000.")
        }
        if let rate, !(0...10_000).contains(rate) { throw ValidationError("--rate takes 0 to 10000.") }
        if let pairable, !(.seconds(1)...(.seconds(600))).contains(pairable.duration) {
            throw ValidationError("--pairable must be 1 to 600.")
        }
        if console != nil, pairable == nil, !hid { throw ValidationError("--console requires --pairable.") }
        if let console, console.isAsked, !leavesInput {
            throw ValidationError("--console \(console.rawValue) requires --file or --barcodes.")
        }
        if let profile, !Profile.serial.contains(where: { $0.name == profile }) {
            let names = Profile.serial.map(\.name).joined(separator: ", ")
            throw ValidationError("--profile takes one of \(names), not \(LocalName.printable(profile)).")
        }
        if name?.isEmpty == true { throw ValidationError("--name must not be empty.") }
        try validateKeyboard()
    }

    private func validateKeyboard() throws {
        guard hid else {
            if !fault.isEmpty { throw ValidationError("--fault requires --hid.") }
            return
        }
        if profile != nil { throw ValidationError("--hid and --profile exclude each other.") }
        if lineEnd == .lf || lineEnd == .crlf {
            throw ValidationError("--hid takes --line-end cr or none: a keyboard has no key for a line feed.")
        }
        if security == GATTLinkSecurity.Level.none {
            throw ValidationError("--hid requires encryption, except with --fault no-encryption.")
        }
        if security != nil, fault.contains(.noEncryption) {
            throw ValidationError("--security and --fault no-encryption exclude each other.")
        }
    }

    /// True if standard input is free for the user's answers, because the data comes from elsewhere.
    private var leavesInput: Bool { file != nil || barcodes != nil }

    /// Default for the way in which the user of this simulated device can take part in a pairing.
    private var usualConsole: PairingConsole {
        // A scanner has neither a display nor an input for pairing.
        guard !hid, StandardStream.error.isTerminal else { return .none }
        return leavesInput && StandardInput.isTerminal ? .keyboardDisplay : .display
    }

    func run() throws {
        let source: SimulateRun.Source =
            if let file { .file(file) } else if let barcodes { .barcodes(barcodes) } else { .standardInput }
        let isEncrypted = hid && !fault.contains(.noEncryption)
        try SimulateRun(
            hid ? .keyboard(Set(fault)) : .serial(profile.flatMap { Profile(named: $0) } ?? .linble),
            name: name ?? (hid ? SimulatedKeyboard.usualName : "LINBLE-TEST"),
            source: source,
            rate: rate ?? (barcodes == nil ? 0 : 1),
            lineEnd: lineEnd.bytes,
            output: json ? .json : hex ? .hex : .text,
            security: SimulateRun.Security(
                required: security ?? (isEncrypted ? .encrypted : .none),
                limit: pairable?.duration ?? (isEncrypted ? .seconds(600) : nil),
                console: console ?? usualConsole
            ),
            transport: adapterOptions.adapter ?? .any,
            capture: captureOptions
        ).run()
    }
}

/// The bonds of a simulated module (CB-27, X-8).
///
/// They are the stored bonds, and the bond with a central that pairs within the time limit.
final class SimulatedPairing {
    private let foreground: ForegroundRun
    private let offer: PairableOptions
    /// True if a central may pair; false if only stored bonds are used.
    private let isPairable: Bool
    private let isJSON: Bool
    private let store: BondStore
    private let known: BondStore.Contents
    /// The lock of an adapter that is shared through the kernel; `foreground` locks an exclusive adapter.
    private let lock: AdapterLock?
    private var adapter: DeviceAddress?
    private var window: (any PairableMode)?
    private var questions: PairingQuestions?

    /// Reads the stored bonds; a central may pair within `limit`, or not at all if `limit` is nil.
    init(
        _ foreground: ForegroundRun,
        through transport: AdapterTransport,
        console: PairingConsole,
        required: GATTLinkSecurity.Level,
        limit: Duration?,
        isJSON: Bool
    ) throws(CommandFailure) {
        self.foreground = foreground
        offer = PairableOptions(console.capability, required: max(required, .encrypted), limit: limit ?? .zero)
        isPairable = limit != nil
        self.isJSON = isJSON
        store = BondStore(try DaemonPaths.current().bonds)
        known = try store.found()
        lock = transport.isShared ? AdapterLock.ofCommand() : nil
    }

    /// Passes the bonds to the adapter.
    ///
    /// Throws an error if another process is using the adapter, or if its address is not permanent.
    func prepare(_ adapter: any LowEnergyAdapter) throws(CommandFailure) {
        guard adapter.keepsAddress else {
            throw CommandFailure(.unavailable, BondFaultText.noAddress, adapter.name)
        }
        if let refusal = lock?.take(adapter.name), case .used = refusal { throw CommandFailure(refusal) }
        adapter.use(known.bonds)
        self.adapter = DeviceAddress(adapter.address, .public)
        if isPairable { window = adapter.makePairableMode(offer) }
    }

    /// Starts pairable mode if a central may pair.
    func begin() {
        guard let window, foreground.outcome == nil else { return }
        questions = PairingQuestions(on: foreground.loop, isJSON: isJSON, print: foreground.print) { answer in
            switch answer {
            case .same(let isSame): window.answer(isSame)
            case .passkey(let passkey): window.answer(passkey: passkey)
            }
        }
        window.onNews = { [unowned self] news in take(news) }
        tell("pairable", BondText.pairable.message(seconds))
        window.open()
    }

    private var seconds: String { "\(offer.limit.components.seconds)" }

    private func take(_ news: PairableEvent) {
        guard foreground.outcome == nil else { return }
        switch news {
        case .ask(let question, _): questions?.ask(question)
        case .show(let passkey, _): questions?.show(passkey)
        case .failed(let device, let failure):
            questions?.settle()
            let cause = CommandFailure(failure, of: device, within: offer.limit).cause
            tell("pairingFailed", BondText.notPaired.message("\(device)", cause), device)
        case .refused(let opcode, let status):
            end()
            guard let adapter else { return }
            let failure = ManagedPairing.Failure.refused(opcode, status)
            foreground.finish(.failure(CommandFailure(failure, of: adapter, within: offer.limit)))
        case .ended(nil):
            end()
            tell("pairingClosed", BondText.pairableOver.message())
        case .ended(let bond?):
            end()
            keep(bond)
        }
    }

    private func keep(_ bond: Bond) {
        do throws(BondStore.Failure) {
            try store.add(bond)
        } catch {
            return foreground.finish(.failure(CommandFailure(error)))
        }
        let facts = BondFacts(bond)
        guard isJSON else { return Console.note(facts.report.message("\(facts.device)")) }
        foreground.print(PairingEvent.paired(facts).object.text + "\n")
    }

    /// Reports an event: as a JSON line for programs, or on standard error for people.
    private func tell(_ event: String, _ sentence: Message, _ device: DeviceAddress? = nil) {
        guard isJSON else { return Console.note(sentence) }
        var object = JSONObject()
        object.add("event", event)
        object.add("address", device.map { "\($0.address)" })
        object.add("addressType", device.map { "\($0.type)" })
        foreground.print(object.text + "\n")
    }

    private func end() {
        questions?.close()
        questions = nil
    }

    func release() { lock?.release() }

    /// Ends pairable mode.
    func close() {
        end()
        window?.close()
        window = nil
    }
}
