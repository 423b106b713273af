// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import BluetoothAdapters
import BluetoothPackets
import Configuration
import Control
import Daemon
import Devices
import Keystrokes
import Link
import LinuxIO
import SystemPackage
import Texts
import Typing
import VirtualAdapters

/// A demonstration of the whole data path on a simulated radio.
///
/// The simulated scanner and the wedge use separate controllers.
final class DemoRun {
    /// Name that the scanner advertises.
    private static let name = "LINBLE-DEMO"
    /// Time limit for the whole demonstration; no working machine needs that long.
    private static let timeout = Duration.seconds(120)
    /// Pause between two barcodes if a person is watching.
    private static let pause = Duration.milliseconds(700)

    private let loop: EventLoop
    private let radio: MemoryRadio
    private let peripheral: AdapterCore
    private let central: AdapterCore
    private let centralAdapter: HostAdapter
    private let keyboard: TextKeyboard
    private let settings: KeyboardSettings
    private let barcodes: [String]
    private let isFast: Bool
    private let isJSON: Bool
    /// True if the diagram is redrawn in place; false if events are printed line by line.
    private let draws: Bool

    private var picture = DemoPicture()
    private var stages = DemoPicture.Stages()
    private var module: SimulatedModule?
    private var sender: LineSender?
    private var service: KeyboardService?
    private var arrival: EventLoop.Registration?
    private var sent = 0
    private var typed = ""
    private var outcome: Result<ExitStatus, CommandFailure>?

    init(_ barcodes: [String], isFast: Bool, isJSON: Bool) throws {
        self.barcodes = barcodes
        self.isFast = isFast
        self.isJSON = isJSON
        draws = !isFast && !isJSON && StandardStream.output.isTerminal
        stages.barcodes = (0, barcodes.count)
        loop = try .ofCommand()
        radio = MemoryRadio(on: loop)
        let scannerAdapter = HostAdapter(
            name: "scanner",
            transport: radio.addController(BluetoothAddress(rawValue: 0xC0FF_EE00_0001)),
            on: loop
        )
        centralAdapter = HostAdapter(
            name: "memory",
            transport: radio.addController(BluetoothAddress(rawValue: 0xC0FF_EE00_0002)),
            on: loop
        )
        peripheral = AdapterCore(loop, starting: scannerAdapter)
        central = AdapterCore(loop, starting: centralAdapter)
        keyboard = try TextKeyboard(layout: .us)
        guard let device = DeviceSelector(Self.name) else {
            throw CommandFailure(.internal, CommandFaultText.demoName)
        }
        settings = KeyboardSettings(
            adapter: .any,
            device: device,
            profiles: [.linble],
            typing: TypingSettings(
                table: try CompiledTable(ByteTable(.linble), layout: .us),
                pacer: Pacer(try isFast ? Pace(stall: 0, queue: .large) : Pace(.desktop, queue: .large)),
                maximumAge: nil,
                capsLock: .ignore,
                verifies: false
            )
        )
    }

    /// Runs until every barcode is typed; throws the exit status unless it is success.
    func run(_ captureOptions: CaptureOptions) throws {
        try loop.handleSignals(ExitStatus.signals) { [unowned self] number in
            if outcome != nil { Process.exit(ExitStatus(signal: number).rawValue) }
            finish(.success(ExitStatus(signal: number)))
        }
        arrival = try loop.watch(keyboard.screen.arrival.descriptor, for: .readable) { [unowned self] _ in
            keyboard.screen.arrival.reset()
            show(keyboard.screen.takeText())
        }
        _ = loop.schedule(at: MonotonicClock.now + Self.timeout) { [unowned self] in
            finish(
                .failure(CommandFailure(.timeout, CommandFaultText.demoTime, "\(Self.timeout.components.seconds)"))
            )
        }
        let capture = try captureOptions.begin(on: loop, for: nil)
        defer { capture?.finish() }
        centralAdapter.onPacket = { [weak capture] isSent, packet in capture?.record(isSent ? .sent : .received, packet)
        }
        note(DemoText.radio, DemoText.memory.message())
        peripheral.onEvent = { [unowned self] event in
            switch event {
            case .ready: advertise()
            case .failed(let error): finish(.failure(CommandFailure(error)))
            case .lost(let loss): finish(.failure(CommandFailure(loss)))
            }
        }
        peripheral.start()
        try loop.run()
        try conclude()
    }

