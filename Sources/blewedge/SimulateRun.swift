// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import LinuxIO
import SystemPackage
import Wedge

/// One simulated module in the foreground, from the adapter to the printed account.
final class SimulateRun {
    /// Where the lines come from.
    enum Source {
        case standardInput
        case file(String)
        case barcodes(Int)
    }

    /// How what is written is printed.
    enum Output {
        /// As text, what a terminal could act on left out.
        case text
        /// As digits.
        case hex
        /// As JSON lines, with all that happens.
        case json
    }

    private let loop: EventLoop
    private let name: String
    private let source: Source
    private let rate: Int
    private let lineEnd: [UInt8]
    private let output: Output
    private let transport: AdapterTransport
    private let captureOptions: CaptureOptions
    private var input: LineInput?
    private var adapter: (any LowEnergyAdapter)?
    private var module: SimulatedModule?
    private var sender: LineSender?
    private var barcode = 0
    /// When the next line may go out, and what waits for then.
    private var dueTime = Duration.zero
    private var timer: EventLoop.Timer?
    private var isAtEnd = false
    private var written = 0
    private var writtenBytes = 0
    private var outcome: Result<ExitStatus, CommandFailure>?

    init(
        name: String,
        source: Source,
        rate: Int,
        lineEnd: [UInt8],
        output: Output,
        transport: AdapterTransport,
        capture: CaptureOptions
    ) throws(CommandFailure) {
        do {
            loop = try EventLoop()
        } catch {
            throw CommandFailure(.internal, "cannot make an event loop: \(error)")
        }
        self.name = name
        self.source = source
        self.rate = rate
        self.lineEnd = lineEnd
        self.output = output
        self.transport = transport
        captureOptions = capture
    }

    /// Runs until a signal comes; throws the exit status.
    func run() throws {
        // Before the signals are held back: to open a pipe that nobody writes to waits.
        input = try makeInput()
        try loop.handleSignals(ExitStatus.signals) { [unowned self] number in
            // The second signal does not wait for the controller.
            if outcome != nil { Process.exit(ExitStatus(signal: number).rawValue) }
            finish(.success(ExitStatus(signal: number)))
        }
        let capture = try captureOptions.begin(on: loop, for: transport)
        defer { capture?.finish() }
        do throws(AdapterError) {
            try LowEnergyAdapters.open(transport, on: loop, capture: capture) { [unowned self] result in
                guard outcome == nil else { return }
                switch result {
                case .failure(let error): finish(.failure(CommandFailure(error)))
                case .success(let adapter): advertise(on: adapter)
                }
            }
        } catch {
            throw CommandFailure(error)
        }
        try loop.run()
        printCounts()
        if let status = try outcome?.get(), status != .success { throw status }
    }

    private func makeInput() throws(CommandFailure) -> LineInput? {
        let what: String
        let input: LineInput
        do throws(Errno) {
            switch source {
            case .barcodes: return nil
            case .standardInput:
                what = "standard input"
                input = LineInput(try Descriptor.forStandardInput(), on: loop)
            case .file(let path):
                what = path
                input = LineInput(try Descriptor.forReading(path), on: loop)
            }
        } catch {
            throw Self.failure(error, reading: what)
        }
        input.onLines = { [unowned self] in sender?.pump() }
        input.onFailure = { [unowned self] error in finish(.failure(Self.failure(error, reading: what))) }
        return input
    }

    private static func failure(_ error: Errno, reading what: String) -> CommandFailure {
        let isPermission = error == .permissionDenied || error == .notPermitted
        return CommandFailure(isPermission ? .permission : .inputOutput, "cannot read \(what): \(error)")
    }

    // MARK: The module

