// SPDX-License-Identifier: GPL-2.0-or-later

import Configuration
import Control
import Daemon
import LinuxIO
import TestSupport
import Testing
import Texts
import Typing

@testable import blewedge

/// Script that operates the pages in memory: answers of the daemon, keys, and the effects and screens that follow them.
///
/// Tests/Vectors/screens/README.md describes the lines.
struct ScreenScript {
    private var model = TUIModel(language: .english)
    private var decoder = TUIKeyDecoder()
    private var now = Duration.seconds(1000)
    /// Times in the daemon's answers, each as shown in the local time zone and in UTC.
    private var times: [(local: String, universal: String)] = []

    /// Executes the inputs among the lines; returns the inputs, each followed by its output.
    static func run(_ lines: [String]) throws -> [String] {
        var script = ScreenScript()
        return try lines.filter { !"|:@>*".contains($0.first ?? "|") }.flatMap { line in
            [line] + (try script.perform(line))
        }
    }

    private mutating func perform(_ line: String) throws -> [String] {
        let words = line.split(separator: " ", maxSplits: 1).map(String.init)
        let rest = words.count > 1 ? words[1] : ""
        switch words[0] {
        case "begin": self = ScreenScript()
        case "language": model.language = rest == "ja" ? .japanese : .english
        case "after":
            let time = try #require(Int(rest))
            now += .milliseconds(time - 1000)
        case "glyphs": model.glyphs = rest == "ascii" ? .ascii : .console
        case "status":
            model.clock = now
            let answer = try JSONValue(Array(rest.utf8))
            model.take(try #require(StatusAnswer(answer)))
        case "lose": model.lose(rest.isEmpty ? Reason(.noDaemon) : Self.reason(rest))
        case "devices":
            let devices = try JSONValue(Array("[\(rest)]".utf8)).array ?? []
            times += devices.compactMap { device in
                let text = device["lastHeard"]?.string ?? ""
                return UniversalTime.seconds(text).map { (WallClock.local($0), Self.shown(text)) }
            }
            model.hear(.object([("devices", .array(devices))]), now: 0)
        case "failure": model.failScan(Self.reason(rest))
        case "beacons": model.beacons = .success(BeaconsAnswer(try JSONValue(Array(rest.utf8))))
        case "beacons-failure": model.beacons = .failure(CommandFailure(.unavailable, Message(detail: rest)))
        case "page":
            let number = try #require(Int(rest))
            return effects(model.open(try #require(Page(rawValue: number))))
        case "press": return effects(press(rest))
        case "wait": return effects(model.waited(now: now))
        case "start-service": return effects(model.startService())
        case "received": model.receive(now: now)
        case "set": try set(rest)
        case "screen": return try screen(rest, isStyled: false)
        case "styles": return try screen(rest, isStyled: true)
        default: Issue.record("unknown line: \(line)")
        }
        return []
    }

    private mutating func set(_ text: String) throws {
        let words = text.split(separator: " ", maxSplits: 1).map(String.init)
        let rest = words.count > 1 ? words[1] : ""
        switch words[0] {
        case "no-flash": model.isFlashing = false
        case "no-status": model.showsStatus = false
        case "scanning": model.isScanning = true
        case "starting": model.isStarting = true
        case "service": model.service = rest == "starting" ? .starting : .failed(Self.reason(rest))
        case "snippets": model.snippets = Snippets(.habr).all
        case "snippet-fault": model.snippetFault = Message(detail: rest)
        case "configuration": model.configuration = try Configuration(text: rest + "\n")
        case "file": model.configurationFile = rest
        case "machine": model.machineFaults = rest.isEmpty ? [] : [Self.reason(rest)]
        case "network": model.networkUses = [GuideText.networkServer.message(rest)]
        case "hex": model.hex = rest
        case "fault": model.notice = .fault(Self.reason(rest))
        case "demo": model.script = DemoScript(now: now).message
        default: Issue.record("unknown setting: \(text)")
        }
    }

    private static func reason(_ text: String) -> Reason {
        let parts = text.split(separator: " / ", maxSplits: 1).map { Message(detail: String($0)) }
        return Reason(parts[0], remedy: parts.count > 1 ? parts[1] : nil)
    }

    // MARK: Keys and effects

    /// Presses the keys of each word together, and the words at intervals of a second.
    private mutating func press(_ text: String) -> [TUIEffect] {
        var all: [TUIEffect] = []
        for word in text.split(separator: " ") {
            now += .seconds(1)
            var keys = String(word)
            for (name, bytes) in [("\\e", "\u{1B}"), ("\\r", "\r"), ("\\t", "\t"), ("\\s", " "), ("\\b", "\u{7F}")] {
                keys = keys.replacing(name, with: bytes)
            }
            let pressed = (decoder.take(keys.utf8) + decoder.timeout()).compactMap { key -> TUIKey? in
                guard case .mouse(let row, let column) = key else { return key }
                return PageFrame.screen(model, columns: 80, rows: 24).target(row: row, column: column).map(TUIKey.click)
            }
            all += model.press(pressed, now: now)
        }
        return all
    }

    private func effects(_ effects: [TUIEffect]) -> [String] {
        effects.map { effect in
            guard case .ask(let request, let done) = effect, case .said(let text, let arguments) = done else {
                return "> \(effect)"
            }
            return "> \(request.line.dropFirst("version 1 ".count)): \(text.text(.english, with: arguments))"
        }
    }

    // MARK: Screens

    /// Returns the rows of a screen such as `80x24`, or those of them that follow the size, as in `80x24 2 3`.
    private mutating func screen(_ text: String, isStyled: Bool) throws -> [String] {
        let numbers = text.split { $0 == "x" || $0 == " " }.compactMap { Int($0) }
        try #require(numbers.count >= 2)
        model.clock = now
        let screen = PageFrame.screen(model, columns: numbers[0], rows: numbers[1])
        let rows = numbers.count > 2 ? Array(numbers[2...]) : Array(0..<screen.rows)
        return Self.counted(
            rows.flatMap { row in
                var shown = screen.text[row]
                for (local, universal) in times {
                    shown = shown.replacing(local, with: universal)
                        .replacing(local.suffix(8), with: universal.suffix(8))
                }
                guard isStyled else { return ["|" + shown] }
                let styles = Self.runs(screen.row(row).map { Self.name(of: $0.style) })
                let targets = Self.runs((0..<screen.columns).map { Self.name(of: screen.target(row: row, column: $0)) })
                return ["|" + shown] + (styles.isEmpty ? [] : [": " + styles])
                    + (targets.isEmpty ? [] : ["@ " + targets])
            }
        )
    }

    /// Replaces repetitions of a row by their number.
    private static func counted(_ rows: [String]) -> [String] {
        var lines: [String] = []
        var (last, count) = ("", 0)
        for row in rows + [""] {
            if row == last, row.hasPrefix("|") {
                count += 1
            } else {
                if count > 0 { lines.append("* \(count) more") }
                (last, count) = (row, 0)
                if !row.isEmpty { lines.append(row) }
            }
        }
        return lines
    }

    /// Returns the named ranges of columns.
    private static func runs(_ names: [String]) -> String {
        var runs: [String] = []
        var first = 0
        for column in 1...names.count where column == names.count || names[column] != names[first] {
            if !names[first].isEmpty { runs.append("\(first)-\(column - 1) \(names[first])") }
            first = column
        }
        return runs.joined(separator: ", ")
    }

    private static func name(of style: ScreenStyle) -> String {
        [
            (ScreenStyle.bold, "bold"), (.reverse, "reverse"), (.green, "green"), (.yellow, "yellow"), (.red, "red"),
        ].filter { style.contains($0.0) }.map(\.1).joined(separator: "+")
    }

    private static func name(of target: TUITarget?) -> String {
        switch target {
        case .page(let page): "F\(page.number)"
        case .row(let row): "row \(row)"
        case .answer(let isYes): isYes ? "OK" : "Cancel"
        case .function(let number): "F\(number)"
        case nil: ""
        }
    }

    /// Returns a time such as `2021-05-24T17:07:59Z` as shown on a page in the time zone UTC.
    private static func shown(_ text: String) -> String {
        String(text.dropLast().replacing("-", with: "/").replacing("T", with: " "))
    }
}

@Suite("Screens of the pages")
struct ScreenScriptTests {
    @Test(
        "Each script of Tests/Vectors/screens has the effects and screens that its file shows",
        arguments: try RepositoryFiles.names(in: "Tests/Vectors/screens").filter { $0.hasSuffix(".txt") }
    )
    func screens(name: String) throws {
        let path = "Tests/Vectors/screens/" + name
        let lines = try RepositoryFiles.text(path).split(separator: "\n").map(String.init).filter { !$0.hasPrefix("#") }
        try RecordedText.compare(try ScreenScript.run(lines), lines, "screens/" + name)
    }
}