    // MARK: The scanner

    private func advertise() {
        do {
            let module = try SimulatedModule(.linble, name: Self.name, on: peripheral.radio) {
                [unowned self] event in
                // Wait before sending, because the wedge types only after it has registered the subscription on its own
                // side.
                if case .subscribed(true) = event { sender?.postpone(by: Self.pause) }
            }
            self.module = module
            sender = LineSender(
                module,
                every: isFast ? .zero : Self.pause,
                on: loop,
                next: { [unowned self] in nextBarcode() },
                onSent: { [unowned self] line in
                    stages.barcodes.sent = sent
                    let barcode = String(decoding: line.dropLast(), as: UTF8.self)
                    note(DemoText.notify, DemoText.sent.message(barcode + "⏎", "\(line.count)"))
                }
            )
            try module.start { [unowned self] result in
                switch result {
                case .success:
                    note(DemoText.scanner, DemoText.advertises.message(Self.name))
                    type()
                case .failure(let error): fail(error)
                }
            }
        } catch {
            fail(error)
        }
    }

    /// Returns the next barcode, with the Enter at its end.
    private func nextBarcode() -> [UInt8]? {
        guard outcome == nil, sent < barcodes.count else { return nil }
        defer { sent += 1 }
        return Array(barcodes[sent].utf8) + [0x0D]
    }

    // MARK: The wedge

    private func type() {
        do throws(CommandFailure) {
            let service = try KeyboardService(settings, through: central, screen: keyboard) {
                [unowned self] event in
                guard case .state(let state, _, let reason) = event else { return }
                let name = StateNameText(state)
                let cause = reason?.cause ?? Message(detail: Self.name)
                stages.state = DemoText.state.message(name.message(), cause)
                note(name, cause)
            }
            self.service = service
            service.start { [unowned self] result in
                if case .failure(let failure) = result { finish(.failure(failure)) }
            }
        } catch {
            finish(.failure(error))
        }
    }

    private func show(_ text: String) {
        typed += text
        if draws {
            stages.text = String(typed.split(separator: "\n").last ?? "")
            draw()
        } else if !isJSON, !isFast {
            do throws(Errno) {
                try StandardStream.output.write(text)
            } catch {
                let failure = CommandFailure(.inputOutput, CommandFaultText.noOutput, "\(error)")
                finish(error == .brokenPipe ? .success(.success) : .failure(failure))
            }
        }
        if typed.utf8.lazy.filter({ $0 == 0x0A }).count == barcodes.count { finish(.success(.success)) }
    }

    // MARK: The end

    private func fail(_ error: any Error) {
        finish(.failure(CommandFailure(.internal, CommandFaultText.simulation, "\(error)")))
    }

    private func finish(_ result: Result<ExitStatus, CommandFailure>) {
        guard outcome == nil else { return }
        outcome = result
        guard let service else { return loop.stop() }
        service.stop { [unowned self] in
            show(keyboard.screen.takeText())
            loop.stop()
        }
    }

