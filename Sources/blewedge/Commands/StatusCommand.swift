// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import BluetoothLE
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
        abstract: "Say what the daemon does: its state, the chosen device, what became of every byte.",
        discussion: """
            With --watch on a terminal it is drawn anew every second; into a pipe, or with --json, it is printed again each \
            time that it has changed. What was received is told by time and length, never by its contents. Without a \
            daemon the status is 69.

            EXAMPLES:
              blewedge status
              blewedge status --watch
              blewedge status --json | jq .state
            """
    )

    @Flag(help: "Go on, until Ctrl-C.")
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
                let lines = StatusText.lines(answer.value).map { DisplayWidth.cut($0, to: size?.columns ?? 80) }
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

/// The last line of a keyboard's terminal: state, counts, and a mark of received data (LK-13, LK-25).
///
/// Nothing is drawn while nothing happens.
final class StatusLine {
    struct Facts {
        var state: Session.State
        /// The device as the user has named it; nil for none.
        var device: String?
        var isPaused: Bool
        var bytes: Ledger.Snapshot
    }

    /// How long received data is shown (LK-25), and how often the line is drawn meanwhile.
    static let flashTime = Duration.milliseconds(400)
    private static let interval = Duration.milliseconds(100)
    /// To the line's beginning, and everything from there on is erased (ECMA-48 EL).
    private static let begin = "\r\u{1B}[K"

    /// Asked for what the line is to tell.
    var source: (() -> Facts)?

    private let loop: EventLoop
    private let timer = LoopTimer()
    private var flashEnd = Duration.zero
    private var isDrawn = false

    /// A line on standard error; nil where that is no terminal which has lines.
    init?(on loop: EventLoop) {
        guard StandardStream.error.isTerminal, ProcessFacts.environment("TERM") ?? "dumb" != "dumb" else { return nil }
        self.loop = loop
    }

    func received() {
        flashEnd = MonotonicClock.now + Self.flashTime
        // Behind what has just been typed, and at most ten times a second.
        if !timer.isSet { arm(.zero) }
    }

    /// Draws the line anew; answers whether the mark stands in it.
    @discardableResult
    func draw() -> Bool {
        guard let facts = source?() else { return false }
        let columns = StandardStream.error.windowSize?.columns ?? 80
        let isFlashing = MonotonicClock.now < flashEnd
        // A column less, so that no terminal goes on to the next line.
        let text = Self.text(facts, isFlashing: isFlashing, columns: columns - 1, .current)
        // A terminal that has been stopped must not hold up a keyboard.
        isDrawn = (try? StandardStream.error.writeAtOnce(Self.begin + text)) == true || isDrawn
        return isFlashing
    }

    /// Gives the line to other text.
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
            // Once more at least: the mark is taken away.
            if draw() { arm(Self.interval) }
        }
    }

    /// The line, in at most so many columns.
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
