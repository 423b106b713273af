// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import BluetoothPackets
import Configuration
import Control
import Daemon
import Keystrokes
import LinuxIO
import SystemPackage
import Texts

struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the daemon's state, the selected device and the byte counts.",
        discussion: """
            On a terminal, --watch refreshes the status every second. If the output is not a terminal, or with --json, \
            --watch prints the status again after each change. The status shows the time and the length of received \
            data, but never its contents. If no daemon is running, the exit status is 69.

            EXAMPLES:
              blewedge status
              blewedge status --watch
              blewedge status --json | jq .state
            """
    )

    @Flag(help: "Show the status continuously until Ctrl-C.")
    var watch = false

    @OptionGroup var daemon: DaemonOptions

    func run() throws {
        var client = try daemon.client()
        guard watch else { return try StandardStream.output.write(text(try client.ask(.status))) }
        let isDrawn = StandardStream.output.isTerminal && !daemon.json
        var table = LiveTable()
        var last: JSONValue?
        while true {
            let answer = try client.ask(.status)
            if isDrawn {
                let size = StandardStream.output.windowSize
                let lines = StatusText.lines(answer.value, glyphs: .current).map {
                    DisplayWidth.cut($0, to: size?.columns ?? 80)
                }
                try StandardStream.output.write(table.frame(lines, rows: size?.rows ?? 24))
            } else if StatusText.lasting(answer.value) != last {
                try StandardStream.output.write(text(answer))
                last = StatusText.lasting(answer.value)
            }
            try client.rest(for: .seconds(1))
        }
    }

    private func text(_ answer: ControlClient.Answer) -> String {
        daemon.json ? answer.plainLine + "\n" : StatusText.lines(answer.value).map { $0 + "\n" }.joined()
    }
}

/// The status line of a keyboard that runs on a terminal: state, counts, and a mark for received data (LK-13, LK-25).
///
/// It is redrawn only when something changes.
final class StatusLine {
    struct Facts {
        var state: Session.State
        /// The device, as the user has named it; nil if there is none.
        var device: String?
        var isPaused: Bool
        var bytes: Ledger.Snapshot
    }

    /// Time for which the mark for received data is shown (LK-25); it is also the redraw interval during that time.
    static let flashTime = Duration.milliseconds(400)
    private static let interval = Duration.milliseconds(100)
    /// Control sequence that returns to the start of the line and erases the line (ECMA-48 EL).
    private static let begin = "\r\u{1B}[K"

    /// Function that returns the facts to show.
    var source: (() -> Facts)?

    private let loop: EventLoop
    private let timer = LoopTimer()
    private var flashEnd = Duration.zero
    private var isDrawn = false

    /// Creates a status line on standard error; nil unless that is a terminal that can redraw a line.
    init?(on loop: EventLoop) {
        guard StandardStream.error.isTerminal, ProcessFacts.environment("TERM") ?? "dumb" != "dumb" else { return nil }
        self.loop = loop
    }

    func received() {
        flashEnd = MonotonicClock.now + Self.flashTime
        // Draw the line after the received bytes have been typed, and at most ten times per second.
        if !timer.isSet { arm(.zero) }
    }

    /// Redraws the line; returns true if it contains the mark for received data.
    @discardableResult
    func draw() -> Bool {
        guard let facts = source?() else { return false }
        let columns = StandardStream.error.windowSize?.columns ?? 80
        let isFlashing = MonotonicClock.now < flashEnd
        // Make the text one column narrower than the terminal, so that no terminal wraps the line.
        let text = Self.text(facts, isFlashing: isFlashing, columns: columns - 1, .current)
        // Do not wait for a terminal whose output is stopped, because that would block the keyboard.
        isDrawn = (try? StandardStream.error.writeAtOnce(Self.begin + text)) == true || isDrawn
        return isFlashing
    }

    /// Erases the line before other text is printed.
    func erase() {
        if isDrawn { _ = try? StandardStream.error.writeAtOnce(Self.begin) }
        isDrawn = false
    }

    func end() {
        timer.cancel()
        source = nil
        erase()
    }

    private func arm(_ time: Duration) {
        timer.set(on: loop, after: time) { [unowned self] in
            // Draw the line at least once more, to remove the mark.
            if draw() { arm(Self.interval) }
        }
    }

    /// Returns the line, at most `columns` wide.
    static func text(_ facts: Facts, isFlashing: Bool, columns: Int, _ language: Language) -> String {
        let state =
            facts.isPaused
            ? PageText.paused.text(language)
            : facts.state.text(language, facts.device.map(LocalName.printable) ?? PlainText.theDevice.text(language))
        let bytes = facts.bytes
        let counts: [(label: LabelText, count: UInt64)] = [
            (.received, bytes.received), (.typed, bytes.typed), (.discarded, bytes.discarded),
            (.rejected, bytes.rejected), (.gated, bytes.gated), (.lost, bytes.lost), (.waiting, bytes.waiting),
        ]
        let told = counts.filter { $0.count > 0 || $0.label == .received || $0.label == .typed }
        let text = ([state] + told.map { "\($0.label.text(language)) \($0.count)" }).joined(separator: "  ")
        let line = PageLine(text, right: isFlashing ? PageFrame.flash(language) : "", columns: columns)
        return DisplayWidth.cut(line.text, to: columns)
    }
}

extension StatusLine.Facts {
    init(_ daemon: Daemon) {
        self.init(
            state: daemon.service.device.state,
            device: daemon.service.device.choice.map { "\($0)" },
            isPaused: daemon.isPaused,
            bytes: daemon.service.counts.bytes
        )
    }
}