    private func conclude() throws {
        let bytes = service?.counts.bytes
        let right = zip(typed.split(separator: "\n"), barcodes).count { $0 == $1 }
        let accounted = bytes.map {
            $0.typed + $0.discarded + $0.rejected + $0.gated + $0.lost + $0.waiting == $0.received
        }
        if isJSON {
            var object = JSONObject()
            object.add("event", "demo")
            object.add("barcodes", UInt64(barcodes.count))
            object.add("right", UInt64(right))
            object.add("received", bytes?.received ?? 0)
            object.add("typed", bytes?.typed ?? 0)
            object.add("lost", bytes?.lost ?? 0)
            try StandardStream.output.write(object.text + "\n")
        } else {
            let account = bytes.map { AccountText.demoBytes.text(.current, with: Self.numbers($0)) }
            try StandardStream.output.write(
                AccountText.demo.text(
                    .current,
                    "\(right)",
                    "\(barcodes.count)",
                    account ?? AccountText.demoNothing.text(.current)
                ) + "\n"
            )
        }
        if let status = try outcome?.get(), status != .success { throw status }
        guard right == barcodes.count, accounted == true else {
            throw CommandFailure(.internal, CommandFaultText.demoWrong)
        }
    }

    private static func numbers(_ bytes: Ledger.Snapshot) -> [String] {
        [bytes.received, bytes.typed, bytes.discarded, bytes.rejected, bytes.gated, bytes.lost, bytes.waiting].map {
            "\($0)"
        }
    }

    /// Reports an event in one of the stages, on standard error or by redrawing the diagram.
    private func note(_ stage: some Localized, _ message: Message) {
        guard !isFast, !isJSON else { return }
        guard !draws else { return draw() }
        let language = Language.current
        let line = DisplayWidth.padded(stage.text(language), to: 13) + " " + message.text(language)
        try? StandardStream.error.write(line + "\n")
    }

    private func draw() {
        if let counts = service?.counts {
            stages.notifications = counts.values.notifications
            stages.bytes = counts.bytes.received
            stages.waiting = counts.bytes.waiting
            stages.typed = counts.bytes.typed
            stages.discarded = counts.bytes.discarded
            stages.rejected = counts.bytes.rejected
        }
        (stages.events, stages.writes) = keyboard.screen.counts
        let columns = StandardStream.output.windowSize?.columns ?? 80
        try? StandardStream.output.write(picture.draw(stages, columns: columns))
    }
}

struct DemoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Demonstrate blewedge with a simulated radio, without an adapter or root privileges.",
        usage: "blewedge demo [<options>]",
        discussion: """
            The demo simulates a barcode reader and a Bluetooth controller. blewedge finds the simulated reader, \
            connects to it, discovers its service and subscribes to it, with the same code as in `blewedge run`. The \
            demo types the barcodes into this terminal instead of pressing keys on a virtual keyboard. The demo \
            succeeds if all barcodes arrive and the byte counts add up.

            With --tui, the demo shows the pages of `blewedge tui` with five simulated devices: two barcode readers, a \
            scale, a keyboard and a badge. The line at the bottom of the screen shows the next step of the demo. Press \
            q to end the demo.

            EXAMPLES:
              blewedge demo                  Watch the demo.
              blewedge demo --tui            Try the pages yourself, step by step.
              blewedge demo --fast           Without pauses; status 0 on success.
              blewedge demo --fast --barcodes 1000 --json
            """
    )

    @Flag(help: "Run the demo without pauses, and without drawing on the terminal.")
    var fast = false

    @Flag(help: "Show the pages of `blewedge tui` with simulated devices, and explain each step.")
    var tui = false

    @Option("Number of barcodes to send instead of a few samples.", value: "count")
    var barcodes: Int?

    @OptionGroup var captureOptions: CaptureOptions

    @Flag(help: "Print the output as JSON, with one object per line.")
    var json = false

    func validate() throws {
        if tui, fast || json || barcodes != nil || captureOptions.capture != nil {
            throw ValidationError("--tui takes no other option")
        }
        if let barcodes, !(1...100_000).contains(barcodes) {
            throw ValidationError("--barcodes takes 1 to 100000")
        }
    }

    func run() throws {
        if tui { return try DemoPages().run() }
        let list = barcodes.map { (0..<$0).map(Barcodes.numbered) } ?? Barcodes.samples
        try DemoRun(list, isFast: fast, isJSON: json).run(captureOptions)
    }
}
