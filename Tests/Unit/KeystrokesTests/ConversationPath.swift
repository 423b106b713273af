// SPDX-License-Identifier: GPL-2.0-or-later

import Keystrokes

/// Data path and clock of one conversation, created from its settings.
struct ConversationPath {
    private let path: Path
    private let light: CapsLockLight
    private let pace: Pace
    private let start: Int64
    /// Link of the received bytes.
    private var epoch: UInt32 = 1
    /// Number of events of the next write that the keyboard accepts; nil for all.
    private var accepted: Int?
    /// True once a write has failed, because the keyboard accepts nothing more.
    private var hasFailed = false
    /// True while the typist is not called.
    private var isAsleep = false

    /// Creates a data path with these settings; the defaults are those of `blewedge run`.
    init(_ settings: [TypingConversation.Setting]) throws {
        var reading = ConversationSettings()
        for setting in settings { try reading.read(setting) }
        light = CapsLockLight()
        pace = try reading.pace()
        path = try Path(
            table: try reading.table(),
            layout: try reading.layout(),
            pace: pace,
            barcodes: try reading.barcodes(),
            capacity: reading.ring,
            maximumAge: reading.maximumAge,
            light: reading.heedsCapsLock ? light : nil,
            isOpen: reading.isOpen
        )
        start = path.now
    }

    /// Plays a conversation; returns the differences from the expected events.
    mutating func play(_ steps: [TypingConversation.Step]) throws -> [String] {
        var differences: [String] = []
        var index = 0
        while index < steps.count {
            let time = steps[index].time
            // Everything that is due before this time has been typed.
            type(until: time - 1)
            path.now = start + time
            var accounts: [(number: Int, wanted: Ledger.Snapshot)] = []
            while index < steps.count, steps[index].time == time {
                if case .account(let wanted) = steps[index].event {
                    accounts.append((steps[index].number, wanted))
                } else {
                    take(steps[index].event)
                }
                index += 1
            }
            type(until: time)
            for (number, wanted) in accounts {
                let account = path.ledger.snapshot()
                if account != wanted { differences.append("line \(number): = \(wanted.words), not \(account.words)") }
            }
        }
        return try difference(to: steps) + differences + faults()
    }

    private mutating func take(_ event: TypingConversation.Event) {
        switch event {
        case .received(let bytes): path.receive(bytes, epoch: epoch)
        case .gateOpens(true): path.gate.open(now: path.now)
        case .gateOpens(false): path.gate.close()
        case .capsLock(let isOn): light.set(isOn)
        case .linkEnds: endLink()
        case .dropped(let cause):
            path.gate.drop(through: epoch, cause)
            endLink()
        case .deviceTakes(let events): accepted = events
        case .sleeps(let sleeps): isAsleep = sleeps
        case .written, .account: break
        }
    }

    private mutating func endLink() {
        path.gate.endLink(through: epoch)
        epoch += 1
    }

    /// Types all due events, and advances the time as the typist requests, up to `time`.
    private mutating func type(until time: Int64) {
        while !hasFailed, !isAsleep {
            switch path.next() {
            case .write:
                let events = path.outputEvents()
                if let accepted {
                    path.recorded.append((path.now, Array(events.prefix(accepted))))
                    path.fail(accepted: accepted)
                    hasFailed = true
                } else {
                    path.recorded.append((path.now, events))
                    path.commit()
                }
            case .wait(let next):
                guard next <= start + time, next > path.now else { return }
                path.now = next
            case .sleep: return
            }
        }
    }

    /// Returns the first write whose events or time differ from the file.
    private func difference(to steps: [TypingConversation.Step]) throws -> [String] {
        let wanted = steps.compactMap { step in
            if case .written(let events) = step.event { (step.number, step.time, events) } else { nil }
        }
        let came = path.recorded.map { (time: $0.time - start, events: $0.events) }
        for (index, (number, time, events)) in wanted.enumerated() {
            guard index < came.count else { return ["line \(number): nothing came"] }
            if came[index].time != time || came[index].events != events {
                return [
                    "line \(number): \(Self.line(time, events)), not \(Self.line(came[index].time, came[index].events))"
                ]
            }
        }
        return came.dropFirst(wanted.count).prefix(1).map { "at the end: \(Self.line($0.time, $0.events))" }
    }

    private static func line(_ time: Int64, _ events: [InputEvent]) -> String {
        let decimals = String(1_000_000 + time % 1_000_000).dropFirst()
        return "\(time / 1_000_000).\(decimals) > \(KeyNotation.text(events))"
    }

    /// Returns violations of general rules: a key that remains pressed, a frame that is too long, or too many events in
    /// a window.
    private func faults() -> [String] {
        guard !hasFailed else { return [] }
        var faults: [String] = []
        var down: Set<UInt16> = []
        var frame = 0
        for event in path.recorded.flatMap(\.events) {
            frame += 1
            if frame > 6 { faults.append("a frame of more than six events") }
            if event == .report {
                if frame == 1 { faults.append("an empty frame") }
                frame = 0
            } else if event.value == 1 ? !down.insert(event.code).inserted : down.remove(event.code) == nil {
                faults.append("key \(KeyCode(rawValue: event.code)) is as it was")
            }
        }
        if !down.isEmpty || frame > 0 { faults.append("keys are down at the end, or a frame has no report") }
        for (index, first) in path.recorded.enumerated() where pace.stall > 0 {
            let window = path.recorded[index...].prefix { $0.time - first.time <= pace.stall }
            if window.reduce(0, { $0 + $1.events.count }) > pace.queue.window {
                faults.append("more than \(pace.queue.window) events from \(first.time - start) ns on")
                break
            }
        }
        return faults
    }
}
