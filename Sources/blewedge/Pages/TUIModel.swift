// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import Configuration
import Control
import Daemon
import Devices
import Setup
import Texts
import Typing

/// State of the pages: changed by keys, by the daemon's answers and by time, and drawn by `PageFrame`.
struct TUIModel {
    /// Result of an action, shown until the next key.
    enum Notice: Equatable {
        /// Success, or an action in progress.
        case said(PageText, [String])
        case fault(Reason)
    }

    /// Confirmation that a request needs before it is sent (LK-8).
    struct Question: Equatable {
        var text: PageText
        var arguments: [String]
        var request: ControlRequest
        var done: Notice
        /// True if the cursor is on OK; false at first, so that an Enter from a barcode reader does not confirm.
        var isYes = false
    }

    /// State of starting the system service from the check page (LK-14).
    enum ServiceStart: Equatable {
        /// Not tried yet; the service is started if no daemon answers.
        case due
        /// Requested from the service manager.
        case starting
        /// Failed, or no service is installed.
        case failed(Reason)
        /// No action needed: a daemon answers, or the service has started.
        case settled
    }

    var page = Page.devices
    var language: Language
    /// Status of the daemon; nil if no daemon answers.
    var status: StatusAnswer?
    var absence: Reason?
    /// Reason why no daemon answers; nil if a daemon answers, or if none was found.
    var otherFault: Reason? { absence?.cause == CommandFailure.noDaemon.cause ? nil : absence }
    /// True while a daemon that was started by these pages does not answer yet.
    var isStarting = false
    var service = ServiceStart.due
    var devices = TUIDevices()
    /// True while the daemon scans for the devices page.
    var isScanning = false
    /// Daemon's answer about beacons, or the failure of the request; nil before the first result.
    var beacons: Result<BeaconsAnswer, CommandFailure>?
    /// Configuration of the daemon, as in its file.
    var configuration = Configuration()
    /// Bytes received and typed in the last minute.
    private(set) var traffic = TrafficHistory()
    /// Current time, which the owner sets before each frame.
    var clock = Duration.zero
    var glyphs = TerminalGlyphs.blocks
    /// True while the check page shows the last received bytes.
    private(set) var showsHex = false
    /// Last received bytes in hexadecimal, or the reason why they are not shown; nil before the first answer.
    var hex: String?
    /// True while the list of keys is shown.
    private(set) var showsHelp = false
    private(set) var editor: LineEditor?
    var snippets: [Snippet] = []
    var snippetFault: Message?
    /// Network uses according to the configuration.
    var networkUses = [GuideText.networkNone.message()]
    /// Faults of this machine that prevent a virtual keyboard; nil before the check.
    var machineFaults: [Reason]?
    var startCommand = "blewedge run"
    /// Manager of the installed service; nil if the pages start their own daemon.
    var manager: ServiceManager?
    /// True for root, whose commands need no `sudo`.
    var isRoot = false
    var question: Question?
    var notice: Notice?
    var field = TUIField()
    /// True while the mark for received data is shown (LK-25).
    var isFlashing = false
    var showsStatus = true
    var configurationFile = ""
    /// Cursor row of each page that has a fixed list of rows.
    var rows: [Page: Int] = [:]
    /// First visible line of a page that scrolls.
    var scroll = 0
    var keypad = KeypadCursor()
    /// Next step of a demonstration, shown above the footer; nil if no demonstration is running.
    var script: Message?

    private var scanFault: Reason?
    private var hands = MachineInputFilter()
    /// Time of a `q` that ends the pages, unless it turns out to be machine input.
    private var quitTime: Duration?
    /// Time at which the daemon last received data.
    private var receivedTime: Duration?
    /// Key that clears the list and scans again (LK-4).
    private static let refreshKey = TUIKey.character("r")
    private static let filterKey = TUIKey.character("/")
    private static let helpKey = TUIKey.character("?")
    private static let endKey = TUIKey.character("q")

    init(language: Language) {
        self.language = language
    }

    // MARK: Answers of the daemon

    mutating func take(_ status: StatusAnswer) {
        if self.status == nil, absence != nil || isStarting { notice = .said(.attached, []) }
        self.status = status
        traffic.add(status, at: clock)
        devices.chosen = status.device == nil ? nil : status.selection.map { ListedDevice($0) }
        service = .settled
        isStarting = false
        absence = nil
    }

    /// Handles a daemon that does not answer, or has stopped answering.
    mutating func lose(_ failure: Reason) {
        if status != nil {
            notice = .said(.gone, [])
            question = nil
            devices.clear()
            devices.chosen = nil
        }
        beacons = nil
        traffic.clear()
        hex = nil
        status = nil
        absence = failure
    }

