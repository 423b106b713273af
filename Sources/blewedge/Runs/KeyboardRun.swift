// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import BluetoothPackets
import Configuration
import Control
import Daemon
import Devices
import Keystrokes
import Link
import LinuxIO
import Rehearsal
import SystemPackage
import Texts
import Typing

/// A keyboard in the foreground, from the first scan to printing the summary.
final class KeyboardRun {
    enum Output {
        /// Progress and the final summary, as text.
        case people
        /// Progress and the final summary, as JSON lines.
        case json
        /// JSON lines as with `json`, and events for received data.
        case events
    }

    /// Time limit for flushing standard output when the process ends or replaces itself.
    private static let patience = Duration.seconds(5)

    /// Name of the environment variable with which this process, on a reload, passes `memory` to the one that replaces
    /// it.
    private static let reloadVariable = "BLEWEDGE_RELOADED"
    /// Word in `reloadVariable` that means that the user has accepted an unpaired device.
    private static let openWord = "open"

    /// True if, before a reload, the user accepted an unpaired device, which anyone can impersonate.
    static var isOpenByWord: Bool {
        ProcessFacts.environment(reloadVariable)?.split(separator: " ").contains { $0 == openWord } == true
    }

    /// True if the user has accepted an unpaired device, which anyone can impersonate.
    var isOpenByWord = false

    /// Function that reads the configuration again.
    ///
    /// It returns true if the configuration has changed, and throws an error if it cannot be used.
    var onReload: (() throws(CommandFailure) -> Bool)?

    /// The file that stores connected devices (CB-14); nil if they are not stored.
    var known: KnownDeviceStore?

    /// Function that opens the outputs, other than the keyboard, of the device with this number.
    var makeTexts: ((EventLoop, Int) throws(CommandFailure) -> [TextOutput])?

    private let loop: EventLoop
    private var devices: [DevicePlan]
    private let options: Daemon.Options
    private let output: Output
    private let journal: Journal
    private let status: StatusLine?
    /// Reporters of the devices' events, one for each device.
    private let events: [KeyboardEvents]
    private let captureOptions: CaptureOptions
    private let hasHook: Bool
    /// Writer to standard output; nil if standard output cannot be written to.
    private let lines: LineWriter?
    private var daemon: Daemon?
    private var outcome: Result<ExitStatus, CommandFailure>?
    private var isReloading = false
    /// True once the messages about the outputs have been printed.
    private var hasToldPlaces = false
    /// Path of the keyboard that was last printed; several devices may share it.
    private var toldNode: String?
    /// True once a device has been connected for the first time.
    private var hasConnected = false

    init(
        _ devices: [DevicePlan],
        _ options: Daemon.Options,
        output: Output,
        journal: Journal,
        showsStatus: Bool,
        hooks: [(command: String, barcodes: HookBarcodes)]?,
        capture: CaptureOptions
    ) throws(CommandFailure) {
        self.devices = devices
        self.options = options
        self.output = output
        self.journal = journal
        captureOptions = capture
        hasHook = hooks != nil
        let loop = try EventLoop.ofCommand()
        self.loop = loop
        journal.join(loop)
        lines = try? LineWriter(.output) { count in KeyboardEvents.missed(count).text + "\n" }
        lines?.join(loop)
        status = output == .people && showsStatus && !journal.isOn ? StatusLine(on: loop) : nil
        var events: [KeyboardEvents] = []
        for (index, device) in devices.enumerated() {
            let runner = try hooks.map { hooks throws(CommandFailure) in
                try HookRunner(hooks[index].command, hooks[index].barcodes, on: loop) { note in
                    journal.note(note.text(journal.language), .warning)
                }
            }
            events.append(KeyboardEvents(isStream: output == .events, hook: runner, name: device.name))
        }
        self.events = events
    }

    /// All outputs other than the keyboards.
    private var texts: [TextOutput] { devices.flatMap(\.texts) }

    private var hasKeyboard: Bool { devices.contains(where: \.settings.hasKeyboard) }

    private var adapter: AdapterTransport { devices[0].settings.adapter }

