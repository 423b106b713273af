// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
import Glibc
import SwiftGlibc
import Synchronization
package import SystemPackage

/// A thread of the operating system, for work that must not share one.
package struct SystemThread: ~Copyable {
    private let thread: pthread_t

    private final class Start {
        let name: String
        let body: @Sendable () -> Void
        #if DEBUG
            let script = CallScript.current
            let time = SystemTime.ofTask
        #endif
        init(name: String, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }

        /// Runs the body; in a test, with the script and the time of the starting thread.
        func run() {
            #if DEBUG
                if let script { CallScript.use(script) }
                defer { if script != nil { CallScript.use(nil) } }
                SystemTime.$ofTask.withValue(time, operation: runToEnd)
            #else
                runToEnd()
            #endif
        }

        private func runToEnd() {
            body()
            SystemTime.replacement?.removeThread()
        }
    }

    /// Starts a thread that runs `body`; ps and top show `name`, at most 15 bytes (C: `pthread_create`).
    package init(name: String, body: @escaping @Sendable () -> Void) throws(Errno) {
        var thread = pthread_t()
        // Sound: the box is retained here, and taken over by the thread or released if no thread was started.
        let start = unsafe Unmanaged.passRetained(Start(name: name, body: body))
        SystemTime.replacement?.addThread()
        let code = unsafe pthread_create(
            &thread,
            nil,
            { argument in
                guard let argument = unsafe argument else { return nil }
                let start = unsafe Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
                _ = unsafe blewedge_set_thread_name(String(start.name.prefix(15)))
                start.run()
                return nil
            },
            start.toOpaque()
        )
        guard code == 0 else {
            SystemTime.replacement?.removeThread()
            unsafe start.release()
            throw Errno(rawValue: code)
        }
        self.thread = thread
    }

    /// Identity of the calling thread, different from that of every other running thread (C: `pthread_self`).
    static var current: UInt { UInt(pthread_self()) }

    /// Sleeps, by the real clock; returns false if a signal handler has ended the sleep (C: `ppoll`).
    @discardableResult
    package static func sleep(milliseconds: Int) -> Bool {
        var time = timespec(tv_sec: milliseconds / 1000, tv_nsec: milliseconds % 1000 * 1_000_000)
        // Sound: no entries, and a local that outlives the call.
        return unsafe blewedge_ppoll(nil, 0, &time) >= 0
    }

    /// Waits until the thread has ended; a replaced time does not advance meanwhile (C: `pthread_join`).
    package consuming func join() {
        _ = pthread_join(thread, nil)
    }
}

/// A means to wake a thread from another: an eventfd or, on a kernel without eventfd, a pipe.
package final class Waker: Sendable {
    /// Descriptor that `wake` makes readable, for an event loop or for `wait(until:)`.
    package let descriptor: Descriptor
    /// Write end of a pipe; nil for an eventfd.
    private let input: Descriptor?
    private let target: Int32

    /// Creates a waker without pending calls (C: `eventfd` and, on a kernel without CONFIG_EVENTFD, `pipe2`).
    package init() throws(Errno) {
        do throws(Errno) {
            let flags = Int32(EFD_CLOEXEC | EFD_NONBLOCK)
            descriptor = Descriptor(owning: try SystemCall.run(CallSite(.loop, .eventfd)) { eventfd(0, flags) }, .loop)
            input = nil
            target = descriptor.number
        } catch {
            guard error == .noFunction else { throw error }
            let ends = try Descriptor.pipe()
            descriptor = Descriptor(owning: ends.output, .loop)
            input = Descriptor(owning: ends.input, .loop)
            target = ends.input
        }
    }

    /// Wakes the other side; several calls before it wakes count as one.
    ///
    /// May be called from any thread.
    package func wake() {
        var one: UInt64 = 1
        // Sound: eight bytes of a local are read. The write fails only if the pipe or count is full, and then a call
        // is pending.
        _ = unsafe write(target, &one, 8)
    }

    /// Clears the pending calls.
    package func reset() {
        var count: UInt64 = 0
        // Sound: eight bytes of a local are written. The read fails only if no call is pending. An eventfd has all
        // calls in one count, a pipe has eight bytes for each.
        while unsafe read(descriptor.number, &count, 8) == 8, target != descriptor.number {}
    }

    /// Sleeps until woken, or until `deadline` on `MonotonicClock`, in nanoseconds; then clears the pending calls (C:
    /// `ppoll`).
    package func wait(until deadline: Int64?) {
        if let time = SystemTime.replacement {
            _ = time.sleep(on: descriptor.number, for: Int16(POLLIN), until: deadline)
            return reset()
        }
        var entry = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
        // Sound: one entry and one timespec, both locals. A signal's interruption is a wake-up like any other.
        if let deadline {
            let rest = max(0, deadline &- MonotonicClock.nanoseconds)
            var time = timespec(tv_sec: Int(rest / 1_000_000_000), tv_nsec: Int(rest % 1_000_000_000))
            _ = unsafe blewedge_ppoll(&entry, 1, &time)
        } else {
            _ = unsafe blewedge_ppoll(&entry, 1, nil)
        }
        reset()
    }
}

