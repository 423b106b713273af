// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import Control
import Daemon
import Devices
import LinuxIO
import SystemPackage
import Texts

/// The base of commands that use an adapter in the foreground, or the daemon that has it: event loop, signals, the adapter, and one outcome.
///
/// To be used on the event loop's thread.
final class ForegroundRun {
    let loop: EventLoop
    /// The adapter, once it is looked for.
    private(set) var core: AdapterCore?
    /// The outcome of the command; nil until it is known, after which nothing new is begun.
    private(set) var outcome: Result<ExitStatus, CommandFailure>?
    /// Ends what the command has begun, and calls its argument when that is done; the adapter is open until then.
    var onFinish: (_ completion: @escaping () -> Void) -> Void = { $0() }

    private let transport: AdapterTransport
    private let captureOptions: CaptureOptions?
    /// The lock of a controller that only one process can have (D-12); nil for others, and where there is no place for it.
    private let lock: AdapterLock?

    init(_ transport: AdapterTransport, capture: CaptureOptions? = nil) throws(CommandFailure) {
        loop = try .ofCommand()
        self.transport = transport
        lock = transport.exclusiveName == nil ? nil : AdapterLock.ofCommand()
        captureOptions = capture
    }

    /// Opens the adapter, hands it over, and runs until `finish` or a signal; throws the exit status unless it is success.
    ///
    /// The note is for people, and tells what comes once signals are heeded.
    func run(note: Message? = nil, _ begin: @escaping (RadioArbiter) -> Void) throws {
        try heedSignals()
        let capture = try captureOptions?.begin(on: loop, for: transport)
        defer { capture?.finish() }
        if let note { Console.note(note) }
        let core = AdapterCore(loop, transport, capture: capture)
        self.core = core
        if let lock { core.isAdmitted = { [unowned self] name in admits(name, lock) } }
        defer { lock?.release() }
        core.onEvent = { [unowned self] event in
            guard outcome == nil else { return }
            switch event {
            case .ready: begin(core.radio)
            case .failed(let error): finish(.failure(CommandFailure(error)))
            case .lost(let loss): finish(.failure(CommandFailure(loss)))
            }
        }
        // From the loop, since an adapter that cannot be used at all says so at once.
        _ = loop.schedule(at: .zero) { core.start() }
        try runLoop()
    }

    /// Runs until `finish` or a signal, with what is on the loop already; throws the exit status unless it is success.
    func runWithoutAdapter() throws {
        try heedSignals()
        try runLoop()
    }

    private func heedSignals() throws {
        try loop.handleSignals(ExitStatus.signals) { [unowned self] number in
            // The second signal does not wait for the controller.
            if outcome != nil { Process.exit(ExitStatus(signal: number).rawValue) }
            finish(.success(ExitStatus(signal: number)))
        }
    }

    private func runLoop() throws {
        try loop.run()
        if let status = try outcome?.get(), status != .success { throw status }
    }

    /// Where no lock can be made the command works all the same, but never where another process has it.
    private func admits(_ adapter: String, _ lock: AdapterLock) -> Bool {
        guard outcome == nil, let refusal = lock.take(adapter), case .used = refusal else { return true }
        finish(.failure(CommandFailure(refusal)))
        return false
    }

    /// Keeps the first outcome, ends what the command has begun, closes the adapter and ends the loop.
    func finish(_ result: Result<ExitStatus, CommandFailure>) {
        guard outcome == nil else { return }
        outcome = result
        core?.stop()
        onFinish { [unowned self] in
            guard let core else { return loop.stop() }
            core.release { [unowned self] in loop.stop() }
        }
    }

    func print(_ text: String) {
        do throws(Errno) {
            try StandardStream.output.write(text)
        } catch .brokenPipe {
            // Whoever read has enough.
            finish(.success(.success))
        } catch {
            finish(.failure(CommandFailure(.inputOutput, CommandFaultText.noOutput, "\(error)")))
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
