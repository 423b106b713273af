// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import BluetoothPackets
import Configuration
import Control
import Daemon
import Devices
import LinuxIO
import Setup
import SystemPackage
import Texts
import Typing

/// Pages on a terminal: reads keys and answers of the daemon, draws frames, and restores the terminal at every exit.
final class TUIDriver {
    /// Escape sequences that leave the alternate screen if pages that were killed have left the terminal in it.
    ///
    /// If the terminal is not in the alternate screen, the cursor stays where it is.
    private static let recover = "\u{1B}7\u{1B}[?1049l"
    /// Escape sequences that enter xterm's alternate screen, hide the cursor, and enable bracketed paste and reports of
    /// the mouse's buttons.
    private static let enter = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?2004h\u{1B}[?1000h\u{1B}[?1006h"
    /// Escape sequences that undo `enter`; a console without an alternate screen is cleared.
    private static let leave =
        "\u{1B}[0m\u{1B}[2J\u{1B}[H\u{1B}[?1006l\u{1B}[?1000l\u{1B}[?2004l\u{1B}[?25h\u{1B}[?1049l"
    /// Time-out for the rest of an escape sequence.
    private static let sequenceTime = Duration.milliseconds(50)

    private let loop: EventLoop
    private let terminal: Terminal
    private let daemon: TUIDaemon
    private let places: TUIPlaces
    private var model: TUIModel
    private var decoder = TUIKeyDecoder()
    private var frame: ScreenFrame
    private var process: TUIProcess?
    private var serviceProcess: TUIProcess?
    private let flash = LoopTimer()
    private var outcome: Result<ExitStatus, CommandFailure>?
    /// Called before each frame.
    var onFrame: ((inout TUIModel) -> Void)?

    init(page: Page, language: Language, places: TUIPlaces, on given: EventLoop? = nil) throws(CommandFailure) {
        if let given { loop = given } else { loop = try .ofCommand() }
        do throws(Errno) {
            terminal = try Terminal()
        } catch {
            throw CommandFailure(.usage, CommandFaultText.pagesWantTerminal, "\(error)")
        }
        self.places = places
        model = TUIModel(language: language)
        frame = ScreenFrame(
            hasColors: ProcessFacts.environment("NO_COLOR") == nil && ProcessFacts.environment("TERM") != "dumb",
            isUnicode: Language.isUnicode(ProcessFacts.environment)
        )
        daemon = TUIDaemon(at: places.sockets, scanTime: places.scanTime, on: loop)
        model.glyphs = .current
        model.showsStatus = places.showsStatus
        model.networkUses = places.networkUses
        model.manager = places.mayBeService ? SystemFacts.installedService : nil
        model.isRoot = ProcessFacts.user == 0
        model.configurationFile = places.paths.configurationFile.string
        model.page = page
    }

    /// Shows the pages until the user or a signal ends them; throws the exit status unless it is success.
    ///
    /// `begin` is called once the signals are handled, so it may start threads.
    func run(begin: () throws -> Void = {}) throws {
        let resize = [Terminal.windowChanged, Terminal.goneOn]
        try loop.handleSignals(ExitStatus.signals + [Terminal.hungUp] + resize) { [unowned self] number in
            resize.contains(number) ? resized(number) : finish(.success(ExitStatus(signal: number)))
        }
        try begin()
        daemon.onStatus = { [unowned self] status in change { $0.take(status) } }
        daemon.onAbsence = { [unowned self] failure in change { $0.lose(Reason(failure)) } }
        daemon.onReceived = { [unowned self] in received() }
        daemon.onDevices = { [unowned self] answer in change { $0.hear(answer, now: WallClock.seconds) } }
        daemon.onHex = { [unowned self] text in change { $0.hex = text($0.language) } }
        daemon.onBeacons = { [unowned self] result in change { $0.beacons = result } }
        daemon.onScanFailure = { [unowned self] failure in change { $0.failScan(Reason(failure)) } }
        let registration = try loop.watch(terminal.descriptor, for: .readable) { [unowned self] _ in read() }
        try terminal.takeOver()
        defer {
            loop.unwatch(registration, terminal.descriptor)
            try? StandardStream.output.write(Self.leave)
            terminal.restore()
        }
        try StandardStream.output.write(Self.recover + Self.enter)
        draw()
        // Done after the first frame, because inspecting the machine takes a moment.
        perform(model.open(model.page))
        if let fault = places.fault { model.notice = .fault(Reason(fault)) }
        draw()
        daemon.start()
        try loop.run()
        if let status = try outcome?.get(), status != .success { throw status }
    }

    // MARK: Input

    private func read() {
        var bytes = [UInt8](repeating: 0, count: 4096)
        do throws(Errno) {
            guard case .done(let count) = try terminal.descriptor.read(into: &bytes) else { return }
            // The end of the input means that the terminal was closed.
            guard count > 0 else { return finish(.success(.terminated)) }
            press(decoder.take(bytes.prefix(count)))
        } catch {
            return finish(.success(.terminated))
        }
        guard decoder.isPending else { return }
        _ = loop.schedule(at: MonotonicClock.now + Self.sequenceTime) { [unowned self] in
            press(decoder.timeout())
        }
    }

    private func press(_ keys: [TUIKey]) {
        guard outcome == nil, !keys.isEmpty else { return }
        let keys = keys.compactMap { key in
            guard case .mouse(let row, let column) = key else { return key }
            return frame.shown?.target(row: row, column: column).map(TUIKey.click)
        }
        perform(model.press(keys, now: MonotonicClock.now))
        draw()
    }

    /// Shows text in the pages' text field, typed by a keyboard without a kernel device.
    func show(_ text: String) {
        change { $0.field.show(text) }
    }

    private func resized(_ number: Int32) {
        // While the process was stopped, the shell may have changed the terminal's settings.
        if number == Terminal.goneOn { resume() } else { frame.invalidate() }
        draw()
    }

    private func received() {
        flash.set(on: loop, after: StatusLine.flashTime) { [unowned self] in change { $0.isFlashing = false } }
        change { $0.receive(now: MonotonicClock.now) }
    }

    // MARK: Output

    private func change(_ body: (inout TUIModel) -> Void) {
        model.clock = MonotonicClock.now
        body(&model)
        draw()
    }

    private func draw() {
        guard outcome == nil else { return }
        onFrame?(&model)
        model.clock = MonotonicClock.now
        perform(model.startService())
        daemon.wantsHex = model.showsHex && model.page == .check && model.status != nil
        daemon.wantsDevices = model.page == .devices && model.status != nil
        model.isScanning = daemon.isScanning
        daemon.wantsBeacons = model.page == .beacons && model.status != nil
        let size = StandardStream.output.windowSize ?? (80, 24)
        do throws(Errno) {
            let text = frame.update(to: PageFrame.screen(model, columns: size.columns, rows: size.rows))
            if !text.isEmpty { try StandardStream.output.write(text) }
        } catch {
            finish(.success(.terminated))
        }
    }

    private func perform(_ effects: [TUIEffect]) {
        for effect in effects {
            switch effect {
            case .ask(let request, let done): ask(request, done)
            case .rescan(let isAnew): daemon.rescan(isAnew: isAnew)
            case .startDaemon: startDaemon()
            case .startService: startService()
            case .loadSnippets: loadSnippets()
            case .checkMachine:
                // Do not wait for a daemon that has just reported its status; it may run in this process.
                let known = model.status.flatMap(SystemFacts.Status.init).map { SystemFacts.Daemon.running($0) }
                model.take(SystemFacts(at: places.all, adapter: nil, layout: nil, daemon: known))
            case .keepStatusLine(let isShown): keepStatusLine(isShown)
            case .keep(let setting, let value): keep(setting, value)
            case .loadConfiguration: model.configuration = places.configuration
            case .waitForMore:
                _ = loop.schedule(at: MonotonicClock.now + MachineInputFilter.gap) { [unowned self] in
                    perform(model.waited(now: MonotonicClock.now))
                }
            case .suspend: suspend()
            case .redraw: frame.invalidate()
            case .quit: finish(.success(.success))
            }
        }
    }

    private func ask(_ request: ControlRequest, _ done: TUIModel.Notice) {
        let isAsked = daemon.ask(request) { [unowned self] failure in
            change { $0.take(failure, of: request, done) }
        }
        if !isAsked { model.notice = .said(.tooMany, []) }
    }

    private func loadSnippets() {
        do throws(CommandFailure) {
            model.snippets = try places.all.snippets().all
            model.snippetFault = nil
        } catch {
            model.snippetFault = error.cause
        }
    }

    private func keepStatusLine(_ isShown: Bool) {
        do throws(CommandFailure) {
            try places.keep(showsStatus: isShown)
            model.notice = .said(.saved, [model.configurationFile])
        } catch {
            model.notice = .fault(Reason(PageText.notSaved.message(error.cause)))
        }
    }

    private func keep(_ setting: PageSetting, _ value: String) {
        do throws(CommandFailure) {
            try places.keep(setting, value)
            model.configuration = places.configuration
            model.notice = .said(.saved, [model.configurationFile])
        } catch {
            model.notice = .fault(Reason(PageText.notSaved.message(error.cause), remedy: error.remedy))
            return
        }
        if model.status != nil { ask(.reload, .said(.saved, [model.configurationFile])) }
    }

    /// Restores the terminal and stops the process group until SIGCONT, as Ctrl-Z does in a shell.
    private func suspend() {
        try? StandardStream.output.write(Self.leave)
        terminal.restore()
        Terminal.stopGroup()
        // The kernel ignores the signal if no shell could resume the group.
        resume()
    }

    private func resume() {
        try? terminal.takeOver()
        try? StandardStream.output.write(Self.enter)
        frame.invalidate()
    }

    // MARK: Daemon started by the pages

    private func startDaemon() {
        guard process?.isRunning != true else { return }
        do throws(CommandFailure) {
            let program = CommandLine.arguments.first ?? "blewedge"
            let process = try TUIProcess([program, "run"], places.paths, on: loop)
            process.onEnd = { [unowned self] end, words in ended(end, words) }
            self.process = process
        } catch {
            model.isStarting = false
            model.notice = .fault(Reason(PageText.startFailed.message(error.cause)))
        }
    }

    private func ended(_ end: ChildProcess.End, _ words: String) {
        let code =
            switch end {
            case .exited(let code), .killed(let code): code
            }
        change {
            $0.isStarting = false
            $0.notice = .said(.startedEnded, ["\(code)", LocalName.printable(words)])
        }
    }

    // MARK: The machine's service

    private func startService() {
        guard places.mayBeService else { return model.service = .settled }
        guard let manager = model.manager else {
            model.service = .failed(
                Reason(PageText.serviceMissing.message(), remedy: PageText.serviceRemedy.message("blewedge setup"))
            )
            return
        }
        do throws(CommandFailure) {
            let process = try TUIProcess(manager.startWords, places.paths, on: loop)
            process.onEnd = { [unowned self] end, words in serviceStarted(manager, end, words) }
            serviceProcess = process
        } catch {
            serviceFailed(manager, error.cause)
        }
    }

    private func serviceStarted(_ manager: ServiceManager, _ end: ChildProcess.End, _ words: String) {
        if end != .exited(0) { return serviceFailed(manager, Message(detail: LocalName.printable(words))) }
        change { if $0.service == .starting { $0.service = .settled } }
    }

    private func serviceFailed(_ manager: ServiceManager, _ cause: Message) {
        let remedy = PageText.serviceRemedy.message(manager.start)
        change { $0.service = .failed(Reason(PageText.serviceFailed.message(cause), remedy: remedy)) }
    }

    /// Ends the pages; a daemon that the pages have started keeps running (LK-17).
    private func finish(_ result: Result<ExitStatus, CommandFailure>) {
        if outcome == nil { outcome = result }
        loop.stop()
    }
}

/// Program started from the pages.
///
/// Its exit is reported while the pages are shown, and it keeps running after they are closed (LK-17).
final class TUIProcess {
    /// Called when the program has ended by itself, with its exit code or signal and the last two lines of its output.
    var onEnd: ((ChildProcess.End, String) -> Void)?

    /// Maximum length of the log, in bytes; a longer log is not read.
    private static let mostBytes = 64 * 1024

    private let loop: EventLoop
    private let log: String
    private var child: ChildProcess?
    private var registration: EventLoop.Registration?

    /// Starts a program with its arguments; its output goes to a file beside the daemon's control socket.
    init(_ words: [String], _ paths: DaemonPaths, on loop: EventLoop) throws(CommandFailure) {
        self.loop = loop
        log = paths.runtime.appending("tui.log").string
        do throws(Errno) {
            try FileSystem.makeDirectory(paths.runtime, mode: 0o755)
            // The shell redirects the output to the log, so that it does not disturb the pages.
            let child = try ChildProcess(
                "/bin/sh",
                arguments: ["-c", "log=\"$0\"; exec \"$@\" 2>\"$log\" >\"$log\"", log] + words,
                environment: [],
                replacing: "BLEWEDGE_",
                privileges: .ours
            )
            registration = try loop.watch(child.descriptor, for: .readable) { [unowned self] _ in ended() }
            self.child = consume child
        } catch {
            throw CommandFailure(.inputOutput, Message(detail: "\(error)"))
        }
    }

    var isRunning: Bool { child != nil }

    private func ended() {
        guard let end = child?.takeEnd() else { return }
        if let registration, let child = child.take() { loop.unwatch(registration, child.descriptor) }
        registration = nil
        child = nil
        let bytes = (try? FileSystem.contents(of: log, limit: Self.mostBytes)) ?? []
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        onEnd?(end, lines.suffix(2).joined(separator: " "))
    }
}

/// Options of the commands that show pages.
struct TUIOptions: ParsableArguments {
    @OptionGroup var place: SocketOption

    @Option(
        "Language of the output. The default is the language of the locale, or English on a Linux console.",
        value: "language"
    )
    var language: Language?

    func show(_ page: Page) throws {
        try TUIDriver(page: page, language: language ?? .current, places: try TUIPlaces(socket: place.socket)).run()
    }
}

extension Language: ExpressibleByArgument {}

struct TUICommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tui",
        abstract: "Control blewedge through full-screen pages on a terminal.",
        discussion: """
            The pages are named Devices, Check, Keypad, Snippets, Settings, Guide and Beacons. The pages work on a \
            Linux console and over ssh. F1 to F6 and F11 show the pages, F7 connects, F8 disconnects, F9 pauses or \
            resumes typing, and F10 quits. If your keyboard has no function keys, press Alt with a digit (Alt-1 for \
            F1), or Alt-B for F11. Press ? for a list of all keys.

            Barcodes that are typed while a page is open go into a text field, and are never interpreted as commands. \
            If no daemon is running, the Check page starts the installed service. If no service is installed, Enter on \
            the Check page starts a daemon, which runs until `blewedge stop`. The Settings page changes the \
            configuration file. If the variable NO_COLOR is set, the pages have no colours.

            EXAMPLES:
              blewedge tui
              blewedge tui --language ja
            """
    )

    @OptionGroup var options: TUIOptions

    func run() throws { try options.show(.devices) }
}