    /// Runs until a signal arrives or a client requests a shutdown; throws the exit status.
    func run() throws {
        // Received data and the keys of devices must not be readable by a hook or by another program of this user.
        try Process.refuseInspection()
        // Do this before any thread starts, so that only the event loop handles signals.
        try loop.handleSignals(ExitStatus.signals + [Terminal.hungUp]) { [unowned self] number in
            if number == Terminal.hungUp { return hungUp() }
            // A second signal ends the process without waiting for the controller.
            if outcome != nil { Process.exit(ExitStatus(signal: number).rawValue) }
            finish(.success(ExitStatus(signal: number)))
        }
        for index in devices.indices { devices[index].texts = try makeTexts?(loop, index) ?? [] }
        for text in texts { text.listener?.onLoss = { [unowned self] error in outputLost(error) } }
        let memory = ProcessFacts.environment(Self.reloadVariable)
        guard try isPermitted() else { return try end(memory: memory ?? "") }
        // Do this before any thread starts, so that every thread inherits the restrictions.
        try giveUpPrivileges()
        let capture = try captureOptions.begin(on: loop, for: adapter) { [unowned self] note in
            journal.note(note.text(journal.language), .warning)
        }
        defer { capture?.finish() }
        let core = Rehearsal.core(loop, adapter, capture: capture)
        let daemon = try Daemon(devices, options, through: core)
        daemon.onEvent = { [unowned self] event, device in show(event, of: device) }
        daemon.onNote = { [unowned self] note in say(.warning, note.message) }
        daemon.onStopAsked = { [unowned self] in finish(.success(.success)) }
        daemon.onReload = { [unowned self] () throws(CommandFailure) in try reload() }
        daemon.onReceived = { [unowned self] report, device in
            events(of: device)?.received(report)
            status?.received()
        }
        daemon.onBeacon = { [unowned self] notice, keyCode in events[0].take(notice, keyCode) }
        status?.source = { [unowned daemon] in StatusLine.Facts(daemon) }
        self.daemon = daemon
        daemon.inherit(memory)
        daemon.start { [unowned self] result in if case .failure(let failure) = result { adapterFailed(failure) } }
        daemon.restore(memory)
        try loop.run()
        status?.end()
        // Close the outputs first, so that all undelivered bytes are counted before the summary is printed.
        for text in texts { text.close() }
        for device in daemon.devices { printCounts(device.service.counts, of: device.name) }
        try end(memory: daemon.memory)
    }

    /// Restricts this process and its children to the privileges that a keyboard needs.
    ///
    /// Each of them is raised only while it is needed.
    private func giveUpPrivileges() throws {
        // Root keeps its capabilities, because its files and directories may belong to another user.
        if ProcessFacts.user != 0 {
            do throws(Errno) {
                try Capability.holdBack()
            } catch {
                // A system call filter of the service manager may forbid this; in that case, the privileges stay
                // unchanged.
                guard error == .notPermitted else { throw error }
            }
        }
        // Stop here if the program's file grants capabilities: otherwise they would be lost when the program restarts
        // itself.
        guard !Capability.allCases.contains(where: \.isGrantedByFile) else { return }
        try ThreadPrivileges.refuseGains()
        // Allow a hook to connect to a server, unless the service manager forbids that.
        let allowsInternet = hasHook || adapter.isInternet
        if try !SystemCallFilter.install(allowsInternet: allowsInternet) { say(.warning, LogText.noFilter.message()) }
    }

    /// Ends the process, or replaces it for a reload; throws the exit status.
    ///
    /// `memory` contains the user's requests, and is passed on to the new process.
    private func end(memory: String) throws {
        for text in texts { text.close() }
        if case .failure(let failure)? = outcome { journal.report(failure) }
        lines?.finish(within: Self.patience)
        if case .success? = outcome, !isReloading, let error = lines?.fault ?? fault, error != .brokenPipe {
            let failure = Self.noOutput(error)
            journal.report(failure)
            outcome = .success(failure.status)
        }
        journal.finish()
        if isReloading {
            let words = isOpenByWord ? memory + " " + Self.openWord : memory
            try Process.replaceBySelf(telling: [(Self.reloadVariable, words)])
        }
        switch outcome {
        case .success(.success), nil: return
        case .success(let status): throw status
        case .failure(let failure): throw failure.status
        }
    }

    private static func noOutput(_ error: Errno) -> CommandFailure {
        CommandFailure(.inputOutput, CommandFaultText.noOutput, "\(error)")
    }

    /// Waits for missing permissions; in a run for one device, throws an error instead.
    ///
    /// Returns false if the run ends or is reloaded.
    private func isPermitted() throws -> Bool {
        guard let missing = PermissionWait.missing(for: adapter, hasKeyboard: hasKeyboard) else { return true }
        guard options.followsChoice else { throw missing }
        let wait = try PermissionWait(options, adapter, hasKeyboard: hasKeyboard, missing: missing, on: loop)
        wait.onEvent = { [unowned self] event in show(event, of: nil) }
        wait.onStopAsked = { [unowned self] in finish(.success(.success)) }
        wait.onPermitted = { [unowned self] needsRestart in
            isReloading = needsRestart
            loop.stop()
        }
        wait.begin()
        try loop.run()
        wait.end(isOver: outcome != nil && !isReloading)
        return outcome == nil && !isReloading
    }

