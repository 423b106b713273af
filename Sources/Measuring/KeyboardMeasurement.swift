// SPDX-License-Identifier: GPL-2.0-or-later

public import Keystrokes
import LinuxIO
import Synchronization
public import SystemPackage

/// Measures the path of keystrokes through the kernel, from a dedicated virtual keyboard to a thread that reads its
/// event node.
///
/// The event node is grabbed before the first keystroke, so that no application receives the keystrokes.
public enum KeyboardMeasurement {
    /// Result of the measurement.
    public struct Result: Sendable {
        /// Number of events written and read per second, in bursts of as many plain keystrokes as fit into the event
        /// queue.
        public var eventsPerSecond: Double
        /// Times from just before a keystroke is written until a sleeping thread has read it, in nanoseconds and in
        /// ascending order.
        public var latencies: [Double]
        /// Number of events that were written but not read.
        public var lost: Int

        /// Creates a result from its fields.
        package init(eventsPerSecond: Double, latencies: [Double], lost: Int) {
            self.eventsPerSecond = eventsPerSecond
            self.latencies = latencies
            self.lost = lost
        }
    }

    /// Reason why the measurement failed.
    public enum Failure: Error, Sendable {
        case keyboard(Errno)
        /// The kernel created no event node, or this process could not grab it; no keystroke was sent.
        case node(String?, Errno)
        case input(Errno)
    }

    /// Measures for about `nanoseconds` nanoseconds: half of the time for the latencies, half for the throughput.
    public static func run(nanoseconds: Int64, queue: ReaderQueue) throws(Failure) -> Result {
        let bench = try bench(nanoseconds, queue)
        return try bench.measure(try bench.makeKeyboard())
    }

    /// Measures `loopback` in place of a virtual keyboard.
    package static func run(
        nanoseconds: Int64,
        queue: ReaderQueue,
        over loopback: some EventLoopback
    ) throws(Failure) -> Result {
        try bench(nanoseconds, queue).measure(loopback)
    }

    private static func bench(_ nanoseconds: Int64, _ queue: ReaderQueue) throws(Failure) -> Bench {
        guard let table = try? CompiledTable(.strict), let bench = try? Bench(table, nanoseconds, queue) else {
            throw .keyboard(.noMemory)
        }
        return bench
    }

    private final class Bench: Sendable {
        private let table: CompiledTable
        private let nanoseconds: Int64
        private let queue: ReaderQueue
        /// Waker that nobody wakes; waiting for it produces the pauses.
        private let waker: Waker
        private let eventsRead = Atomic(0)
        private let readAt = Atomic<Int64>(0)
        private let isOver = Atomic(false)
        private let failure = Mutex<Errno?>(nil)

        init(_ table: CompiledTable, _ nanoseconds: Int64, _ queue: ReaderQueue) throws(Errno) {
            waker = try Waker()
            self.table = table
            self.nanoseconds = nanoseconds
            self.queue = queue
        }

        func makeKeyboard() throws(Failure) -> Keyboard {
            let device: UInputDevice
            do throws(Errno) {
                device = try UInputDevice(
                    name: "blewedge bench",
                    keyCodes: table.keys.codes.map(\.rawValue),
                    axes: queue.axes
                )
            } catch {
                throw .keyboard(error)
            }
            let node = try grab(device.eventNode)
            return Keyboard(device, node)
        }

        func measure(_ loopback: some EventLoopback) throws(Failure) -> Result {
            do throws(Errno) {
                return try measureEvents(of: loopback)
            } catch {
                isOver.store(true, ordering: .releasing)
                throw .input(error)
            }
        }

        private func grab(_ path: String?) throws(Failure) -> GrabbedEventNode {
            guard let path else { throw .node(nil, .noSuchFileOrDirectory) }
            let deadline = MonotonicClock.nanoseconds + 2_000_000_000
            while true {
                do throws(Errno) {
                    return try GrabbedEventNode(path)
                } catch {
                    guard MonotonicClock.nanoseconds < deadline else { throw .node(path, error) }
                    pause(nanoseconds: 20_000_000)
                }
            }
        }

