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

/// The typist and its keyboard, for one thread at a time.
protocol Typing: Sendable {
    /// Types what may leave, as soon as nobody else types.
    func type() -> TypingTurn
    /// Types what may leave; nil if somebody else types, or nobody may yet.
    func typeIfFree(now: Int64) -> TypingTurn?
}

/// The typist and its keyboard behind a lock that the thread takes, and that a bringer of bytes only tries.
final class TypingHands<Device: KeyboardDevice & ~Copyable>: Typing {
    private let state: Mutex<TypingState<Device>>
    private let notBefore: Int64

    /// Hands that type nothing before a time, in nanoseconds.
    init(_ state: consuming sending TypingState<Device>, notBefore: Int64) {
        self.state = Mutex(state)
        self.notBefore = notBefore
    }

    func type() -> TypingTurn { state.withLock { $0.turn(now: MonotonicClock.nanoseconds) } }

    func typeIfFree(now: Int64) -> TypingTurn? {
        guard now >= notBefore else { return nil }
        return state.withLockIfAvailable { $0.turn(now: now) }
    }
}

/// What types: the typist, its keyboard, and whoever checks what it meant.
struct TypingState<Device: KeyboardDevice & ~Copyable>: ~Copyable {
    var typist: Typist
    let device: Device
    var meant: MeantEvents.Writer?
    /// Why nothing more is typed.
    private var failure: Errno?

    init(_ typist: consuming Typist, _ device: consuming Device, _ meant: consuming MeantEvents.Writer?) {
        self.typist = typist
        self.device = device
        self.meant = meant
    }

    /// Types until something has to be waited for.
    mutating func turn(now: Int64) -> TypingTurn {
        var now = now
        while failure == nil {
            switch typist.next(now: now) {
            case .write: now = write()
            case .wait(let time): return .wait(time)
            case .sleep: return .sleep
            }
        }
        return .failed(failure ?? .ioError)
    }

    /// Writes what the typist says; returns the time after it.
    private mutating func write() -> Int64 {
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