/// An event loop with its own thread, on which actors run.
///
/// The thread ends after `stop`; until then it keeps the executor alive.
package final class LoopExecutor: SerialExecutor, @unchecked Sendable {
    private enum Item {
        case job(UnownedJob)
        case work(@Sendable () -> Void)
    }

    private struct Queue {
        var items: [Item] = []
        var hasEnded = false
    }

    private let eventLoop: EventLoop
    private let waker: Waker
    private let queue = Mutex(Queue())
    /// The thread's identity; zero before it runs and after it has ended.
    private let thread = Atomic<UInt>(0)

    /// Starts the thread; ps and top show `name`, at most 15 bytes.
    package init(name: String) throws(Errno) {
        eventLoop = try EventLoop()
        waker = try Waker()
        _ = try eventLoop.watch(waker.descriptor, for: .readable) { [unowned self] _ in
            waker.reset()
            drain()
        }
        _ = try SystemThread(name: name) { [self] in run() }
    }

    package var isCurrent: Bool { thread.load(ordering: .relaxed) == SystemThread.current }

    /// The loop, accessible only on its thread.
    package var loop: EventLoop {
        checkIsolated()
        return eventLoop
    }

    /// Runs an actor's job on the loop's thread, after everything enqueued before.
    package func enqueue(_ job: consuming ExecutorJob) {
        append(.job(UnownedJob(job)))
    }

    /// Runs `work` on the loop's thread, after everything enqueued before.
    package func submit(_ work: @escaping @Sendable () -> Void) {
        append(.work(work))
    }

    /// Stops the program if called on any other thread.
    package func checkIsolated() {
        precondition(isCurrent, "this belongs to the event loop's thread")
    }

    /// Ends the loop after everything enqueued before.
    package func stop() {
        submit { [self] in eventLoop.stop() }
    }

    private func append(_ item: Item) {
        let hasEnded = queue.withLock { queue in
            if !queue.hasEnded { queue.items.append(item) }
            return queue.hasEnded
        }
        // After the thread has ended, nothing else uses the loop.
        if hasEnded { perform(item) } else { waker.wake() }
    }

    private func run() {
        thread.store(SystemThread.current, ordering: .relaxed)
        // `epoll_wait` fails only for a descriptor that epoll cannot use, which cannot occur.
        try? eventLoop.run()
        while !queue.withLock({ queue in
            if queue.items.isEmpty { queue.hasEnded = true }
            return queue.hasEnded
        }) { drain() }
        thread.store(0, ordering: .relaxed)
    }

    private func drain() {
        let items = queue.withLock { queue in
            let items = queue.items
            queue.items = []
            return items
        }
        for item in items { perform(item) }
    }

    private func perform(_ item: Item) {
        switch item {
        case .job(let job): unsafe job.runSynchronously(on: asUnownedSerialExecutor())
        case .work(let work): work()
        }
    }
}

/// The lifetime of a loop's thread, which ends when the last reference to this object is released.
package final class LoopThread: Sendable {
    package let executor: LoopExecutor

    package init(name: String) throws(Errno) {
        executor = try LoopExecutor(name: name)
    }

    deinit { executor.stop() }
}

/// A value that is created, used and released only on a loop's thread, but can be held on any thread.
package final class LoopBound<Value>: @unchecked Sendable {
    /// Carrier of the value to its thread, where it is released.
    private struct Parting: @unchecked Sendable {
        let value: Value?
    }

    private let executor: LoopExecutor
    private let make: @Sendable (EventLoop) -> Value
    private var made: Value?

    /// Wraps a value that is created on first use.
    package init(to executor: LoopExecutor, make: @escaping @Sendable (EventLoop) -> Value) {
        self.executor = executor
        self.make = make
    }

    deinit {
        let parting = Parting(value: made)
        executor.submit { withExtendedLifetime(parting) {} }
    }

    /// The value, accessible only on the loop's thread.
    package var value: Value {
        let loop = executor.loop
        if let made { return made }
        let value = make(loop)
        made = value
        return value
    }
}
