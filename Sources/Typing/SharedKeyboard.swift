// SPDX-License-Identifier: GPL-2.0-or-later

import Keystrokes
package import LinuxIO
import Synchronization
package import SystemPackage

/// One keyboard for several typists, each a lane with its own `VirtualKeyboard` (D-42).
///
/// The lanes type in turns, so that no barcode is mixed with another one. After a failed write, one lane replaces the
/// keyboard; the others wait, lose nothing, and then type on the replacement. All lanes must use the same event loop,
/// because they read the lights of the same device.
package final class SharedKeyboard: Sendable {
    private struct Lane {
        /// Waker of the typing thread; nil until the thread is started.
        var waker: Waker?
        /// True after `stop`; the lane no longer replaces a failed keyboard.
        var isRetired = false
    }

    private struct State {
        var output: KeyboardOutput
        /// Number of replacements.
        var generation: UInt64 = 0
        /// Error of the write that failed; nil while the keyboard works.
        var failure: Errno?
        /// Lane that replaces the failed keyboard; nil if the next lane that asks does.
        var renewer: Int?
        /// Time before which nothing is typed, in nanoseconds.
        var notBefore: Int64
        var turns = KeyboardTurns()
        var lanes: [Int: Lane] = [:]

        var wakers: [Waker] { lanes.values.compactMap(\.waker) }

        /// Returns the reason why no lane may write; nil if the keyboard is ready.
        mutating func obstacle(_ lane: Int, _ now: Int64) -> TypingTurn? {
            guard let failure else { return now < notBefore ? .wait(notBefore) : nil }
            if renewer == nil, lanes[lane]?.isRetired == false { renewer = lane }
            return renewer == lane ? .failed(failure) : .absent
        }
    }

    /// CapsLock state for all lanes.
    ///
    /// The device has a single queue of light events, so each event is read by only one lane.
    let capsLock = CapsLockLight()
    /// Length of the text in the focused field, typed by all lanes; nil if clients may not delete it.
    let field: TypedField?
    private let makeOutput: @Sendable () throws(KeyboardError) -> KeyboardOutput
    private let state: Mutex<State>

    /// Creates the keyboard, which declares the keys of all settings and has the name of the first.
    ///
    /// With a `screen`, no kernel keyboard is created, and the typed text is shown on the screen. `makeDevice` creates
    /// a device in place of the kernel's keyboard; it is called for the first keyboard and for each replacement.
    package init(
        _ settings: [TypingSettings],
        screen: TextKeyboard? = nil,
        makeDevice: (@Sendable () throws(KeyboardError) -> any KeyboardDevice)? = nil
    ) throws(KeyboardError) {
        let field = settings.lazy.compactMap(\.keypad).first.map { TypedField($0.effects) }
        self.field = field
        makeOutput = { () throws(KeyboardError) in
            if let makeDevice { return KeyboardOutput(try makeDevice(), field: field) }
            return try KeyboardOutput(settings, screen: screen, field: field)
        }
        let time = MonotonicClock.nanoseconds + TypingThread.settlingTime
        state = Mutex(State(output: try makeOutput(), notBefore: time))
    }

    /// Adds a lane, which types at this pace.
    func addLane(_ pace: Pace) -> KeyboardLane {
        let number = state.withLock { state in
            let number = (0...state.lanes.count).first { state.lanes[$0] == nil } ?? state.lanes.count
            state.lanes[number] = Lane()
            state.turns.extend(
                separation: pace.stall,
                longestTurn: pace.longestTime(ofKeystrokes: KeyboardLane.ordinaryBarcode)
            )
            return number
        }
        return KeyboardLane(self, number)
    }

    fileprivate func connect(_ lane: Int, _ waker: Waker) {
        state.withLock { $0.lanes[lane]?.waker = waker }
    }

    fileprivate func obstacle(_ lane: Int, _ now: Int64) -> TypingTurn? {
        state.withLock { $0.obstacle(lane, now) }
    }

    fileprivate func claim(_ lane: Int, _ now: Int64) -> TypingTurn? {
        let (turn, waker) = state.withLock { state -> (TypingTurn?, Waker?) in
            if let obstacle = state.obstacle(lane, now) { return (obstacle, nil) }
            guard let time = state.turns.claim(lane: lane, now: now) else { return (nil, nil) }
            // The request may have ended a turn.
            guard let next = state.turns.next, next != lane else { return (.wait(time), nil) }
            return (.wait(time), state.lanes[next]?.waker)
        }
        waker?.wake()
        return turn
    }

    fileprivate func write(_ lane: Int, _ events: borrowing RawSpan) throws(Errno) -> NonBlocking<Int> {
        let output = state.withLock { $0.output }
        do throws(Errno) {
            let result = try output.write(events)
            if result != .done(events.byteCount) { fail(lane, .ioError) }
            return result
        } catch {
            fail(lane, error)
            throw error
        }
    }

    fileprivate func wrote(_ lane: Int, now: Int64, keystrokes: Int, endsBarcode: Bool, isBetweenKeystrokes: Bool) {
        let wakers = state.withLock { state in
            state.turns.wrote(
                lane: lane,
                now: now,
                keystrokes: keystrokes,
                endsBarcode: endsBarcode,
                isBetweenKeystrokes: isBetweenKeystrokes
            ).compactMap { state.lanes[$0]?.waker }
        }
        for waker in wakers { waker.wake() }
    }

    fileprivate func rest(_ lane: Int) {
        state.withLock { $0.turns.rest(lane: lane) }
    }

    /// Marks the keyboard as failed; the lane whose write failed replaces it, unless the lane is being stopped.
    private func fail(_ lane: Int, _ error: Errno) {
        let wakers = state.withLock { state -> [Waker] in
            state.failure = error
            state.renewer = state.lanes[lane]?.isRetired == false ? lane : nil
            return state.renewer == nil ? state.wakers : []
        }
        for waker in wakers { waker.wake() }
    }

    /// Replaces a failed keyboard, unless that is the task of another lane.
    fileprivate func renew(_ lane: Int) throws(KeyboardError) {
        let isNeeded = state.withLock { $0.failure != nil && ($0.renewer == nil || $0.renewer == lane) }
        guard isNeeded else { return }
        let output = try makeOutput()
        capsLock.set(false)
        let (old, wakers) = state.withLock { state in
            let old = state.output
            state.output = output
            state.generation &+= 1
            state.failure = nil
            state.renewer = nil
            state.notBefore = MonotonicClock.nanoseconds + TypingThread.settlingTime
            state.turns.restart(at: state.notBefore)
            return (old, state.wakers)
        }
        // Keep the old device until the lock is released, because its removal takes time.
        withExtendedLifetime(old) {}
        for waker in wakers { waker.wake() }
    }

    /// Leaves the replacement of a failed keyboard to the other lanes, because this one is being stopped.
    fileprivate func retire(_ lane: Int) {
        let wakers = state.withLock { state -> [Waker] in
            state.lanes[lane]?.isRetired = true
            guard state.failure != nil else { return [] }
            state.turns.leave(lane: lane, now: MonotonicClock.nanoseconds)
            guard state.renewer == lane else { return [] }
            state.renewer = nil
            return state.wakers
        }
        for waker in wakers { waker.wake() }
    }

    fileprivate func remove(_ lane: Int) {
        retire(lane)
        let waker = state.withLock { state -> Waker? in
            state.lanes[lane] = nil
            state.turns.remove(lane: lane, now: MonotonicClock.nanoseconds)
            return state.turns.next.flatMap { state.lanes[$0]?.waker }
        }
        waker?.wake()
    }

    fileprivate func cuts(_ lane: Int) -> UInt64 { state.withLock { $0.turns.cuts[lane] ?? 0 } }

    fileprivate var generation: UInt64 { state.withLock { $0.generation } }

    fileprivate var isFailed: Bool { state.withLock { $0.failure != nil } }

    /// Current keyboard; nil after a failure, until the keyboard has been replaced.
    fileprivate var output: KeyboardOutput? { state.withLock { $0.failure == nil ? $0.output : nil } }
}

