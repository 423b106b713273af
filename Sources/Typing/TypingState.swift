// SPDX-License-Identifier: GPL-2.0-or-later

import Keystrokes
import LinuxIO
import SystemPackage

enum TypingTurn: Equatable {
    /// No bytes are waiting.
    case sleep
    /// Earliest time of the next event, in nanoseconds of the monotonic clock.
    case wait(Int64)
    /// The shared keyboard has failed, and another lane replaces it.
    case absent
    /// The keyboard rejects events.
    case failed(Errno)
}

/// Typists, their keyboard, and the queue to the self-check.
struct TypingState: ~Copyable {
    var typist: Typist
    private var device: any KeyboardDevice
    /// Lines typed for an output, and the waker of the thread that takes them; nil if the output is a keyboard.
    private let lines: LineBuffer?
    private let arrival: Waker?
    /// Number of received bytes already reported to the lines.
    private var told: UInt64 = 0
    /// True if the last turn ended because lines must be taken from the buffer before more are typed.
    private var isHeldUp = false
    var meant: ExpectedEvents.Writer?
    private var keypad: Typist?
    /// True if there is a keypad; checking this avoids moving an absent `keypad` of several kilobytes at each turn.
    private let hasKeypad: Bool
    /// Minimum time between a write of one typist and a write of the other, in nanoseconds.
    ///
    /// Each typist obeys its own pace. This separation makes the two obey the pace together (D-13).
    private let separation: Int64
    private var lastWrite = (isOfKeypad: false, time: Int64.min / 2)
    private var isKeypadBusy = false
    /// Access to a keyboard that several typing threads share; nil for a keyboard of its own.
    private let lane: KeyboardLane?
    /// True if the last turn ended because another lane types.
    private var isWaitingForLane = false
    /// Error after which nothing is typed until the keyboard is replaced.
    private var failure: Errno?

    init(
        _ typist: consuming Typist,
        _ device: any KeyboardDevice,
        _ meant: consuming ExpectedEvents.Writer?,
        keypad: consuming Typist?,
        separation: Int64,
        screen: TextKeyboard?,
        lane: KeyboardLane? = nil
    ) {
        lines = screen?.lines
        arrival = screen?.screen.arrival

        self.typist = typist
        self.device = device
        self.meant = meant
        hasKeypad = keypad != nil
        self.keypad = keypad
        self.separation = separation
        self.lane = lane
    }

    /// Resumes with a replacement keyboard after a failure.
    mutating func resume(on device: any KeyboardDevice) {
        self.device = device
        failure = nil
    }

    /// Types until the next event is not due yet, or until no bytes are waiting.
    mutating func turn(now: Int64) -> TypingTurn {
        guard lines == nil else { return lineTurn(now: now) }
        return step(now: now)
    }

    /// Performs `step` for an output that receives whole lines.
    private mutating func lineTurn(now: Int64) -> TypingTurn {
        // Bytes that wait for a slow output do not expire (D-1a).
        if isHeldUp { typist.attend(now: now) }
        isHeldUp = false
        let turn = step(now: now)
        let late = newlyTyped()
        if late > 0 {
            lines?.add(late: late)
            arrival?.wake()
        }
        return turn
    }

    /// Returns the number of received bytes typed since the last call.
    private mutating func newlyTyped() -> Int {
        let count = typist.handedOver
        defer { told = count }
        return Int(truncatingIfNeeded: count &- told)
    }

    private mutating func step(now: Int64) -> TypingTurn {
        var now = now
        if let lane, failure == nil, let obstacle = prepare(lane, now) { return obstacle }
        while failure == nil {
            if let lines, !lines.isReady {
                isHeldUp = true
                return .sleep
            }
            // First finish the keys requested by a client, if they are half typed; new ones wait until all received
            // bytes are typed.
            if isKeypadBusy { typist.attend(now: now) }
            let step = isKeypadBusy ? Typist.Step.sleep : typist.next(now: now)
            switch step {
            case .write:
                if let time = separated(isOfKeypad: false, now) { return .wait(time) }
                if let lane, let turn = claim(lane, now) {
                    typist.withdraw()
                    return turn
                }
                // Skip this call if there are no lines, because each call to a typist in another module copies several
                // kilobytes.
                let before = lines == nil ? 0 : newlyTyped()
                let endsBarcode = lines == nil && lane == nil ? false : typist.endsBarcode
                let endsWhole = lines == nil ? false : typist.endsWhole
                let keystrokes = lane == nil ? 0 : typist.outputKeystrokes
                now = Self.write(&typist, device, &meant, &failure)
                lastWrite = (false, now)
                if let lane, failure == nil {
                    lane.wrote(
                        now: now,
                        keystrokes: keystrokes,
                        endsBarcode: endsBarcode,
                        isBetweenKeystrokes: typist.isBetweenKeystrokes
                    )
                }
                if lines != nil {
                    settle(
                        LineBuffer.Write(
                            before: before,
                            cost: newlyTyped(),
                            followsMissingBytes: typist.takeMissingMark(),
                            endsBarcode: endsBarcode,
                            endsWhole: endsWhole
                        )
                    )
                }
            case .wait(let time): return .wait(time)
            case .sleep:
                if let turn = keypadTurn(&now) {
                    if let lane, turn == .sleep { lane.rest() }
                    return turn
                }
            }
        }
        return .failed(failure ?? .ioError)
    }