    private func advertise(on adapter: any LowEnergyAdapter) {
        self.adapter = adapter
        adapter.onLoss = { [unowned self] reason in finish(.failure(CommandFailure(.unavailable, reason))) }
        do {
            let module = try SimulatedModule(.linble, name: name, on: adapter, loop: loop) { [unowned self] event in
                take(event)
            }
            self.module = module
            sender = LineSender(module) { [unowned self] in nextLine() }
            try module.start { [unowned self] result in
                switch result {
                case .success: note("advertising", "advertising as \(name) on \(adapter.name)")
                case .failure(let error): finish(.failure(CommandFailure(.unavailable, "\(error)")))
                }
            }
        } catch let failure as SimulationFailure {
            let isName = if case .doesNotFit = failure { true } else { false }
            finish(
                .failure(
                    isName
                        ? CommandFailure(.usage, "\(failure)", remedy: "choose a shorter --name")
                        : CommandFailure(.unavailable, "\(failure)")
                )
            )
        } catch {
            finish(.failure(CommandFailure(.usage, "the name is too long", remedy: "choose a shorter --name")))
        }
    }

    private func take(_ event: SimulatedModule.Event) {
        switch event {
        case .connected(let device): note("connected", "connected to \(device)", device)
        case .disconnected(let device, let reason): note("disconnected", "\(device) is gone: \(reason)", device)
        case .subscribed(let isOn):
            note(isOn ? "subscribed" : "unsubscribed", isOn ? "what is sent is wanted" : "what is sent is not wanted")
            if isOn { sender?.pump() }
        case .received(let value):
            written += 1
            writtenBytes += value.count
            print(text(of: value))
        }
    }

    /// The next line with its end, if there is one and its time has come.
    private func nextLine() -> [UInt8]? {
        guard outcome == nil, !isAtEnd else { return nil }
        let now = MonotonicClock.now
        if rate > 0, now < dueTime {
            if timer == nil {
                timer = loop.schedule(at: dueTime) { [unowned self] in
                    timer = nil
                    sender?.pump()
                }
            }
            return nil
        }
        guard let line = readLine() else { return nil }
        // What was held up is not made up for: so many a second is the most.
        if rate > 0 { dueTime = max(dueTime, now) + .nanoseconds(1_000_000_000 / rate) }
        return line
    }

    private func readLine() -> [UInt8]? {
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
        note("end", "all lines are sent; Ctrl-C ends")
    }

    // MARK: What is printed

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

    /// Tells what happens: programs as a JSON line, people on standard error.
    private func note(_ event: String, _ sentence: String, _ device: DeviceAddress? = nil) {
        guard case .json = output else { return Console.note(sentence) }
        var object = JSONObject()
        object.add("event", event)
        if event == "advertising" {
            object.add("name", name)
            object.add("adapter", adapter?.name)
            object.add("adapterAddress", adapter.map { "\($0.address)" })
        }
        object.add("address", device.map { "\($0.address)" })
        object.add("addressType", device.map { "\($0.type)" })
        object.add("lines", event == "end" ? sender?.lines : nil)
        print(object.text)
    }

    private func printCounts() {
        guard let module else { return }
        let lines = sender?.lines ?? 0
        let counts = module.counts
        guard case .json = output else {
            return Console.note(
                "sent \(lines) lines, \(counts.bytes) bytes in \(counts.values) notifications; "
                    + "received \(writtenBytes) bytes in \(written) writes"
            )
        }
        var object = JSONObject()
        object.add("event", "counts")
        object.add("lines", lines)
        object.add("notifications", counts.values)
        object.add("bytes", counts.bytes)
        object.add("writes", written)
        object.add("written", writtenBytes)
        print(object.text)
    }

    private func print(_ text: String) {
        do throws(Errno) {
            try StandardStream.output.write(text + "\n")
        } catch .brokenPipe {
            // Whoever read has enough.
            finish(.success(.success))
        } catch {
            finish(.failure(CommandFailure(.inputOutput, "cannot write to standard output: \(error)")))
        }
    }

    // MARK: The end

    private func finish(_ result: Result<ExitStatus, CommandFailure>) {
        guard outcome == nil else { return }
        outcome = result
        if let timer { loop.cancel(timer) }
        timer = nil
        let stopped = { [unowned self] in
            adapter?.close()
            loop.stop()
        }
        if let module { module.stop(completion: stopped) } else { stopped() }
    }
}
