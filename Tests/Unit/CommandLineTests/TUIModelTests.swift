// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import Configuration
import Control
import Daemon
import Devices
import Setup
import Testing
import Texts
import Typing

@testable import blewedge

/// Returns a status as answered by a daemon.
func daemonStatus(
    _ state: String = "connected",
    isPaused: Bool = false,
    more: String = "",
    chosen: Bool = true,
    received: Int = 28,
    typed: Int = 26
) throws -> StatusAnswer {
    let choice =
        #""device":"LINBLE-TEST","selection":{"name":"LINBLE-TEST","address":"F0:F1:F2:F3:F4:F5","addressType":"random"},"#
    let text = #"""
        {"ok":true,"version":1,"state":"\#(state)",\#(chosen ? choice : "")"seconds":75,"gate":"open","paused":\#(isPaused),
        "adapter":"hci0","keyboard":"/dev/input/event7","profile":"linble","layout":"us","table":"linble",
        "counts":{"notifications":2,"received":\#(received),"typed":\#(typed),"discarded":2,"lost":0},
        "lastReceived":{"secondsAgo":3,"length":14},"rivals":[]\#(more)}
        """#
    return try #require(StatusAnswer(try JSONValue(Array(text.utf8))))
}

/// Returns devices as answered by a daemon to `scan`, with the strongest one first.
func scanAnswer(_ devices: [(address: String, name: String, rssi: Int, heard: String)]) throws -> JSONValue {
    let objects = devices.sorted { $0.rssi > $1.rssi }.map {
        #"{"address":"\#($0.address)","addressType":"public","name":"\#($0.name)","rssi":\#($0.rssi),"lastHeard":"\#($0.heard)"}"#
    }
    return try JSONValue(Array(#"{"ok":true,"version":1,"devices":[\#(objects.joined(separator: ","))]}"#.utf8))
}

/// Returns the rows of a page without frames: pane titles except the first one, and the text in the panes.
func pageText(_ model: TUIModel, columns: Int = 80, rows: Int = 24) -> [String] {
    var panes = 0
    let isFlush = [.devices, .settings, .snippets].contains(model.page) && model.question == nil && !model.showsHelp
    return PageFrame.screen(model, columns: columns, rows: rows).text.compactMap { line in
        switch line.first {
        case "┌":
            panes += 1
            return panes == 1 ? nil : String(line.drop { "┌─ ".contains($0) }.prefix { $0 != "─" }.dropLast())
        case "└": return nil
        case "│":
            // Removes the margin of a pane that does not fill its frame.
            var text = String(line.dropFirst().dropLast())
            if panes > 1 || !isFlush { text.removeFirst() }
            while text.last == " " { text.removeLast() }
            return text
        default: return line
        }
    }
}

/// 2021-05-24 17:07:59 UTC.
let someTime = 1_621_876_079

@Suite("The pages' model")
struct TUIModelTests {
    /// Presses keys at intervals of a second, like a person, and returns the resulting effects.
    private static func press(_ model: inout TUIModel, _ keys: [TUIKey], from start: Int = 1) -> [TUIEffect] {
        keys.enumerated().flatMap { index, key in model.press(key, now: .seconds(start + index)) }
    }

    private static func devices(chosen: Bool) throws -> TUIModel {
        var model = TUIModel(language: .english)
        model.take(try daemonStatus(chosen ? "connected" : "unselected", chosen: chosen))
        let answer = try scanAnswer([
            ("00:00:00:00:00:01", "weak", -90, "2021-05-24T17:07:55Z"),
            ("00:00:00:00:00:02", "strong", -40, "2021-05-24T17:07:59Z"),
        ])
        model.devices.hear(answer, now: someTime)
        return model
    }

    @Test("LK-1: the selected device comes first, then the others by descending signal strength")
    func order() throws {
        #expect(try Self.devices(chosen: false).devices.rows.map(\.label) == ["strong", "weak"])
        #expect(try Self.devices(chosen: true).devices.rows.map(\.label) == ["LINBLE-TEST", "strong", "weak"])
        #expect(try Self.devices(chosen: false).devices.rows.first?.lastHeard == someTime)
    }

    @Test("A device that is chosen out of the list shows at once what was heard of it")
    func chosenOutOfTheList() throws {
        var model = try Self.devices(chosen: false)
        model.devices.hear(
            try scanAnswer([("F0:F1:F2:F3:F4:F5", "LINBLE-TEST", -50, "2021-05-24T17:07:57Z")]),
            now: someTime
        )
        model.take(try daemonStatus("connected", chosen: true))
        #expect(model.devices.rows.count == 1)
        #expect(model.devices.rows.first?.rssi == -50 && model.devices.rows.first?.lastHeard == 1_621_876_077)
    }

    @Test("The chosen device stays with what was heard of it last, when the daemon lists it no more")
    func chosenStays() throws {
        var model = try Self.devices(chosen: true)
        let chosen = ("F0:F1:F2:F3:F4:F5", "LINBLE-TEST", -50, "2021-05-24T17:07:57Z")
        model.devices.hear(
            try scanAnswer([chosen, ("00:00:00:00:00:01", "weak", -90, "2021-05-24T17:07:55Z")]),
            now: 0
        )
        #expect(model.devices.rows.map(\.label) == ["LINBLE-TEST", "weak"])
        model.devices.hear(try scanAnswer([]), now: 0)
        #expect(model.devices.rows.map(\.label) == ["LINBLE-TEST"])
        #expect(model.devices.rows.first?.rssi == -50 && model.devices.rows.first?.lastHeard == someTime - 2)
    }

    @Test("The cursor stays on its device when the order changes")
    func cursor() throws {
        var model = try Self.devices(chosen: false)
        #expect(Self.press(&model, [.down]).isEmpty)
        #expect(model.devices.focused?.label == "weak")
        let answer = try scanAnswer([
            ("00:00:00:00:00:01", "weak", -10, "2021-05-24T17:08:01Z"),
            ("00:00:00:00:00:02", "strong", -40, "2021-05-24T17:07:59Z"),
        ])
        model.devices.hear(answer, now: someTime + 2)
        #expect(model.devices.cursor == 0 && model.devices.focused?.label == "weak")
        _ = Self.press(&model, [.up, .up, .pageUp, .home])
        #expect(model.devices.cursor == 0)
        _ = Self.press(&model, [.end, .pageDown])
        #expect(model.devices.cursor == 1)
    }

    @Test("Page Up and Page Down move by ten devices, Home and End to the first and the last")
    func longList() throws {
        var model = try Self.devices(chosen: false)
        let many = (0..<30).map { ("00:00:00:00:01:\(10 + $0)", "d\($0)", -40 - $0, "2021-05-24T17:08:01Z") }
        model.hear(try scanAnswer(many), now: someTime + 2)
        let last = model.devices.rows.count - 1
        _ = Self.press(&model, [.home])
        var places: [Int] = []
        for key: TUIKey in [.pageDown, .pageDown, .pageUp, .end, .pageUp, .home] {
            _ = Self.press(&model, [key])
            places.append(model.devices.cursor)
        }
        #expect(last >= 29 && places == [10, 20, 10, last, last - 10, 0])
    }

    @Test("Why nothing can be listed is shown until something is")
    func scanFault() throws {
        var model = TUIModel(language: .english)
        model.failScan(Reason(Message(detail: "no adapter")))
        #expect(model.notice == .fault(Reason(Message(detail: "no adapter"))))
        model.hear(try scanAnswer([("00:00:00:00:00:01", "one", -90, "2021-05-24T17:07:55Z")]), now: someTime)
        #expect(model.notice == nil)
        model.failScan(Reason(Message(detail: "no adapter")))
        #expect(model.notice == nil, "the devices are listed")
    }

    @Test("R asks for the list anew")
    func refresh() throws {
        var model = try Self.devices(chosen: false)
        #expect(Self.press(&model, [.character("r")]) == [.rescan(isAnew: true)])
        #expect(model.devices.rows.isEmpty)
    }

    @Test("Enter uses the device under the cursor where none is chosen")
    func use() throws {
        var model = try Self.devices(chosen: false)
        let address = try #require(DeviceSelector("00:00:00:00:00:02"))
        #expect(Self.press(&model, [.enter]) == [.ask(.use(address, confirmed: true), .said(.chosen, ["strong"]))])
        #expect(model.notice == .said(.asking, ["strong"]) && model.question == nil)
    }

    @Test("Another one is used only after the question, and Cancel changes nothing")
    func asking() throws {
        var model = try Self.devices(chosen: true)
        #expect(Self.press(&model, [.down, .enter]).isEmpty)
        #expect(model.question?.text == .askSwitch)
        #expect(model.question?.arguments == ["LINBLE-TEST", "strong"])
        // The cursor is initially on Cancel, which has the same effect as Escape.
        #expect(Self.press(&model, [.enter]).isEmpty && model.question == nil)
        #expect(Self.press(&model, [.enter, .right, .escape]).isEmpty && model.question == nil)
        let address = try #require(DeviceSelector("00:00:00:00:00:02"))
        let effects = Self.press(&model, [.enter, .right, .enter])
        #expect(effects == [.ask(.use(address, confirmed: true), .said(.chosen, ["strong"]))])
    }

    @Test("A device without keys is used only after the question, and Cancel leaves it")
    func openDevice() throws {
        var model = try Self.devices(chosen: false)
        let address = try #require(DeviceSelector("00:00:00:00:00:02"))
        let request = ControlRequest.use(address, confirmed: true)
        let done = TUIModel.Notice.said(.chosen, ["strong"])
        var refusal = CommandFailure(.configuration, LinkFaultText.openDevice, "strong", "00:00:00:00:00:02")
        refusal.kind = .openDevice
        #expect(Self.press(&model, [.enter]) == [.ask(request, done)])
        model.take(refusal, of: request, done)
        #expect(model.question?.text == .askOpen && model.question?.arguments == ["strong"] && model.notice == nil)
        #expect(Self.press(&model, [.enter]).isEmpty && model.question == nil)
        model.take(refusal, of: request, done)
        #expect(Self.press(&model, [.right, .escape]).isEmpty && model.question == nil)
        model.take(refusal, of: request, done)
        let open = ControlRequest.use(address, confirmed: true, security: GATTLinkSecurity.Level.none)
        #expect(Self.press(&model, [.right, .enter]) == [.ask(open, done)])
        #expect(model.notice == .said(.asking, ["strong"]))
        model.take(nil, of: open, done)
        #expect(model.notice == done)
        // A keyboard is never used unpaired: the page shows the remedy, and asks nothing.
        var keyboard = CommandFailure(.configuration, LinkFaultText.unpairedKeyboard, "strong", "00:00:00:00:00:02")
        keyboard.kind = .unpairedKeyboard
        model.take(keyboard, of: request, done)
        #expect(model.question == nil && model.notice == .fault(Reason(keyboard)))
        // Other errors are reported, and so is this one if another question is open.
        let other = CommandFailure(.timeout, LinkFaultText.notHeard, "8")
        model.take(other, of: request, done)
        #expect(model.question == nil && model.notice == .fault(Reason(other)))
        model.take(try daemonStatus())
        #expect(Self.press(&model, [.home, .enter]).isEmpty && model.question?.text == .askForget)
        model.take(refusal, of: request, done)
        #expect(model.question?.text == .askForget && model.notice == .fault(Reason(refusal)))
    }

    @Test("Enter on the chosen device drops the choice, after a question")
    func forgetting() throws {
        var model = try Self.devices(chosen: true)
        #expect(Self.press(&model, [.home, .enter]).isEmpty && model.question?.text == .askForget)
        #expect(Self.press(&model, [.right, .enter]) == [.ask(.forget, .said(.forgotten, []))])
    }

    @Test("LK-14: connect, disconnect, pause and resume from every page", arguments: Page.allCases)
    func everywhere(page: Page) throws {
        var model = try Self.devices(chosen: true)
        _ = model.open(page)
        #expect(Self.press(&model, [.function(7)]) == [.ask(.connect, .said(.connecting, []))])
        #expect(Self.press(&model, [.function(8)]) == [.ask(.disconnect, .said(.disconnecting, []))])
        #expect(Self.press(&model, [.function(9)]) == [.ask(.pause, .said(.pausedNow, []))])
        model.take(try daemonStatus(isPaused: true))
        #expect(Self.press(&model, [.function(9)]) == [.ask(.resume, .said(.resumedNow, []))])
        #expect(Self.press(&model, [.function(10)]) == [.quit])
        #expect(Self.press(&model, [.interrupt]) == [.quit])
        _ = Self.press(&model, [.function(3)])
        #expect(model.page == .keypad)
    }

    @Test("A barcode with Enter is text in a field, and no command, on every page", arguments: Page.allCases)
    func scanner(page: Page) throws {
        var model = try Self.devices(chosen: true)
        _ = model.open(page)
        var effects: [TUIEffect] = []
        for (index, character) in "rqr4902778020142".enumerated() {
            effects += model.press(.character(character), now: .milliseconds(1000 + 50 * index))
        }
        effects += model.press(.enter, now: .milliseconds(1000 + 50 * 16))
        // The first letter may be interpreted as a command, but it only refreshes the list.
        #expect(effects == (page == .devices ? [.rescan(isAnew: true)] : []))
        #expect(model.page == page && model.question == nil)
        #expect(String(model.field.text) == (page.hasField ? "rqr4902778020142\n" : ""))
        // Enter pressed later by a person is a command again.
        if page == .devices { #expect(Self.press(&model, [.enter], from: 10).isEmpty && model.question != nil) }
    }

    @Test("Keys that came together with text are no commands, however late they are read")
    func flood() throws {
        var model = try Self.devices(chosen: false)
        for second in 1...50 {
            let keys = Array(repeating: [TUIKey.enter, .character("1")], count: 100).flatMap { $0 }
            #expect(model.press(keys, now: .seconds(second)).isEmpty)
        }
        #expect(model.question == nil && model.press([.enter], now: .seconds(60)).count == 1)
    }

    @Test("Pasted thousands are text, or nothing")
    func pasted() throws {
        var model = try Self.devices(chosen: true)
        #expect(Self.press(&model, [.paste(String(repeating: "q\r", count: 4000))]).isEmpty)
        #expect(model.field.isEmpty)
        _ = model.open(.check)
        #expect(Self.press(&model, [.paste(String(repeating: "ab\r", count: 4000))]).isEmpty)
        #expect(model.field.text.count == TUIField.most)
    }

    @Test("The keypad presses the key under the cursor")
    func keypad() throws {
        var model = try Self.devices(chosen: true)
        _ = model.open(.keypad)
        let one = try #require(KeyName("1"))
        #expect(Self.press(&model, [.enter]) == [.ask(.key([one]), .said(.pressed, ["1"]))])
        let backspace = try #require(KeyName("backspace"))
        let effects = Self.press(&model, [.right, .right, .right, .right, .enter], from: 10)
        #expect(effects == [.ask(.key([backspace]), .said(.pressed, ["BS"]))])
        var names: Set<KeypadKey> = []
        for row in KeypadKey.rows { names.formUnion(row) }
        #expect(
            names.isSuperset(of: "0123456789+-<>.,".map { KeypadKey.name(.character($0.unicodeScalars.first ?? " ")) })
        )
        let last = Self.press(&model, [.down, .down, .down, .down, .down, .left, .enter], from: 20)
        #expect(last == [.ask(.clear, .said(.cleared, []))])
        #expect(Self.press(&model, [.right, .enter], from: 30) == [.ask(.pause, .said(.pausedNow, []))])
    }

    @Test("A key that comes back to these pages is shown, and does not press itself again")
    func echo() throws {
        var model = try Self.devices(chosen: true)
        _ = model.open(.keypad)
        _ = Self.press(&model, [.down, .down, .down, .right, .right, .right, .right])
        let enter = try #require(KeyName("enter"))
        #expect(model.press(.enter, now: .seconds(20)) == [.ask(.key([enter]), .said(.pressed, ["Enter"]))])
        #expect(model.press(.enter, now: .milliseconds(20_010)).isEmpty)
        #expect(String(model.field.text) == "\n")
        // The next Enter was pressed by a person.
        #expect(model.press(.enter, now: .milliseconds(20_500)).count == 1)
        // If the key does not come back, the pages stop waiting for it soon.
        #expect(model.press(.enter, now: .milliseconds(21_600)).count == 1)
    }

    @Test("A snippet that comes back shows where its cursor ends")
    func snippet() throws {
        var model = try Self.devices(chosen: true)
        _ = model.open(.snippets)
        model.snippets = Snippets(.habr).all
        let bold = try #require(model.snippets.first)
        #expect(model.focusedSnippet == bold)
        #expect(model.press(.enter, now: .seconds(1)) == [.ask(.snippet("bold"), .said(.typedSnippet, ["bold"]))])
        for (index, key) in MachineInputFilter.keys(of: bold).enumerated() {
            #expect(model.press(key, now: .milliseconds(1001 + index)).isEmpty)
        }
        _ = model.press(.character("x"), now: .milliseconds(1200))
        #expect(String(model.field.text) == "<b>x</b>")
    }

    @Test("The field takes what is typed, and moves in it")
    func field() {
        var field = TUIField()
        for key in "abc".map(TUIKey.character) + [
            .left, .left, .backspace, .delete, .end, .enter, .character("d"), .home,
        ] {
            let isTaken = field.take(key)
            #expect(isTaken)
        }
        #expect(String(field.text) == "c\nd" && field.cursor == 2)
        let others = [TUIKey.up, .escape].map { field.take($0) }
        #expect(others == [false, false])
        for _ in 0..<10 { _ = field.take(.left) }
        for _ in 0..<10 { _ = field.take(.backspace) }
        for _ in 0..<10 { _ = field.take(.right) }
        for _ in 0..<10 { _ = field.take(.delete) }
        #expect(String(field.text) == "c\nd" && field.cursor == 3)
    }

    @Test("The setting shows and hides the state, and is kept")
    func statusLine() throws {
        var model = try Self.devices(chosen: true)
        _ = model.open(.settings)
        #expect(Self.press(&model, [.enter]) == [.keepStatusLine(false)] && !model.showsStatus)
        #expect(Self.press(&model, [.enter]) == [.keepStatusLine(true)] && model.showsStatus)
        #expect(Self.press(&model, [.down, .enter]).isEmpty && model.language == .japanese)
        #expect(Self.press(&model, [.end, .enter]) == [.ask(.reload, .said(.reloaded, []))])
    }

    @Test("Keeping the setting changes its line of the configuration and no other")
    func configuration() throws {
        func set(_ text: String) -> String { ConfigurationText(text).setting("status-line", to: "false").text }
        #expect(set("") == "status-line = false\n")
        #expect(set("a = 1\n status-line=true # x\nb = 2\n") == "a = 1\nstatus-line = false # x\nb = 2\n")
        #expect(set("#status-line = true\n") == "status-line = false\n#status-line = true\n")
        #expect(set("[x]\nstatus-line = true\n") == "status-line = false\n[x]\nstatus-line = true\n")
        #expect(set("a = 1\r\nstatus-line = true\r\nb = 2\r\n") == "a = 1\r\nstatus-line = false\r\nb = 2\r\n")
        #expect(set("a = 1\r\n[x]\r\n") == "status-line = false\r\na = 1\r\n[x]\r\n")
        #expect(set("status-line = \"#\\\"#\" # a \"b\"\r\n") == "status-line = false # a \"b\"\r\n")
        #expect(set("status-line = '#'#x\n") == "status-line = false#x\n")
        func set(suffix: String?, _ text: String) -> String {
            ConfigurationText(text).setting("suffix", in: "scan-mode", to: suffix).text
        }
        let table = "[scan-mode]\nsuffix = 1\n"
        #expect(set(suffix: "1", "") == table && set(suffix: "1", "a = 1\n") == "a = 1\n" + table)
        #expect(set(suffix: "1", "a = 1") == "a = 1\n" + table)
        #expect(set(suffix: "1", "a = 1\r\n") == "a = 1\r\n[scan-mode]\r\nsuffix = 1\r\n")
        #expect(
            set(suffix: "1", " [ scan-mode ] # x\non = true\n[b]\nsuffix = 2\n")
                == " [ scan-mode ] # x\nsuffix = 1\non = true\n[b]\nsuffix = 2\n"
        )
        #expect(
            set(suffix: "2", "suffix = 0\n" + table + "on = true\n")
                == "suffix = 0\n[scan-mode]\nsuffix = 2\non = true\n"
        )
        #expect(set(suffix: nil, table) == "[scan-mode]\n" && set(suffix: nil, "a = 1\n") == "a = 1\n")
        #expect(set(suffix: nil, "[scan-mode]\non = true\n") == "[scan-mode]\non = true\n")
        let written = try Configuration(text: set("adapter = \"hci1\"\n\n[scan]\nrefresh = \"5s\"\n"))
        #expect(!written.showsStatus && written.refreshPeriod == .seconds(5))
    }

    @Test("The guide's steps are tested on the way, and each leads to the next")
    func guide() throws {
        var model = TUIModel(language: .english)
        #expect(model.open(.guide) == [.checkMachine])
        model.machineFaults = [Reason(Message(detail: "there is no adapter"), remedy: Message(detail: "plug one in"))]
        model.lose(Reason(.noDaemon))
        #expect(GuidePage.Step.next(model) == .machine)
        #expect(Self.press(&model, [.enter]) == [.checkMachine])
        model.machineFaults = []
        #expect(GuidePage.Step.next(model) == .daemon)
        #expect(Self.press(&model, [.enter, .enter], from: 5) == [.startDaemon] && model.isStarting)
        model.take(try daemonStatus("unselected", chosen: false))
        #expect(GuidePage.Step.next(model) == .choose && !model.isStarting)
        #expect(Self.press(&model, [.enter], from: 10) == [.rescan(isAnew: false)] && model.page == .devices)
        _ = model.open(.guide)
        model.take(try daemonStatus("failed"))
        #expect(GuidePage.Step.next(model) == .connect)
        model.take(try daemonStatus("connected"))
        #expect(GuidePage.Step.next(model) == .attempt)
        _ = Self.press(&model, [.character("4")], from: 20)
        #expect(GuidePage.Step.next(model) == nil)
    }

    @Test("LK-14: the check page, opened without a daemon, starts the service once, or reports why it cannot")
    func service() throws {
        var model = TUIModel(language: .english)
        #expect(model.open(.check).isEmpty && model.startService().isEmpty)
        model.lose(Reason(.noDaemon))
        #expect(model.startService() == [.startService] && model.startService().isEmpty)
        #expect(Self.press(&model, [.enter]).isEmpty)
        model.service = .failed(Reason(PageText.serviceMissing.message()))
        #expect(model.startService().isEmpty)
        // Reopening the page tries again; other pages do not start the service.
        _ = model.open(.keypad)
        #expect(model.startService().isEmpty)
        _ = model.open(.check)
        #expect(model.startService() == [.startService])
        // A daemon that was stopped is not started again without the user's request.
        var stopped = TUIModel(language: .english)
        stopped.take(try daemonStatus())
        #expect(stopped.open(.check).isEmpty)
        stopped.lose(Reason(.noDaemon))
        #expect(stopped.startService().isEmpty)
        // A daemon that does not respond is no reason to start another one.
        _ = model.open(.check)
        model.lose(Reason(CommandFailure(.permission, Message(detail: "not permitted"))))
        #expect(model.startService().isEmpty)
        model.service = .settled
        #expect(Self.press(&model, [.enter], from: 10) == [.startDaemon])
    }

    @Test("LK-12: Enter on the guide's daemon step starts the installed service, or a daemon if there is none")
    func guideStartsService() throws {
        for manager in [ServiceManager.systemd, nil] {
            var model = TUIModel(language: .english)
            _ = model.open(.guide)
            model.machineFaults = []
            model.lose(Reason(.noDaemon))
            model.manager = manager
            #expect(GuidePage.Step.next(model) == .daemon)
            #expect(Self.press(&model, [.enter]) == [manager == nil ? .startDaemon : .startService])
            #expect(Self.press(&model, [.enter]).isEmpty)
            model.service = .failed(Reason(PageText.serviceMissing.message()))
            #expect(GuidePage.Step.daemon.remedies(model).contains("No service is installed"))
        }
    }

    @Test("LK-12: the guide names the command that starts the daemon on this machine, in each of three cases")
    func startCommand() {
        for (service, hasManager, command): (ServiceManager?, Bool, String) in [
            (.systemd, true, "sudo systemctl start blewedge"), (nil, true, "sudo blewedge setup"),
            (nil, false, "sudo blewedge run"),
        ] {
            var facts = SystemFacts()
            (facts.service, facts.hasManager) = (service, hasManager)
            facts.usesKernelController = false
            var model = TUIModel(language: .english)
            model.take(facts)
            model.lose(Reason(.noDaemon))
            #expect(
                GuidePage.Step.daemon.remedies(model) == ["Press Enter to start it, or run `\(command)` in a shell."]
            )
        }
    }

    @Test("LK-12, LK-15: for an unsupported device the guide names the reason, and does not advise to bring it closer")
    func guideUnsupported() throws {
        let more = #","reason":"it is a Bluetooth keyboard (HID)","remedy":"set it to its serial mode""#
        for language in Language.allCases {
            var model = TUIModel(language: language)
            model.take(try daemonStatus("unsupported", more: more))
            #expect(GuidePage.Step.next(model) == .connect)
            let lines = GuidePage.Step.connect.remedies(model)
            #expect(lines.count == 1 && lines[0].contains("(HID)") && lines[0].contains("serial mode"))
            #expect(lines[0].contains("LINBLE-TEST") && !lines[0].contains(language == .english ? "near" : "近づけ"))
        }
    }

    @Test("A daemon that goes and comes back is said so, and its devices go with it")
    func going() throws {
        var model = try Self.devices(chosen: true)
        model.lose(Reason(.noDaemon))
        #expect(model.status == nil && model.notice == .said(.gone, []) && model.devices.rows.isEmpty)
        #expect(Self.press(&model, [.enter]) == [.startDaemon])
        model.take(try daemonStatus())
        #expect(model.notice == .said(.attached, []) && model.absence == nil)
        #expect(StatusAnswer(.null) == nil && StatusAnswer(.object([("state", .string("asleep"))])) == nil)
    }

    @Test(
        "The daemon's times",
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("2021-05-24T17:07:59Z", 1_621_876_079), ("2000-02-29T12:00:00Z", 951_825_600),
            ("2026-11-21T10:00:00Z", 1_795_255_200), ("2021-13-24T17:07:59Z", nil), ("2021-05-24 17:07:59", nil),
            ("", nil), ("２０21-05-24T17:07:59Z", nil),
        ]
    )
    func times(text: String, seconds: Int?) {
        #expect(UniversalTime.seconds(text) == seconds)
    }
}