    /// Performs one step of the keypad's typist; returns nil if more steps may follow.
    private mutating func keypadTurn(_ now: inout Int64) -> TypingTurn? {
        guard hasKeypad, var keypad = keypad.take() else { return .sleep }
        let wasBusy = isKeypadBusy
        let step = keypad.next(now: now)
        isKeypadBusy = step != .sleep
        var turn: TypingTurn?
        switch step {
        case .write:
            if let time = separated(isOfKeypad: true, now) {
                turn = .wait(time)
            } else if let lane, let refusal = claim(lane, now) {
                keypad.withdraw()
                turn = refusal
            } else {
                let keystrokes = lane == nil ? 0 : keypad.outputKeystrokes
                now = Self.write(&keypad, device, &meant, &failure)
                lastWrite = (true, now)
                if let lane, failure == nil {
                    // A snippet may contain an Enter, so only a gap ends the turn.
                    lane.wrote(
                        now: now,
                        keystrokes: keystrokes,
                        endsBarcode: false,
                        isBetweenKeystrokes: keypad.isBetweenKeystrokes
                    )
                }
                // The keys requested by clients do not correspond to received bytes.
                settle(
                    LineBuffer.Write(
                        before: 0,
                        cost: 0,
                        followsMissingBytes: false,
                        endsBarcode: false,
                        endsWhole: false
                    )
                )
            }
        case .wait(let time): turn = .wait(time)
        case .sleep: turn = wasBusy ? nil : .sleep
        }
        self.keypad = consume keypad
        return turn
    }

    /// Returns the reason why the shared keyboard cannot be used; nil if it is ready.
    ///
    /// While there is no keyboard, no typist is called, so that waiting bytes expire (D-1). While another lane types,
    /// they do not expire (D-1a).
    private mutating func prepare(_ lane: KeyboardLane, _ now: Int64) -> TypingTurn? {
        defer { isWaitingForLane = false }
        if let obstacle = lane.obstacle(now: now) { return obstacle }
        if isWaitingForLane { typist.attend(now: now) }
        return nil
    }

    /// Requests permission for one write; returns nil if it is given.
    private mutating func claim(_ lane: KeyboardLane, _ now: Int64) -> TypingTurn? {
        guard let refusal = lane.claim(now: now) else { return nil }
        if case .wait = refusal { isWaitingForLane = true }
        return refusal
    }

    private func settle(_ write: LineBuffer.Write) {
        guard let lines else { return }
        lines.settle(write)
        arrival?.wake()
    }

    /// Returns the earliest time at which one typist may write after the other; nil if it may write now.
    private func separated(isOfKeypad: Bool, _ now: Int64) -> Int64? {
        let time = lastWrite.time &+ separation
        return lastWrite.isOfKeypad != isOfKeypad && now < time ? time : nil
    }

    /// Writes a typist's output; returns the time after the write.
    private static func write(
        _ typist: inout Typist,
        _ device: any KeyboardDevice,
        _ meant: inout ExpectedEvents.Writer?,
        _ failure: inout Errno?
    ) -> Int64 {
        let events = typist.outputEvents
        // Queue the events before the write, so that the queue already contains every event that the self-check reads.
        meant?.add(typist.output)
        var written = 0
        do throws(Errno) {
            if case .done(let bytes) = try device.write(typist.output) { written = bytes / UInputDevice.eventSize }
        } catch {
            failure = error
        }
        let now = MonotonicClock.nanoseconds
        if written == events, failure == nil {
            typist.commit(now: now)
        } else {
            // A keyboard that accepts only a part of a write has failed.
            typist.fail(acceptedEvents: written, now: now)
            failure = failure ?? .ioError
        }
        return now
    }
}
