// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import Control
import Daemon
import Devices
import Setup
import Texts
import Typing

/// The state of the pages: a value that keys, the daemon's answers and time change, and that the pages are drawn from.
struct TUIModel {
    /// A line that tells what came of something, until the next key.
    enum Notice: Equatable {
        /// It went well, or is under way.
        case said(PageText, [String])
        case fault(Reason)
    }

    /// A question that the user answers before something is done (LK-8).
    struct Question: Equatable {
        var text: PageText
        var arguments: [String]
        var request: ControlRequest
        var done: Notice
        /// Whether the answer under the cursor is OK; at first it is not, so that no Enter of a scanner says yes.
        var isYes = false
    }

    /// The start of the machine's service by the check page (LK-14).
    enum ServiceStart: Equatable {
        /// To be tried, if no daemon answers.
        case due
        /// The service manager was asked to start it.
        case starting
        /// It could not be started, or no service is installed.
        case failed(Reason)
        /// Nothing to do: a daemon answers, or the service has started.
        case settled
    }

    var page = Page.devices
    var language: Language
    /// The daemon's status; nil while none answers.
    var status: StatusAnswer?
    var absence: Reason?
    /// Why none answers where one is there, or may be.
    var otherFault: Reason? { absence?.cause == CommandFailure.noDaemon.cause ? nil : absence }
    /// Whether a daemon that these pages start does not answer yet.
    var isStarting = false
    var service = ServiceStart.due
    var devices = TUIDevices()
    /// What the daemon does about beacons, or why that is not known; nil before it was asked.
    var beacons: Result<BeaconsAnswer, CommandFailure>?
    var snippets: [Snippet] = []
    var snippetFault: Message?
    /// The uses of a network, as the configuration says.
    var networkUses = [GuideText.networkNone.message()]
    /// The faults of this machine that keep a keyboard from working; nil before they were looked for.
    var machineFaults: [Reason]?
    var startCommand = "blewedge run"
    /// The manager of the installed service; nil where the pages start a daemon of their own.
    var manager: ServiceManager?
    /// True for root, whose commands need no `sudo`.
    var isRoot = false
    var question: Question?
    var notice: Notice?
    var field = TUIField()
    /// Data has just been received (LK-25).
    var isFlashing = false
    var showsStatus = true
    var configurationFile = ""
    /// The row under the cursor on pages with rows that do not move.
    var rows: [Page: Int] = [:]
    /// The first line that is shown of a page that is read.
    var scroll = 0
    var keypad = KeypadCursor()

    private var hands = MachineInputFilter()
    /// Asks for the list anew (LK-4); all other commands are no characters.
    private static let refreshKey = TUIKey.character("r")

    init(language: Language) {
        self.language = language
    }

    // MARK: What the daemon says

    mutating func take(_ status: StatusAnswer) {
        if self.status == nil, absence != nil || isStarting { notice = .said(.attached, []) }
        self.status = status
        devices.chosen = status.device == nil ? nil : status.selection.map { ListedDevice($0) }
        service = .settled
        isStarting = false
        absence = nil
    }

    /// The daemon does not answer, or no more.
    mutating func lose(_ failure: Reason) {
        if status != nil {
            notice = .said(.gone, [])
            question = nil
            devices.clear()
            devices.chosen = nil
        }
        beacons = nil
        status = nil
        absence = failure
    }

    mutating func take(_ facts: SystemFacts) {
        machineFaults = GuidePage.machineFaults(Doctor.findings(facts))
        startCommand = (isRoot ? "" : "sudo ") + facts.startCommand
    }