    /// Lists the devices in the daemon's answer; `now` is the current time in seconds since 1970.
    mutating func hear(_ answer: JSONValue, now: Int) {
        devices.hear(answer, now: now)
        if let scanFault, notice == .fault(scanFault) { notice = nil }
        scanFault = nil
    }

    /// Shows why no devices can be listed; the message is removed when devices are listed.
    mutating func failScan(_ fault: Reason) {
        guard devices.rows.isEmpty else { return }
        scanFault = fault
        notice = .fault(fault)
    }

    mutating func take(_ facts: SystemFacts) {
        machineFaults = GuidePage.machineFaults(Doctor.findings(facts))
        startCommand = (isRoot ? "" : "sudo ") + facts.startCommand
    }

    /// Shows the outcome of a request, or asks for confirmation if an unpaired device was refused.
    mutating func take(_ failure: CommandFailure?, of request: ControlRequest, _ done: Notice) {
        guard let failure else {
            notice = done
            return
        }
        // An open question is never replaced by another, which the user could then answer by mistake.
        guard question == nil, failure.kind == .openDevice, case .use(let device, let isConfirmed, nil) = request,
            case .said(_, let arguments) = done
        else {
            notice = .fault(Reason(failure))
            return
        }
        notice = nil
        let open = ControlRequest.use(device, confirmed: isConfirmed, security: GATTLinkSecurity.Level.none)
        question = Question(text: .askOpen, arguments: arguments, request: open, done: done)
    }

    // MARK: Keys

    /// Handles keys that arrived together; returns the effects to carry out.
    mutating func press(_ keys: [TUIKey], now: Duration) -> [TUIEffect] {
        hands.begin(keys, now: now)
        return keys.flatMap { press($0, now: now) }
    }

    /// Handles a key; returns the effects to carry out.
    mutating func press(_ key: TUIKey, now: Duration) -> [TUIEffect] {
        // If a key immediately follows a `q`, the `q` is part of other input.
        quitTime = nil
        switch key {
        case .interrupt: return [.quit]
        case .redraw: return [.redraw]
        case .function(let number):
            notice = nil
            question = nil
            showsHelp = false
            editor = nil
            return function(number)
        default: break
        }
        if hands.isTyped(key, isCommand: isCommand(key), now: now) {
            showsHelp = false
            if editor != nil { edit(key) } else if page.hasField, question == nil { _ = field.take(key) }
            return []
        }
        notice = nil
        if showsHelp { return helpKey(key) }
        if key == .suspend { return [.suspend] }
        if question != nil { return answer(key) }
        if case .click(let target) = key { return click(target, now: now) }
        if editor != nil { return editorKey(key) }
        if isCommand(key) { return command(key, now: now) }
        switch page {
        case .devices: return devicesKey(key)
        case .check: return fieldKey(key)
        case .keypad: return keypadKey(key, now: now)
        case .snippets: return snippetsKey(key, now: now)
        case .settings: return settingsKey(key)
        case .guide: return guideKey(key)
        case .beacons:
            if status == nil, key == .enter { return start() }
            move(key)
            return []
        }
    }

    /// Shows a page; returns the effects that the page needs.
    mutating func open(_ page: Page) -> [TUIEffect] {
        self.page = page
        scroll = 0
        editor = nil
        switch page {
        case .devices: return [.rescan(isAnew: false)]
        case .snippets: return [.loadSnippets]
        case .guide: return [.checkMachine]
        case .check:
            if status == nil, service != .starting { service = .due }
            return []
        case .settings: return [.loadConfiguration]
        case .keypad, .beacons: return []
        }
    }

    /// Starts the system service on the check page, once each time the page is opened without a daemon (LK-14).
    mutating func startService() -> [TUIEffect] {
        guard page == .check, service == .due, status == nil, absence != nil, otherFault == nil, !isStarting else {
            return []
        }
        service = .starting
        return [.startService]
    }

    // MARK: Commands by characters

    /// Returns true if a character is a command rather than text for the page's field.
    ///
    /// `q` ends a demonstration on every page, because no device types into its terminal.
    private func isCommand(_ key: TUIKey) -> Bool {
        guard editor == nil else { return false }
        switch key {
        case Self.endKey: return script != nil || page.hasCommands
        case Self.helpKey: return page.hasCommands
        case Self.refreshKey, Self.filterKey: return page == .devices
        default: return false
        }
    }