/// Access of one typist to a shared keyboard; the number is free again when the value is released.
package final class KeyboardLane: KeyboardDevice {
    /// Number of keystrokes of a barcode that is not cut at any pace.
    static let ordinaryBarcode = 48

    private let keyboard: SharedKeyboard
    let number: Int

    fileprivate init(_ keyboard: SharedKeyboard, _ number: Int) {
        self.keyboard = keyboard
        self.number = number
    }

    deinit { keyboard.remove(number) }

    /// Sets the waker of the lane's typing thread.
    func connect(_ waker: Waker) { keyboard.connect(number, waker) }

    /// Returns the reason why no lane may write at `now`; nil if the keyboard is ready.
    ///
    /// If the keyboard has failed and no other lane replaces it, this lane must: the result is `failed`.
    func obstacle(now: Int64) -> TypingTurn? { keyboard.obstacle(number, now) }

    /// Requests permission for one write; returns nil if the lane may write now.
    func claim(now: Int64) -> TypingTurn? { keyboard.claim(number, now) }

    /// Writes events, after `claim`; an error or a partial write makes the keyboard fail for all lanes.
    package func write(_ events: borrowing RawSpan) throws(Errno) -> NonBlocking<Int> {
        try keyboard.write(number, events)
    }

    /// Reports a complete write that ended at `now`.
    func wrote(now: Int64, keystrokes: Int, endsBarcode: Bool, isBetweenKeystrokes: Bool) {
        keyboard.wrote(
            number,
            now: now,
            keystrokes: keystrokes,
            endsBarcode: endsBarcode,
            isBetweenKeystrokes: isBetweenKeystrokes
        )
    }

    /// Reports that the lane has nothing to write for now.
    func rest() { keyboard.rest(number) }

    func renew() throws(KeyboardError) { try keyboard.renew(number) }

    /// Stops replacing failed keyboards; the lane may still type.
    func retire() { keyboard.retire(number) }

    var cuts: UInt64 { keyboard.cuts(number) }

    /// Number of replacements of the shared keyboard.
    var generation: UInt64 { keyboard.generation }

    var isFailed: Bool { keyboard.isFailed }

    var eventNode: String? { keyboard.output?.eventNode }

    func lights() throws(Errno) -> KeyboardLights? { try keyboard.output?.lights() }
}