    /// Ends the run because of an adapter failure, unless it is a daemon that can wait for its adapter.
    ///
    /// A daemon waits if its adapter is missing, off or forbidden.
    private func adapterFailed(_ failure: CommandFailure) {
        let isWaitedFor = failure.status == .unavailable || failure.status == .permission
        if !options.followsChoice || !isWaitedFor { finish(.failure(failure)) }
    }

    /// Handles SIGHUP, which requests a reload or reports that the terminal was lost.
    ///
    /// The loss of the terminal does not end a keyboard (LK-17).
    private func hungUp() {
        guard outcome == nil else { return }
        do throws(CommandFailure) {
            try reload()
        } catch {
            say(.warning, Reason(error).message)
        }
    }

    /// Reloads the program if the configuration has changed; first closes the link, the keyboard and the clients in
    /// order.
    private func reload() throws(CommandFailure) {
        guard try onReload?() == true else { return }
        // Wait briefly, so that the answer to the client can be sent first.
        _ = loop.schedule(at: MonotonicClock.now + .milliseconds(20)) { [unowned self] in
            isReloading = outcome == nil
            finish(.success(.success))
        }
    }

    /// Ends the run because standard output was lost, unless there are other outputs.
    private func outputLost(_ error: Errno) {
        let failure = Self.noOutput(error)
        let isOnly = !hasKeyboard && texts.count { $0.listener != nil } == 1
        if isOnly { finish(.failure(failure)) } else { say(.warning, Reason(failure).message) }
    }

    private func finish(_ result: Result<ExitStatus, CommandFailure>) {
        guard outcome == nil else { return }
        outcome = result
        if let daemon {
            daemon.stop(isReloading: isReloading) { [unowned self] in
                // Pass the last barcodes to the hook before waiting for it to end.
                for text in texts where text.listener == nil { text.endLine() }
                finishEvents()
            }
        } else {
            loop.stop()
        }
    }

    /// Ends the reports of events of all devices, and then the run.
    private func finishEvents() {
        var left = events.count
        for reporter in events {
            reporter.finish { [loop] in
                left -= 1
                if left == 0 { loop.stop() }
            }
        }
    }

    private func events(of device: ServiceDevice?) -> KeyboardEvents? {
        guard let device else { return events[0] }
        return zip(devices, events).first { $0.0.name == device.name }?.1
    }

    /// Last error of a write of events to standard output; nil if there was none.
    private var fault: Errno? { events.lazy.compactMap(\.fault).first }

    private func show(_ event: KeyboardService.Event, of device: ServiceDevice?) {
        let choice = device?.session.choice
        let label = device?.name.map { "\($0): " } ?? ""
        if output != .people, let object = event.object(choice, of: device?.name) { printEvent(object, of: device) }
        switch event {
        case .keyboard(let node):
            if device?.hasKeyboard ?? hasKeyboard, device?.name == nil || toldNode != node {
                toldNode = node
                let message = node.map { LogText.keyboardIs.message($0) } ?? LogText.keyboardWithoutNode.message()
                say(.information, message)
            }
            guard !hasToldPlaces else { return }
            hasToldPlaces = true
            for listener in texts.compactMap(\.listener) {
                let place = listener.place.map { Message(detail: $0) } ?? LogText.standardOutput.message()
                say(.information, LogText.goesTo.message(place))
            }
        case .state(let state, let address, let reason):
            events(of: device)?.take(state, address, reason?.cause.english)
            say(Journal.Priority(state), label + state.sentence(choice, reason, in: journal.language))
            if state == .connected, let address, let failure = known?.keep(address, name: device?.session.heardName) {
                say(.warning, failure)
            }
            // At the first connection, release the pages of the startup code, which is no longer needed.
            if state == .connected, !hasConnected {
                hasConnected = true
                Process.giveBackStartupPages()
            }
        case .keyboardGone(let reason):
            toldNode = nil
            say(.warning, reason.message)
        case .keyboardFailed(let error):
            finish(.failure(CommandFailure(KeyboardError.notWritten(error))))
        }
    }

    /// Prints a message, but not if the output is for programs and no journal is used.
    private func say(_ priority: Journal.Priority, _ text: String) {
        guard output == .people || journal.isOn else { return }
        status?.erase()
        journal.note(text, priority)
        status?.draw()
    }

