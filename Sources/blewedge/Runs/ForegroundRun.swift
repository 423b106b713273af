// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import Control
import Daemon
import Devices
import LinuxIO
import Rehearsal
import SystemPackage
import Texts

/// The parts that all foreground commands share: event loop, signals, adapter, and outcome.
///
/// Commands that send requests to the daemon instead of opening the adapter use it too. Use it on the event loop's
/// thread.
final class ForegroundRun {
    let loop: EventLoop
    /// The adapter that the command uses; nil until `run` creates it.
    private(set) var core: AdapterCore?
    /// Outcome of the command; nil until it is known.
    ///
    /// Once it is known, no more work is started.
    private(set) var outcome: Result<ExitStatus, CommandFailure>?
    /// Reason why the adapter could not be opened; nil if it was opened, or if no attempt has ended yet.
    private(set) var refusal: AdapterError?
    /// Function that ends the command's work and then calls its argument; the adapter stays open until that call.
    var onFinish: (_ completion: @escaping () -> Void) -> Void = { $0() }

    private let transport: AdapterTransport
    private let captureOptions: CaptureOptions?
    /// Lock of an adapter that only one process can open (D-12).
    ///
    /// It is nil for other adapters, and if there is no directory for locks.
    private let lock: AdapterLock?

    init(_ transport: AdapterTransport, capture: CaptureOptions? = nil) throws(CommandFailure) {
        loop = try .ofCommand()
        self.transport = transport
        lock = transport.exclusiveName == nil ? nil : AdapterLock.ofCommand()
        captureOptions = capture
    }

    /// Opens the adapter, calls `begin`, and runs until `finish` is called or a signal arrives.
    ///
    /// Throws the exit status unless it is success. `note` is printed for people as soon as signals are handled.
    func run(note: Message? = nil, _ begin: @escaping (RadioArbiter) -> Void) throws {
        try heedSignals()
        let capture = try captureOptions?.begin(on: loop, for: transport)
        defer { capture?.finish() }
        if let note { Console.note(note) }
        let core = Rehearsal.core(loop, transport, capture: capture)
        self.core = core
        if let lock { core.isAdmitted = { [unowned self] name in admits(name, lock) } }
        defer { lock?.release() }
        core.onEvent = { [unowned self] event in
            guard outcome == nil else { return }
            switch event {
            case .ready: begin(core.radio)
            case .failed(let error):
                refusal = error
                finish(.failure(CommandFailure(error)))
            case .lost(let loss): finish(.failure(CommandFailure(loss)))
            }
        }
        // Start the adapter from the event loop, because an unusable adapter reports its failure immediately.
        _ = loop.schedule(at: .zero) { core.start() }
        try runLoop()
    }

    /// Runs the caller's handlers until `finish` is called or a signal arrives; throws the exit status unless it is
    /// success.
    func runWithoutAdapter() throws {
        try heedSignals()
        try runLoop()
    }

    private func heedSignals() throws {
        try loop.handleSignals(ExitStatus.signals) { [unowned self] number in
            // A second signal ends the process without waiting for the controller.
            if outcome != nil { Process.exit(ExitStatus(signal: number).rawValue) }
            finish(.success(ExitStatus(signal: number)))
        }
    }

    private func runLoop() throws {
        try loop.run()
        if let status = try outcome?.get(), status != .success { throw status }
    }

    /// Returns true if this process may use the adapter; otherwise ends the run, because another process uses it.
    ///
    /// If the lock cannot be created, the adapter is used without a lock.
    private func admits(_ adapter: String, _ lock: AdapterLock) -> Bool {
        guard outcome == nil, let refusal = lock.take(adapter), case .used = refusal else { return true }
        finish(.failure(CommandFailure(refusal)))
        return false
    }

    /// Stores the outcome, unless there is one already, ends the command's work, closes the adapter, and stops the
    /// event loop.
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
            // A broken pipe is not an error: the program that reads the output does not need more of it.
            finish(.success(.success))
        } catch {
            finish(.failure(CommandFailure(.inputOutput, CommandFaultText.noOutput, "\(error)")))
        }
    }
}

extension ExitStatus {
    /// Numbers of the signals that end a command: SIGINT and SIGTERM.
    static let signals: [Int32] = [2, 15]

    /// Creates the exit status for one of `signals`.
    init(signal number: Int32) {
        self = number == 2 ? .interrupted : .terminated
    }
}
