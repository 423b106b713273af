// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
import Glibc
package import SystemPackage

/// An event loop of one thread over descriptors, timers and signals: epoll with a timerfd and, if requested, a
/// signalfd.
///
/// The loop sleeps in `epoll_wait` without a time-out, so an idle program makes no system calls. On a kernel without
/// timerfd, the time-out is set for the earliest timer; on a kernel without signalfd, a signal handler writes to a
/// pipe. The loop calls all handlers on the thread that is in `run()`. The loop, and every object that it is passed to,
/// must be used on that thread only; other threads use a `Waker`.
package final class EventLoop {
    /// The events to wait for on a descriptor; errors and hang-ups are always reported.
    package struct Readiness: OptionSet, Sendable {
        package let rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }
        /// Bytes can be read, or a connection accepted (EPOLLIN).
        package static let readable = Readiness(rawValue: blewedge_EPOLLIN)
        /// Bytes can be written, or a connection has been made (EPOLLOUT).
        package static let writable = Readiness(rawValue: blewedge_EPOLLOUT)
        package static let error = Readiness(rawValue: blewedge_EPOLLERR)
        /// The peer has closed its end (EPOLLHUP).
        package static let hangUp = Readiness(rawValue: blewedge_EPOLLHUP)

        /// True if there is something to read: bytes, a connection, or the end of the stream.
        ///
        /// `OptionSet` operations are not used, because in another module they go through witness tables, which costs
        /// about a thousand instructions for each packet.
        package var hasInput: Bool { rawValue & (blewedge_EPOLLIN | blewedge_EPOLLERR | blewedge_EPOLLHUP) != 0 }
    }

    /// Identifier of a watched descriptor.
    ///
    /// The low half is the watch's index in `watches`. The high half changes with each watch at the same index, so that
    /// an event for a closed descriptor finds no handler.
    package struct Registration: Hashable, Sendable { fileprivate let identifier: UInt64 }

    /// Identifier of a timer that has not fired yet.
    package struct Timer: Hashable, Sendable { fileprivate let identifier: UInt64 }

    private final class Watch {
        let identifier: UInt64
        let handler: (Readiness) -> Void

        init(_ identifier: UInt64, _ handler: @escaping (Readiness) -> Void) {
            self.identifier = identifier
            self.handler = handler
        }
    }

    private struct PendingTimer {
        var deadline: Duration
        var identifier: UInt64
        var handler: () -> Void
    }

    private let epoll: Descriptor
    /// The timerfd; nil if the kernel has none.
    private var timer: Descriptor?
    /// The signalfd, or the read end of a pipe.
    private var signals: Descriptor?
    /// Write end of the pipe for signals; nil if a signalfd is used.
    private var signalInput: Descriptor?
    /// Watches by index, so that an event finds its handler without a search.
    private var watches: [Watch?] = []
    private var watchNumber: UInt32 = 0
    /// Timers, sorted, the earliest last; there are few at any time, so an array is enough.
    private var timers: [PendingTimer] = []
    private var armedDeadline: Duration?
    private var nextTimer: UInt64 = 1
    private var isRunning = false
    /// True if the kernel's time is replaced; a timerfd cannot be used then, because it follows only the kernel's time.
    private let isVirtual = SystemTime.isReplaced
    /// True if the loop must check for due timers after each sleep.
    ///
    /// This is necessary if there is no timerfd, or if the kernel's time is replaced.
    private var looksForTimers = true

    /// Longest sleep without a timerfd; it is limited because `epoll_wait` ignores the time while the machine is
    /// suspended.
    private static let longestSleep = Duration.seconds(60)

    /// Creates a loop that watches nothing yet; throws `noFunction` on a kernel without CONFIG_EPOLL.
    package init() throws(Errno) {
        let site = CallSite(.loop, .epollCreate)
        epoll = Descriptor(owning: try SystemCall.run(site) { epoll_create1(Int32(EPOLL_CLOEXEC)) }, .loop)
        let number: Int32
        do throws(Errno) {
            let flags = Int32(TFD_CLOEXEC | TFD_NONBLOCK)
            number = try SystemCall.run(CallSite(.loop, .timerfdCreate)) { timerfd_create(CLOCK_BOOTTIME, flags) }
        } catch {
            guard error == .noFunction else { throw error }
            return
        }
        let made = Descriptor(owning: number, .loop)
        _ = try watch(made, for: .readable) { [unowned self] _ in fireTimers() }
        timer = consume made
        looksForTimers = isVirtual
    }

    /// Calls `handler` each time the descriptor is ready for `interest` (C: `epoll_ctl`).
    package func watch(
        _ descriptor: borrowing Descriptor,
        for interest: Readiness,
        handler: @escaping (Readiness) -> Void
    ) throws(Errno) -> Registration {
        let place = watches.firstIndex { $0 == nil } ?? watches.endIndex
        watchNumber &+= 1
        let identifier = UInt64(watchNumber) << 32 | UInt64(place)
        try control(EPOLL_CTL_ADD, descriptor, interest, identifier)
        if place == watches.endIndex { watches.append(nil) }
        watches[place] = Watch(identifier, handler)
        return Registration(identifier: identifier)
    }

    /// Changes the events to wait for on a watched descriptor.
    package func change(
        _ registration: Registration,
        _ descriptor: borrowing Descriptor,
        to interest: Readiness
    ) throws(Errno) {
        try control(EPOLL_CTL_MOD, descriptor, interest, registration.identifier)
    }

    /// Ends a watch; must be called before the descriptor is closed.
    package func unwatch(_ registration: Registration, _ descriptor: borrowing Descriptor) {
        guard watch(registration.identifier) != nil else { return }
        watches[Self.place(registration.identifier)] = nil
        // Removal fails only if epoll does not have the descriptor, and in that case there is nothing to remove.
        try? control(EPOLL_CTL_DEL, descriptor, [], registration.identifier)
    }

    /// Calls `handler` once, at `deadline` or as soon after it as possible.
    package func schedule(at deadline: Duration, handler: @escaping () -> Void) -> Timer {
        let identifier = nextTimer
        nextTimer &+= 1
        let index = timers.firstIndex { $0.deadline <= deadline } ?? timers.endIndex
        timers.insert(PendingTimer(deadline: deadline, identifier: identifier, handler: handler), at: index)
        armTimer()
        return Timer(identifier: identifier)
    }

    /// Cancels a timer; does nothing if it has fired.
    package func cancel(_ timer: Timer) {
        timers.removeAll { $0.identifier == timer.identifier }
        armTimer()
    }

    /// Blocks the signals for this thread and for threads that it starts later; `handler` is called with their numbers.
    ///
    /// Call it only once. The corresponding C functions are `pthread_sigmask` and `signalfd`. On a kernel without
    /// CONFIG_SIGNALFD, the signals are not blocked; instead, `sigaction` installs a handler that writes each signal to
    /// a pipe, which belongs to the last loop that called this method.
    package func handleSignals(_ numbers: [Int32], handler: @escaping (Int32) -> Void) throws(Errno) {
        precondition(signals == nil, "signals are handled already")
        // All bits are zero, so the set is empty.
        var mask = sigset_t()
        // Sound, here and below: the set is a local variable that outlives each call.
        for number in numbers { unsafe sigaddset(&mask, number) }
        _ = unsafe pthread_sigmask(SIG_BLOCK, &mask, nil)
        let descriptor: Descriptor
        do throws(Errno) {
            let flags = Int32(SFD_CLOEXEC | SFD_NONBLOCK)
            let made = try SystemCall.run(CallSite(.loop, .signalfd)) { unsafe signalfd(-1, &mask, flags) }
            descriptor = Descriptor(owning: made, .loop)
        } catch {
            guard error == .noFunction else { throw error }
            let ends = try Descriptor.pipe()
            descriptor = Descriptor(owning: ends.output, .loop)
            signalInput = Descriptor(owning: ends.input, .loop)
            for number in numbers { _ = try SystemCall.run { blewedge_pass_signal(number, ends.input) } }
            _ = unsafe pthread_sigmask(SIG_UNBLOCK, &mask, nil)
        }
        _ = try watch(descriptor, for: .readable) { [unowned self] _ in
            while let number = readSignal() { handler(number) }
        }
        signals = consume descriptor
    }

    /// Runs until `stop()` is called.
    package func run() throws(Errno) {
        isRunning = true
        let capacity = 32
        // `epoll_event` contains a union, which makes the type unsafe; only its integer member is stored and read.
        var faults = RepeatedFaults()
        var events = unsafe [epoll_event](repeating: epoll_event(), count: capacity)
        while isRunning {
            if isVirtual { sleepVirtually() }
            let count: Int32
            do throws(Errno) {
                // Sound: the kernel writes at most `capacity` events into the array, which has that size.
                count = try SystemCall.run(CallSite(.loop, .epollWait)) {
                    unsafe epoll_wait(epoll.number, &events, Int32(capacity), timeout)
                }
                faults.clear()
            } catch {
                guard faults.allow() else { throw error }
                continue
            }
            for index in 0..<Int(count) where isRunning {
                let (identifier, readiness) = unsafe (events[index].data.u64, events[index].events)
                watch(identifier)?.handler(Readiness(rawValue: readiness))
            }
            if looksForTimers, isRunning { fireDueTimers() }
        }
    }

    /// Makes `run()` return after the current handler.
    package func stop() {
        isRunning = false
    }

    private static func place(_ identifier: UInt64) -> Int { Int(UInt32(truncatingIfNeeded: identifier)) }

    private func watch(_ identifier: UInt64) -> Watch? {
        let place = Self.place(identifier)
        guard place < watches.count, let watch = watches[place], watch.identifier == identifier else { return nil }
        return watch
    }

    private func control(
        _ operation: Int32,
        _ descriptor: borrowing Descriptor,
        _ interest: Readiness,
        _ identifier: UInt64
    ) throws(Errno) {
        var event = unsafe epoll_event()
        unsafe event.events = interest.rawValue
        unsafe event.data.u64 = identifier
        let number = descriptor.number
        let site =
            operation == EPOLL_CTL_DEL ? nil : CallSite(.loop, operation == EPOLL_CTL_ADD ? .epollAdd : .epollModify)
        // Sound: the kernel copies the event during the call.
        _ = try SystemCall.run(site) { unsafe epoll_ctl(epoll.number, operation, number, &event) }
    }

    private func fireTimers() {
        var expirations = [UInt8](repeating: 0, count: 8)
        _ = try? timer?.read(into: &expirations)
        armedDeadline = nil
        fireDueTimers()
        armTimer()
    }

    private func fireDueTimers() {
        let now = MonotonicClock.now
        // Handlers may schedule more timers. These fire only after the ready descriptors have been handled, whatever
        // their deadlines are.
        let limit = nextTimer
        while let place = timers.lastIndex(where: { $0.deadline > now || $0.identifier < limit }),
            timers[place].deadline <= now
        {
            timers.remove(at: place).handler()
        }
    }

    private func sleepVirtually() {
        let deadline = timers.last.map { $0.deadline.rounded(to: .nanoseconds(1)) }
        _ = SystemTime.replacement?.sleep(on: epoll.number, for: Int16(POLLIN), until: deadline)
    }

    /// Sets the timerfd to the earliest deadline, or disarms it; does nothing if the deadline is unchanged.
    private func armTimer() {
        let deadline = timers.last?.deadline
        guard !looksForTimers, deadline != armedDeadline else { return }
        armedDeadline = deadline
        var specification = itimerspec()
        // A value of zero would disarm the timer.
        if let deadline { specification.it_value = timespec(max(deadline, .nanoseconds(1))) }
        // Sound: the kernel copies the specification. The call fails only for an invalid descriptor or time, which
        // cannot occur.
        _ = unsafe timerfd_settime(timer?.number ?? -1, Int32(TFD_TIMER_ABSTIME), &specification, nil)
    }

    /// The time-out of `epoll_wait` in milliseconds; −1 if there is none.
    private var timeout: Int32 {
        guard looksForTimers, !isVirtual else { return isVirtual ? 0 : -1 }
        guard let deadline = timers.last?.deadline else { return -1 }
        let rest = min(max(.zero, deadline - MonotonicClock.now), Self.longestSleep)
        return Int32(rest.rounded(to: .milliseconds(1)))
    }

    private func readSignal() -> Int32? {
        guard signals != nil else { return nil }
        guard signalInput == nil else {
            var number: [UInt8] = [0]
            guard case .done(1)? = try? signals?.read(into: &number) else { return nil }
            return Int32(number[0])
        }
        var buffer = [UInt8](repeating: 0, count: MemoryLayout<signalfd_siginfo>.size)
        guard case .done(buffer.count)? = try? signals?.read(into: &buffer) else { return nil }
        // ssi_signo is the first member: 32 bits in the machine's byte order.
        return unsafe buffer.withUnsafeBytes { unsafe $0.load(as: Int32.self) }
    }
}