    private func say(_ priority: Journal.Priority, _ message: Message) {
        say(priority, message.text(journal.language))
    }

    /// Prints the counts of the device with this name; nil for the only device.
    private func printCounts(_ counts: KeyboardService.Counts, of name: String?) {
        if output != .people {
            var object = JSONObject()
            object.add("event", "counts")
            object.add("name", name)
            object.add(membersOf: counts.object)
            if !counts.outputs.isEmpty { object.add("outputs", counts.outputs.map(\.object)) }
            printLine(object.text)
        } else {
            let label = name.map { "\($0): " } ?? ""
            for line in AccountText.lines(counts, journal.language) { printLine(label + line) }
        }
    }

    private func printEvent(_ object: JSONObject, of device: ServiceDevice?) {
        if output == .events { events(of: device)?.print(object) } else { printLine(object.text) }
    }

    private func printLine(_ text: String) {
        // If received data goes to standard output, nothing else is written to it.
        let isTaken = texts.contains { $0.listener.map { $0.place == nil } ?? false }
        if isTaken { journal.print(text) } else { lines?.write(text + "\n") }
    }
}

/// The user in `run --user`, to whom root's process switches.
///
/// The process then keeps only the two capabilities that the program needs.
struct KeyboardUser {
    let name: String

    /// Restarts the program as this user, after giving the directories to the user.
    ///
    /// Returns if the program already runs as this user.
    func become(_ paths: DaemonPaths) throws(CommandFailure) {
        guard let user = ServiceUser(named: name) else {
            throw CommandFailure(.usage, CommandFaultText.noUser, name)
        }
        guard ProcessFacts.user != user.number else { return }
        guard ProcessFacts.user == 0 else { throw CommandFailure(.permission, CommandFaultText.userWantsRoot, name) }
        do throws(Errno) {
            for directory in [paths.state, paths.runtime] { try user.own(directory: directory) }
            try user.become()
            try Process.replaceBySelf(
                telling: [
                    ("HOME", "\(user.home)"), ("USER", name), ("LOGNAME", name),
                    ("CONFIGURATION_DIRECTORY", "\(paths.configuration)"),
                    ("STATE_DIRECTORY", "\(paths.state)"), ("RUNTIME_DIRECTORY", "\(paths.runtime)"),
                ]
            )
        } catch {
            throw CommandFailure(.permission, CommandFaultText.userNotTaken, name, "\(error)")
        }
    }
}

/// A run for profiling: it passes notifications from the daemon's feed through typing to a keyboard output on
/// /dev/null.
///
/// The thread that delivers the bytes also types them, as the radio thread does when the typing pace requires no delay.
enum TypingProfile {
    /// Number of bytes in each notification.
    private static let chunk = 20

    /// Types the given number of notifications one after another.
    static func run(_ notifications: Int, _ bytes: [UInt8], _ table: CompiledTable) throws {
        let ring = try ByteRing(capacity: 65536)
        guard let producer = ring.takeProducer(), let consumer = ring.takeConsumer() else { return }
        let ledger = Ledger()
        var feed = Feed(producer, ledger: ledger, open: OpenDeviceRules(table))
        let typist = Typist(
            consumer,
            table: table,
            pacer: try Pacer(stall: 0, queue: .large),
            gate: Gate(),
            ledger: ledger
        )
        let finished = try Waker()
        let thread = try TypingThread(typist, device: try NullKeyboard(), finished: finished)
        // Begin after `settlingTime`, because nothing is typed while applications open a new keyboard.
        let begin = MonotonicClock.nanoseconds + TypingThread.settlingTime
        while MonotonicClock.nanoseconds <= begin { finished.wait(until: begin) }
        let all = unsafe bytes.span.bytes
        for turn in 0..<notifications {
            let offset = turn &* chunk % (all.byteCount - chunk)
            let now = MonotonicClock.nanoseconds
            let source = all.extracting(offset..<offset + chunk)
            if feed.receive(source, epoch: 1, now: now, isFromOpenDevice: true) == .acceptedMustWake {
                thread.typeIfAsleep(now: now)
            }
        }
        thread.stop()
        while !thread.hasEnded { finished.wait(until: nil) }
    }

    private final class NullKeyboard: KeyboardDevice {
        private let descriptor: Descriptor

        init() throws(Errno) {
            descriptor = try .forWriting("/dev/null")
        }

        func write(_ events: borrowing RawSpan) throws(Errno) -> NonBlocking<Int> { try descriptor.write(events) }
    }
}
