// SPDX-License-Identifier: GPL-2.0-or-later

import Synchronization
package import SystemPackage

/// An event loop on a thread of its own, on which actors run.
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

    /// Starts the thread; `name` (15 bytes at most) is what ps and top show.
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

    /// The loop; only on its thread.
    package var loop: EventLoop {
        checkIsolated()
        return eventLoop
    }

    /// Runs an actor's job on the loop's thread, after all that was enqueued before.
    package func enqueue(_ job: consuming ExecutorJob) {
        append(.job(UnownedJob(job)))
    }

    /// Runs `work` on the loop's thread, after all that was enqueued before.
    package func submit(_ work: @escaping @Sendable () -> Void) {
        append(.work(work))
    }

    /// Stops the program on any other thread.
    package func checkIsolated() {
        precondition(isCurrent, "this belongs to the event loop's thread")
    }

    /// Ends the loop after all that was enqueued before.
    package func stop() {
        submit { [self] in eventLoop.stop() }
    }

    private func append(_ item: Item) {
        let hasEnded = queue.withLock { queue in
            if !queue.hasEnded { queue.items.append(item) }
            return queue.hasEnded
        }
        // Without its thread the loop has no other user.
        if hasEnded { perform(item) } else { waker.wake() }
    }

    private func run() {
        thread.store(SystemThread.current, ordering: .relaxed)
        // It fails only for a descriptor that epoll cannot wait for, and there is none.
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

/// The life of a loop's thread: it ends when nobody holds this any more.
package final class LoopThread: Sendable {
    package let executor: LoopExecutor

    package init(name: String) throws(Errno) {
        executor = try LoopExecutor(name: name)
    }

    deinit { executor.stop() }
}

/// A value that is made, used and let go of on a loop's thread only, held from anywhere.
package final class LoopBound<Value>: @unchecked Sendable {
    /// Carries the value to its thread, to be let go of there.
    private struct Parting: @unchecked Sendable {
        let value: Value?
    }

    private let executor: LoopExecutor
    private let make: @Sendable (EventLoop) -> Value
    private var made: Value?

    /// A value that is made when it is first used.
    package init(to executor: LoopExecutor, make: @escaping @Sendable (EventLoop) -> Value) {
        self.executor = executor
        self.make = make
    }

    deinit {
        let parting = Parting(value: made)
        executor.submit { withExtendedLifetime(parting) {} }
    }

    /// The value; only on the loop's thread.
    package var value: Value {
        let loop = executor.loop
        if let made { return made }
        let value = make(loop)
        made = value
        return value
    }
}
