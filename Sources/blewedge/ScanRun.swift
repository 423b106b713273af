// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import LinuxIO
import SystemPackage
import Wedge

/// How a scan shows what it hears.
enum ScanDisplay {
    /// Each piece of news as it comes.
    case news(DeviceText)
    /// A table that is drawn anew.
    case live(every: Duration)
    /// All devices once, when the scan is over.
    case atTheEnd(DeviceText)
}

/// One scan from the command line, from the adapter to the exit status.
final class ScanRun {
    private let loop: EventLoop
    private let transport: AdapterTransport
    private let captureOptions: CaptureOptions
    private var capture: TrafficCapture?
    private let parameters: ScanParameters
    private let devices: DeviceTable
    private let duration: Duration?
    private let display: ScanDisplay
    private var adapter: (any LowEnergyAdapter)?
    private var scanner: (any DeviceScanner)?
    private var table = LiveTable()
    private var outcome: Result<ExitStatus, CommandFailure>?

    init(
        transport: AdapterTransport,
        capture: CaptureOptions,
        parameters: ScanParameters,
        devices: DeviceTable,
        duration: Duration?,
        display: ScanDisplay
    ) throws(CommandFailure) {
        do {
            loop = try EventLoop()
        } catch {
            throw CommandFailure(.internal, "cannot make an event loop: \(error)")
        }
        self.transport = transport
        captureOptions = capture
        self.parameters = parameters
        self.devices = devices
        self.duration = duration
        self.display = display
    }

    /// Scans until the time is over or a signal comes; throws the exit status unless it is success.
    func run() throws {
        try loop.handleSignals(ExitStatus.signals) { [unowned self] number in
            // The second signal does not wait for the controller.
            if outcome != nil { Process.exit(ExitStatus(signal: number).rawValue) }
            finish(.success(ExitStatus(signal: number)))
        }
        capture = try captureOptions.begin(on: loop, for: transport)
        defer { capture?.finish() }
        do throws(AdapterError) {
            try LowEnergyAdapters.open(transport, on: loop, capture: capture) { [unowned self] result in
                adapterOpened(result)
            }
        } catch {
            throw CommandFailure(error)
        }
        try loop.run()
        if let status = try outcome?.get(), status != .success { throw status }
    }

    private func adapterOpened(_ result: Result<any LowEnergyAdapter, AdapterError>) {
        guard outcome == nil else { return }
        switch result {
        case .failure(let error): finish(.failure(CommandFailure(error)))
        case .success(let adapter):
            self.adapter = adapter
            adapter.onLoss = { [unowned self] reason in finish(.failure(CommandFailure(.unavailable, reason))) }
            do throws(ScanError) {
                let scanner = try adapter.makeScanner()
                self.scanner = scanner
                scanner.onUpdate = { [unowned self] update in heard(update.device) }
                scanner.onFailure = { [unowned self] error in finish(.failure(CommandFailure(error))) }
                scanner.onStarted = { [unowned self] in started() }
                scanner.start(parameters, devices: devices)
            } catch {
                finish(.failure(CommandFailure(error)))
            }
        }
    }

    private func started() {
        if let duration {
            _ = loop.schedule(at: MonotonicClock.now + duration) { [unowned self] in finish(.success(.success)) }
        }
        if case .live(let period) = display { redraw(every: period) }
    }

    private func heard(_ device: DiscoveredDevice) {
        if case .news(let text) = display { print(text.line(ListedDevice(device))) }
    }

    private func redraw(every period: Duration) {
        guard outcome == nil, let scanner else { return }
        scanner.expireDevices()
        let size = StandardStream.output.windowSize ?? (80, 24)
        print(
            table.frame(
                DeviceText.table(scanner.devices.devices.map { ListedDevice($0) }, columns: size.columns),
                rows: size.rows
            )
        )
        _ = loop.schedule(at: MonotonicClock.now + period) { [unowned self] in redraw(every: period) }
    }

    /// Stops scanning, prints what is to come at the end, and ends the loop.
    private func finish(_ result: Result<ExitStatus, CommandFailure>) {
        guard outcome == nil else { return }
        outcome = result
        let finished = { [unowned self] in
            if case .success(.success) = result, case .atTheEnd(let text) = display, let scanner {
                let columns = StandardStream.output.windowSize?.columns ?? 80
                print(text.all(scanner.devices.devices.map { ListedDevice($0) }, columns: columns))
            }
            if let dropped = scanner?.droppedReports, dropped > 0 {
                Console.note("\(dropped) advertising reports were dropped: this machine was too busy")
            }
            adapter?.close()
            loop.stop()
        }
        if let scanner { scanner.stop(completion: finished) } else { finished() }
    }

    private func print(_ text: String) {
        guard !text.isEmpty else { return }
        do throws(Errno) {
            try StandardStream.output.write(text)
        } catch .brokenPipe {
            // Whoever read has enough.
            finish(.success(.success))
        } catch {
            finish(.failure(CommandFailure(.inputOutput, "cannot write to standard output: \(error)")))
        }
    }
}

extension ExitStatus {
    /// The signals that end a command.
    static let signals: [Int32] = [2, 15]

    /// The status after a signal of `signals`.
    init(signal number: Int32) {
        self = number == 2 ? .interrupted : .terminated
    }
}
