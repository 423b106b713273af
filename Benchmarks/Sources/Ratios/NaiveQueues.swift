// SPDX-License-Identifier: GPL-2.0-or-later

import CPeers
import CReference
import DequeModule
import Dispatch
import Measuring
import Synchronization

/// Common queues as contenders; a unit of work is one chunk.
enum NaiveQueues {
    /// Creates a deque of bytes protected by a mutex; both sides spin.
    static func deque(_ pattern: Pattern, chunk: Int, checks: Bool = false) -> Contender {
        Contender("Mutex<Deque<UInt8>>") { count in
            let queue = DequeQueue()
            let faults = Faults()
            let time = try ThreadPair.run(
                { queue.produce(pattern, chunk, chunk * count) },
                { faults.count = queue.consume(pattern, chunk, chunk * count, checks) }
            )
            guard faults.count == 0 else { throw RingMeasurement.WrongBytes() }
            return time
        }
    }

    /// Creates an AsyncStream with one array per chunk, on threads chosen by the system.
    static func asyncStream(_ pattern: Pattern, chunk: Int, checks: Bool = false) -> Contender {
        Contender("AsyncStream<[UInt8]>") { count in
            let (stream, continuation) = AsyncStream.makeStream(of: [UInt8].self, bufferingPolicy: .unbounded)
            let faults = Faults()
            let time = try ThreadPair.run(
                isPinned: false,
                {
                    var sent = 0
                    for _ in 0..<count {
                        let offset = sent & (pattern.period - 1)
                        continuation.yield(Array(pattern.bytes[offset..<(offset + chunk)]))
                        sent += chunk
                    }
                    continuation.finish()
                },
                {
                    let done = DispatchSemaphore(value: 0)
                    Task.detached {
                        var received = 0
                        for await bytes in stream {
                            let offset = received & (pattern.period - 1)
                            if checks, bytes != Array(pattern.bytes[offset..<(offset + chunk)]) { faults.count += 1 }
                            received += bytes.count
                        }
                        if received != chunk * count { faults.count += 1 }
                        done.signal()
                    }
                    done.wait()
                }
            )
            guard faults.count == 0 else { throw RingMeasurement.WrongBytes() }
            return time
        }
    }

    /// Creates a contender for a queue implemented in C.
    static func peer(
        _ name: String,
        _ make: @escaping () -> peer_queue,
        _ pattern: Pattern,
        chunk: Int,
        checks: Bool = false
    ) -> Contender {
        Contender(name) { count in
            let queue = PeerQueue(make())
            let faults = Faults()
            let time = try ThreadPair.run(
                { queue.produce(pattern, chunk, chunk * count) },
                { faults.count = queue.consume(pattern, chunk, chunk * count, checks) }
            )
            guard faults.count == 0 else { throw RingMeasurement.WrongBytes() }
            return time
        }
    }
}

/// Deque protected by a mutex, with the same capacity as the other queues.
final class DequeQueue: Sendable {
    private let bytes = Mutex(Deque<UInt8>())

    func push(_ chunk: ArraySlice<UInt8>) -> Bool {
        bytes.withLock { bytes in
            guard bytes.count + chunk.count <= RingMeasurement.capacity else { return false }
            bytes.append(contentsOf: chunk)
            return true
        }
    }

    func pop(_ wanted: Int, into target: inout [UInt8]) -> Int {
        bytes.withLock { bytes in
            let count = min(wanted, bytes.count)
            for index in 0..<count { target[index] = bytes.removeFirst() }
            return count
        }
    }

    func produce(_ pattern: Pattern, _ chunk: Int, _ total: Int) {
        var sent = 0
        while sent < total {
            let offset = sent & (pattern.period - 1)
            while !push(pattern.bytes[offset..<(offset + chunk)]) { cref_back_off() }
            sent += chunk
        }
    }

    func consume(_ pattern: Pattern, _ chunk: Int, _ total: Int, _ checks: Bool) -> Int {
        var target = [UInt8](repeating: 0, count: 256)
        var faults = 0
        var received = 0
        while received < total {
            let count = pop(chunk, into: &target)
            guard count > 0 else {
                cref_back_off()
                continue
            }
            let offset = received & (pattern.period - 1)
            if checks, target[..<count] != pattern.bytes[offset..<(offset + count)] { faults += 1 }
            received += count
        }
        return faults
    }
}

/// Owner of a queue implemented in C.
final class PeerQueue: @unchecked Sendable {
    // Unchecked is sound: each end is used by one thread.
    private let queue: peer_queue

    init(_ queue: peer_queue) {
        self.queue = queue
    }

    deinit {
        queue.destroy(queue.state)
    }

    func produce(_ pattern: Pattern, _ chunk: Int, _ total: Int) {
        queue.produce(queue.state, pattern.bytes, pattern.period, chunk, total)
    }

    func consume(_ pattern: Pattern, _ chunk: Int, _ total: Int, _ checks: Bool) -> Int {
        queue.consume(queue.state, pattern.bytes, pattern.period, chunk, total, checks ? 1 : 0)
    }
}
