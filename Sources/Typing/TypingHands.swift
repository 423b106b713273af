// SPDX-License-Identifier: GPL-2.0-or-later

import Keystrokes
import LinuxIO
import Synchronization
import SystemPackage

/// What one turn of typing came to.
enum TypingTurn: Equatable {
    /// Nothing waits.
    case sleep
    /// What waits may leave at this time.
    case wait(Int64)
    /// The keyboard takes nothing more.
    case failed(Errno)
}

/// The typist and its keyboard behind a lock that the thread takes, and that a bringer of bytes only tries.
final class TypingHands: Sendable {
    private let state: Mutex<TypingState>
    private let notBefore: Int64

    /// Hands that type nothing before a time, in nanoseconds.
    init(_ state: consuming sending TypingState, notBefore: Int64) {
        self.state = Mutex(state)
        self.notBefore = notBefore
    }

    /// Types what may leave, as soon as nobody else types.
    func type() -> TypingTurn { state.withLock { $0.turn(now: MonotonicClock.nanoseconds) } }

    /// Types what may leave; nil if somebody else types, or nobody may yet.
    func typeIfFree(now: Int64) -> TypingTurn? {
        guard now >= notBefore else { return nil }
        return state.withLockIfAvailable { $0.turn(now: now) }
    }
}

/// What types: the typist, its keyboard, and whoever checks what it meant.
struct TypingState: ~Copyable {
    var typist: Typist
    let device: any KeyboardDevice
    var meant: MeantEvents.Writer?
    /// What types the keys that clients ask for; nil where they may not.
    private var keypad: Typist?
    /// Whether they may: to take an absent keypad would move some kilobytes about at each turn.
    private let hasKeypad: Bool
    /// Each of both keeps to its pace; so long after the one the other may write, so that both together do (D-13).
    private let separation: Int64
    private var lastWrite = (isOfKeypad: false, time: Int64.min / 2)
    private var isKeypadBusy = false
    /// Why nothing more is typed.
    private var failure: Errno?

    init(
        _ typist: consuming Typist,
        _ device: any KeyboardDevice,
        _ meant: consuming MeantEvents.Writer?,
        keypad: consuming Typist?,
        separation: Int64
    ) {
        self.typist = typist
        self.device = device
        self.meant = meant
        hasKeypad = keypad != nil
        self.keypad = keypad
        self.separation = separation
    }

    /// Types until something has to be waited for.
    mutating func turn(now: Int64) -> TypingTurn {
        var now = now
        while failure == nil {
            // Keys of a client that have begun to leave are ended first; none begin while what was received waits.
            let step = isKeypadBusy ? Typist.Step.sleep : typist.next(now: now)
            switch step {
            case .write:
                if let time = separated(isOfKeypad: false, now) { return .wait(time) }
                now = Self.write(&typist, device, &meant, &failure)
                lastWrite = (false, now)
            case .wait(let time): return .wait(time)
            case .sleep: if let turn = keypadTurn(&now) { return turn }
            }
        }
        return .failed(failure ?? .ioError)
    }

    /// One step of the keypad; nil to go on.
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
            } else {
                now = Self.write(&keypad, device, &meant, &failure)
                lastWrite = (true, now)
            }
        case .wait(let time): turn = .wait(time)
        case .sleep: turn = wasBusy ? nil : .sleep
        }
        self.keypad = consume keypad
        return turn
    }

    /// When the one may write after the other; nil for at once.
    private func separated(isOfKeypad: Bool, _ now: Int64) -> Int64? {
        let time = lastWrite.time &+ separation
        return lastWrite.isOfKeypad != isOfKeypad && now < time ? time : nil
    }

    /// Writes what a typist says; returns the time after it.
    private static func write(
        _ typist: inout Typist,
        _ device: any KeyboardDevice,
        _ meant: inout MeantEvents.Writer?,
        _ failure: inout Errno?
    ) -> Int64 {
        let events = typist.outputEvents
        // Before the write, so that whoever reads an event finds it among those meant.
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
            // A keyboard that takes less than a whole write is one that takes nothing more.
            typist.fail(acceptedEvents: written, now: now)
            failure = failure ?? .ioError
        }
        return now
    }
}