    private mutating func command(_ key: TUIKey, now: Duration) -> [TUIEffect] {
        switch key {
        case Self.endKey:
            // The `q` may be the first character of a barcode, the rest of which has not been typed yet.
            let isReceived = receivedTime.map { now - $0 < MachineInputFilter.gap } ?? false
            guard !isReceived else { return [] }
            quitTime = now
            return [.waitForMore]
        case Self.helpKey:
            showsHelp = true
            scroll = 0
        case Self.filterKey: editor = LineEditor(.filter, devices.filter)
        case Self.refreshKey:
            devices.clear()
            notice = .said(.listening, [])
            return [.rescan(isAnew: true)]
        default: break
        }
        return []
    }

    private mutating func helpKey(_ key: TUIKey) -> [TUIEffect] {
        switch key {
        case .up, .down, .pageUp, .pageDown: move(key)
        default:
            showsHelp = false
            scroll = 0
        }
        return []
    }

    /// Returns the effects of a `q` after which nothing was typed for `MachineInputFilter.gap`.
    mutating func waited(now: Duration) -> [TUIEffect] {
        guard let time = quitTime, now - time >= MachineInputFilter.gap else { return [] }
        return [.quit]
    }

    /// Handles the event that the daemon has received data; the daemon may type the data into these pages.
    mutating func receive(now: Duration) {
        isFlashing = true
        receivedTime = now
        quitTime = nil
    }

    // MARK: Editor

    private mutating func edit(_ key: TUIKey) {
        editor?.take(key)
        if editor?.purpose == .filter { devices.filter = editor?.text ?? "" }
    }

    private mutating func editorKey(_ key: TUIKey) -> [TUIEffect] {
        guard let editor else { return [] }
        switch (key, editor.purpose) {
        case (.escape, let purpose):
            self.editor = nil
            if purpose == .filter { devices.filter = "" }
        case (.enter, .filter): self.editor = nil
        case (.enter, .setting(let setting)):
            self.editor = nil
            guard editor.text != setting.value(in: configuration) else { return [] }
            return [.keep(setting, editor.text)]
        case (.up, .filter), (.down, .filter): return devicesKey(key)
        default: edit(key)
        }
        return []
    }

    // MARK: Mouse

    private mutating func click(_ target: TUITarget, now: Duration) -> [TUIEffect] {
        switch target {
        case .page(let page):
            editor = nil
            return open(page)
        case .function(let number): return function(number)
        case .answer: return []
        case .row(let row):
            guard page != .devices else { return devices.focus(on: row) ? devicesKey(.enter) : [] }
            guard rows[page] ?? 0 == row else {
                rows[page] = row
                return []
            }
            return page == .settings ? settingsKey(.enter) : page == .snippets ? snippetsKey(.enter, now: now) : []
        }
    }

    private mutating func function(_ number: Int) -> [TUIEffect] {
        if let page = Page.allCases.first(where: { $0.number == number }) { return open(page) }
        switch number {
        case 7: return [.ask(.connect, .said(.connecting, []))]
        case 8: return [.ask(.disconnect, .said(.disconnecting, []))]
        case 9: return [pauseOrResume]
        case 10: return [.quit]
        case 12 where page == .check:
            showsHex.toggle()
            hex = nil
            return []
        default: return []
        }
    }

    /// Effect that closes the gate, or reopens it (LK-22, HK-6).
    private var pauseOrResume: TUIEffect {
        status?.isPaused == true ? .ask(.resume, .said(.resumedNow, [])) : .ask(.pause, .said(.pausedNow, []))
    }

    private mutating func answer(_ key: TUIKey) -> [TUIEffect] {
        guard let question else { return [] }
        switch key {
        case .left, .right, .up, .down, .tab, .backTab: self.question?.isYes.toggle()
        case .escape, .click(.answer(false)): self.question = nil
        case .enter, .click(.answer(true)):
            self.question = nil
            if question.isYes || key != .enter {
                if case .use = question.request { notice = .said(.asking, question.arguments.suffix(1)) }
                return [.ask(question.request, question.done)]
            }
        default: break
        }
        return []
    }

    private mutating func fieldKey(_ key: TUIKey) -> [TUIEffect] {
        if status == nil, key == .enter, field.isEmpty { return start() }
        if !field.take(key) { move(key) }
        return []
    }

    private mutating func start() -> [TUIEffect] {
        // The daemon of a demonstration is about to answer.
        guard !isStarting, service != .starting, script == nil else { return [] }
        // If a service is installed, no other daemon is started, because it would take the service's adapter.
        if manager != nil {
            service = .starting
            return [.startService]
        }
        isStarting = true
        return [.startDaemon]
    }

    private mutating func move(_ key: TUIKey) {
        switch key {
        case .up: scroll -= 1
        case .down: scroll += 1
        case .pageUp: scroll -= 5
        case .pageDown: scroll += 5
        default: break
        }
        scroll = min(max(0, scroll), 1000)
    }

    // MARK: Devices