/// A timer on an event loop, with at most one pending call of a handler.
///
/// Setting the timer again cancels the pending call. The timer is no longer set when its handler runs, and it is
/// cancelled when it is destroyed.
package final class LoopTimer {
    private var pending: (loop: EventLoop, timer: EventLoop.Timer)?

    package init() {}

    deinit { cancel() }

    /// True from `set` until the handler runs or the timer is cancelled.
    package var isSet: Bool { pending != nil }

    /// Calls `handler` once, at `deadline` on `MonotonicClock`; if the deadline is nil, only cancels the pending call.
    package func set(on loop: EventLoop, at deadline: Duration?, handler: @escaping () -> Void) {
        cancel()
        guard let deadline else { return }
        let timer = loop.schedule(at: deadline) { [unowned self] in
            pending = nil
            handler()
        }
        pending = (loop, timer)
    }

    package func set(on loop: EventLoop, after delay: Duration, handler: @escaping () -> Void) {
        set(on: loop, at: MonotonicClock.now + delay, handler: handler)
    }

    /// Cancels the pending call; does nothing if the timer is not set.
    package func cancel() {
        if let (loop, timer) = pending.take() { loop.cancel(timer) }
    }
}

/// A pause that doubles with each use, up to a maximum.
package struct Backoff: Hashable, Sendable {
    private let pauses: ClosedRange<Duration>
    package private(set) var pause: Duration

    /// Creates a back-off whose first pause is the lower bound and whose longest pause is the upper bound.
    package init(_ pauses: ClosedRange<Duration>) {
        self.pauses = pauses
        pause = pauses.lowerBound
    }

    package var longest: Duration { pauses.upperBound }

    /// Returns the current pause and doubles the next one.
    @discardableResult
    package mutating func next() -> Duration {
        defer { pause = min(pause * 2, longest) }
        return pause
    }

    /// Resets the next pause to the first one.
    package mutating func reset() { pause = pauses.lowerBound }
}