    /// Takes the outcome of a request: what is said then, or the question that its refusal leads to.
    mutating func take(_ failure: CommandFailure?, of request: ControlRequest, _ done: Notice) {
        guard let failure else {
            notice = done
            return
        }
        // Whoever answers one question is not to find another in its place.
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

    /// Does what keys do that came together; the answer is what is left to be done outside.
    mutating func press(_ keys: [TUIKey], now: Duration) -> [TUIEffect] {
        hands.begin(keys, now: now)
        return keys.flatMap { press($0, now: now) }
    }

    /// Does what a key does; the answer is what is left to be done outside.
    mutating func press(_ key: TUIKey, now: Duration) -> [TUIEffect] {
        switch key {
        case .interrupt: return [.quit]
        case .redraw: return [.redraw]
        case .function(let number):
            notice = nil
            question = nil
            return function(number)
        default: break
        }
        let isCommand = page == .devices && key == Self.refreshKey
        if hands.isTyped(key, isCommand: isCommand, now: now) {
            if page.hasField, question == nil { _ = field.take(key) }
            return []
        }
        notice = nil
        if question != nil { return answer(key) }
        switch page {
        case .devices: return devicesKey(key)
        case .check: return fieldKey(key)
        case .keypad: return keypadKey(key, now: now)
        case .snippets: return snippetsKey(key, now: now)
        case .settings: return settingsKey(key)
        case .guide: return guideKey(key)
        case .beacons:
            move(key)
            return []
        }
    }

    /// Shows a page, and says what it needs.
    mutating func open(_ page: Page) -> [TUIEffect] {
        self.page = page
        scroll = 0
        switch page {
        case .devices: return [.rescan(isAnew: false)]
        case .snippets: return [.loadSnippets]
        case .guide: return [.checkMachine]
        case .check:
            if status == nil, service != .starting { service = .due }
            return []
        case .keypad, .settings, .beacons: return []
        }
    }

    /// Starts the machine's service on the check page, once for each time that it is opened without a daemon (LK-14).
    mutating func startService() -> [TUIEffect] {
        guard page == .check, service == .due, status == nil, absence != nil, otherFault == nil, !isStarting else {
            return []
        }
        service = .starting
        return [.startService]
    }

    private mutating func function(_ number: Int) -> [TUIEffect] {
        if let page = Page.allCases.first(where: { $0.number == number }) { return open(page) }
        switch number {
        case 7: return [.ask(.connect, .said(.connecting, []))]
        case 8: return [.ask(.disconnect, .said(.disconnecting, []))]
        case 9: return [pauseOrResume]
        case 10: return [.quit]
        default: return []
        }
    }

    /// Closes the gate, or opens it again (LK-22, HK-6).
    private var pauseOrResume: TUIEffect {
        status?.isPaused == true ? .ask(.resume, .said(.resumedNow, [])) : .ask(.pause, .said(.pausedNow, []))
    }

    private mutating func answer(_ key: TUIKey) -> [TUIEffect] {
        guard let question else { return [] }
        switch key {
        case .left, .right, .up, .down, .tab, .backTab: self.question?.isYes.toggle()
        case .escape: self.question = nil
        case .enter:
            self.question = nil
            if question.isYes {
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
        guard !isStarting, service != .starting else { return [] }
        // Beside a service no daemon of the user's own is started, which would take its adapter.
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
        case Self.refreshKey:
            devices.clear()
            notice = .said(.listening, [])
            return [.rescan(isAnew: true)]
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
            moveRow(key, count: SettingsPage.Row.allCases.count)
            return []
        }
        switch SettingsPage.Row(rawValue: rows[.settings] ?? 0) ?? .statusLine {
        case .statusLine:
            showsStatus.toggle()
            return [.keepStatusLine(showsStatus)]
        case .language:
            language = language == .english ? .japanese : .english
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

/// The effects of a key that are carried out outside of the model.
enum TUIEffect: Equatable {
    /// Ask the daemon, and show that notice when it has done so.
    case ask(ControlRequest, TUIModel.Notice)
    /// Ask for the devices around, at once; with `isAnew` those heard earlier are forgotten (LK-4).
    case rescan(isAnew: Bool)
    case startDaemon
    case startService
    case loadSnippets
    case checkMachine
    case keepStatusLine(Bool)
    case redraw
    case quit
}