    private mutating func devicesKey(_ key: TUIKey) -> [TUIEffect] {
        switch key {
        case .up: devices.move(by: -1)
        case .down: devices.move(by: 1)
        case .pageUp: devices.move(by: -10)
        case .pageDown: devices.move(by: 10)
        case .home: devices.move(by: -devices.rows.count)
        case .end: devices.move(by: devices.rows.count)
        case .escape: devices.filter = ""
        case .enter: return status == nil ? start() : use()
        default: break
        }
        return []
    }

    private mutating func use() -> [TUIEffect] {
        guard let device = devices.focused else { return [] }
        let request = ControlRequest.use(.address(device.address), confirmed: true)
        let done = Notice.said(.chosen, [device.label])
        if let chosen = devices.chosen {
            question =
                devices.isChosen(device)
                ? Question(text: .askForget, arguments: [device.label], request: .forget, done: .said(.forgotten, []))
                : Question(text: .askSwitch, arguments: [chosen.label, device.label], request: request, done: done)
            return []
        }
        notice = .said(.asking, [device.label])
        return [.ask(request, done)]
    }

    // MARK: Keypad and snippets

    private mutating func keypadKey(_ key: TUIKey, now: Duration) -> [TUIEffect] {
        guard key == .enter else {
            keypad.move(key)
            return []
        }
        switch keypad.key {
        case .name(let name):
            hands.expect(MachineInputFilter.keys(of: name), now: now)
            return [.ask(.key([name]), .said(.pressed, [keypad.key.label(language)]))]
        case .clear: return [.ask(.clear, .said(.cleared, []))]
        case .next: return [pauseOrResume]
        }
    }

    private mutating func snippetsKey(_ key: TUIKey, now: Duration) -> [TUIEffect] {
        guard key == .enter else {
            moveRow(key, count: snippets.count)
            return []
        }
        guard let snippet = focusedSnippet else { return [] }
        hands.expect(MachineInputFilter.keys(of: snippet), now: now)
        return [.ask(.snippet(snippet.title), .said(.typedSnippet, [snippet.title]))]
    }

    var focusedSnippet: Snippet? {
        let row = rows[.snippets] ?? 0
        return snippets.indices.contains(row) ? snippets[row] : snippets.first
    }

    private mutating func moveRow(_ key: TUIKey, count: Int) {
        let steps: Int
        switch key {
        case .up: steps = -1
        case .down: steps = 1
        case .pageUp: steps = -10
        case .pageDown: steps = 10
        case .home: steps = -count
        case .end: steps = count
        default: return
        }
        rows[page] = min(max(0, (rows[page] ?? 0) + steps), max(0, count - 1))
    }

    // MARK: Settings and guide

    private mutating func settingsKey(_ key: TUIKey) -> [TUIEffect] {
        guard key == .enter else {
            moveRow(key, count: SettingsPage.Row.all.count)
            return []
        }
        switch SettingsPage.Row.all[min(rows[.settings] ?? 0, SettingsPage.Row.all.count - 1)] {
        case .statusLine:
            showsStatus.toggle()
            return [.keepStatusLine(showsStatus)]
        case .language:
            language = language == .english ? .japanese : .english
            return []
        case .setting(let setting):
            let choices = setting.choices(in: configuration)
            editor = LineEditor(.setting(setting), setting.value(in: configuration), choices: choices)
            notice = .said(choices.isEmpty ? .editHelp : .chooseHelp, [])
            return []
        case .reload: return [.ask(.reload, .said(.reloaded, []))]
        }
    }

    private mutating func guideKey(_ key: TUIKey) -> [TUIEffect] {
        guard key == .enter else { return fieldKey(key) }
        switch GuidePage.Step.next(self) {
        case .machine: return [.checkMachine]
        case .daemon: return start()
        case .choose: return open(.devices)
        case .connect, .attempt, nil: return fieldKey(key)
        }
    }
}

/// Effects of a key that are carried out outside the model.
enum TUIEffect: Equatable {
    /// Sends a request to the daemon, and shows the notice on success.
    case ask(ControlRequest, TUIModel.Notice)
    /// Scans for devices at once; with `isAnew`, devices heard earlier are forgotten (LK-4).
    case rescan(isAnew: Bool)
    case startDaemon
    case startService
    case loadSnippets
    case checkMachine
    case keepStatusLine(Bool)
    /// Saves a setting in the configuration, and makes the daemon reload the configuration.
    case keep(PageSetting, String)
    case loadConfiguration
    /// Calls `waited` after `MachineInputFilter.gap`.
    case waitForMore
    case redraw
    /// Stops the program, as Ctrl-Z does in a shell.
    case suspend
    case quit
}
