// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
import Glibc
import SwiftGlibc
import Synchronization
package import SystemPackage

/// A thread of the operating system, for work that needs its own thread.
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

        /// Runs the body; in a test, uses the call script and the time of the thread that started this one.
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

    /// Starts a thread that runs `body`; ps and top show the first 15 bytes of `name` (C: `pthread_create`).
    package init(name: String, body: @escaping @Sendable () -> Void) throws(Errno) {
        var thread = pthread_t()
        // Sound: the box is retained here; the thread takes ownership of it, or it is released if no thread was
        // started.
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

    /// Sleeps according to the real clock; returns false if a signal handler has ended the sleep (C: `ppoll`).
    @discardableResult
    package static func sleep(milliseconds: Int) -> Bool {
        var time = timespec(tv_sec: milliseconds / 1000, tv_nsec: milliseconds % 1000 * 1_000_000)
        // Sound: the call gets no entries, and the time is a local variable that outlives the call.
        return unsafe blewedge_ppoll(nil, 0, &time) >= 0
    }

    /// Waits until the thread has ended (C: `pthread_join`).
    ///
    /// If the kernel's time is replaced, the time does not advance during the wait.
    package consuming func join() {
        _ = pthread_join(thread, nil)
    }
}

/// Wakes a thread from another thread, through an eventfd or, on a kernel without eventfd, a pipe.
package final class Waker: Sendable {
    /// Descriptor that `wake` makes readable, for an event loop or for `wait(until:)`.
    package let descriptor: Descriptor
    /// Write end of the pipe; nil if an eventfd is used.
    private let input: Descriptor?
    private let target: Int32

    /// Creates a waker without pending calls of `wake` (C: `eventfd` and, on a kernel without CONFIG_EVENTFD, `pipe2`).
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

    /// Wakes the waiting thread; several calls before it wakes count as one.
    ///
    /// May be called from any thread.
    package func wake() {
        var one: UInt64 = 1
        // Sound: the call reads eight bytes of a local variable. It fails only if the pipe or the counter is full; in
        // that case a call of `wake` is pending already.
        _ = unsafe write(target, &one, 8)
    }

    /// Clears the pending calls of `wake`.
    package func reset() {
        var count: UInt64 = 0
        // Sound: the call writes eight bytes of a local variable. It fails only if no call of `wake` is pending. An
        // eventfd counts all calls in one value; a pipe contains eight bytes for each call.
        while unsafe read(descriptor.number, &count, 8) == 8, target != descriptor.number {}
    }

    /// Sleeps until woken, or until `deadline` on `MonotonicClock`, in nanoseconds (C: `ppoll`).
    ///
    /// It clears the pending calls of `wake` afterwards.
    package func wait(until deadline: Int64?) {
        if let time = SystemTime.replacement {
            _ = time.sleep(on: descriptor.number, for: Int16(POLLIN), until: deadline)
            return reset()
        }
        var entry = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
        // Sound: the call gets one entry and one timespec, both local variables. An interruption by a signal counts as
        // a wake-up.
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
    /// The thread's identity; zero before the thread runs and after it has ended.
    private let thread = Atomic<UInt>(0)

    /// Starts the thread; ps and top show the first 15 bytes of `name`.
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

    /// The loop, which is accessible only on its thread.
    package var loop: EventLoop {
        checkIsolated()
        return eventLoop
    }

    /// Runs an actor's job on the loop's thread, after all earlier jobs.
    package func enqueue(_ job: consuming ExecutorJob) {
        append(.job(UnownedJob(job)))
    }

    /// Runs `work` on the loop's thread, after all earlier jobs.
    package func submit(_ work: @escaping @Sendable () -> Void) {
        append(.work(work))
    }

    /// Stops the program if it is called on any other thread.
    package func checkIsolated() {
        precondition(isCurrent, "this belongs to the event loop's thread")
    }

    /// Ends the loop after all earlier jobs.
    package func stop() {
        submit { [self] in eventLoop.stop() }
    }

    private func append(_ item: Item) {
        let hasEnded = queue.withLock { queue in
            if !queue.hasEnded { queue.items.append(item) }
            return queue.hasEnded
        }
        // Once the thread has ended, nothing else uses the loop, so the work can be done here.
        if hasEnded { perform(item) } else { waker.wake() }
    }

    private func run() {
        thread.store(SystemThread.current, ordering: .relaxed)
        // `epoll_wait` fails only for an invalid descriptor, which cannot occur.
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

/// The owner of a loop's thread; the thread ends when the last reference to this object is released.
package final class LoopThread: Sendable {
    package let executor: LoopExecutor

    package init(name: String) throws(Errno) {
        executor = try LoopExecutor(name: name)
    }

    deinit { executor.stop() }
}

/// A container, usable on any thread, for a value that is created, used and released only on a loop's thread.
package final class LoopBound<Value>: @unchecked Sendable {
    /// Box that carries the value to its thread, which releases the value.
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

    /// The value, which is accessible only on the loop's thread.
    package var value: Value {
        let loop = executor.loop
        if let made { return made }
        let value = make(loop)
        made = value
        return value
    }
}