        private func measureEvents(of loopback: some EventLoopback) throws(Errno) -> Result {
            let reader = try SystemThread(name: "bench reader") { self.read(loopback) }
            var written = 0
            var latencies: [Double] = []
            var key = ByteEncoder(table)
            _ = key.encode([UInt8(ascii: "a")].span)
            let half = MonotonicClock.nanoseconds + nanoseconds / 2
            while MonotonicClock.nanoseconds < half {
                // This pause is long enough for the reading thread to fall asleep.
                pause(nanoseconds: 1_000_000)
                let start = MonotonicClock.nanoseconds
                written += try write(key.output, to: loopback)
                if wait(for: written) { latencies.append(Double(readAt.load(ordering: .acquiring) - start)) }
            }
            var burst = ByteEncoder(table)
            let fitting = queue.window * UInputDevice.eventSize / key.output.byteCount
            _ = burst.encode([UInt8](repeating: UInt8(ascii: "a"), count: fitting).span)
            let start = MonotonicClock.nanoseconds
            let before = written
            while MonotonicClock.nanoseconds - start < nanoseconds / 2 {
                written += try write(burst.output, to: loopback)
                _ = wait(for: written)
            }
            let time = MonotonicClock.nanoseconds - start
            isOver.store(true, ordering: .releasing)
            reader.join()
            if let error = failure.withLock({ $0 }) { throw error }
            return Result(
                eventsPerSecond: Double(written - before) * 1e9 / Double(time),
                latencies: latencies.sorted(),
                lost: written - eventsRead.load(ordering: .acquiring)
            )
        }

        private func write(_ events: borrowing RawSpan, to loopback: some EventLoopback) throws(Errno) -> Int {
            let count = try loopback.write(events)
            guard count == events.byteCount else { throw .ioError }
            return count / UInputDevice.eventSize
        }

        /// Waits up to one second; returns true if at least `events` events have been read.
        private func wait(for events: Int) -> Bool {
            let deadline = MonotonicClock.nanoseconds + 1_000_000_000
            while eventsRead.load(ordering: .acquiring) < events {
                guard MonotonicClock.nanoseconds < deadline else { return false }
                pause(nanoseconds: 5_000)
            }
            return true
        }

        private func pause(nanoseconds: Int64) {
            waker.wait(until: MonotonicClock.nanoseconds + nanoseconds)
        }

        private func read(_ loopback: some EventLoopback) {
            var buffer = [UInt8](repeating: 0, count: queue.size * UInputDevice.eventSize)
            while !isOver.load(ordering: .acquiring) {
                do throws(Errno) {
                    let count = try loopback.read(into: &buffer)
                    guard count > 0 else { continue }
                    readAt.store(MonotonicClock.nanoseconds, ordering: .releasing)
                    eventsRead.add(count / UInputDevice.eventSize, ordering: .releasing)
                } catch {
                    failure.withLock { $0 = error }
                    return
                }
            }
        }
    }

    private final class Keyboard: EventLoopback {
        private let device: UInputDevice
        private let node: GrabbedEventNode

        init(_ device: consuming UInputDevice, _ node: consuming GrabbedEventNode) {
            self.device = device
            self.node = node
        }

        func write(_ events: borrowing RawSpan) throws(Errno) -> Int {
            guard case .done(let count) = try device.write(events) else { throw .ioError }
            return count
        }

        func read(into buffer: inout [UInt8]) throws(Errno) -> Int { try node.read(into: &buffer, waiting: 100) }
    }
}

/// Device to which events are written, and from which they are read.
package protocol EventLoopback: Sendable {
    /// Writes events; returns the number of written bytes.
    func write(_ events: borrowing RawSpan) throws(Errno) -> Int
    /// Waits up to 100 ms for events; returns the number of read bytes, which is 0 if there are none.
    func read(into buffer: inout [UInt8]) throws(Errno) -> Int
}
