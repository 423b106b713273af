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
        guard let table = try? CompiledTable(.strict), let bench = try? Bench(table, nanoseconds, queue) else {
            throw .keyboard(.noMemory)
        }
        return try bench.run()
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

        func run() throws(Failure) -> Result {
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
            do throws(Errno) {
                return try measure(device, node)
            } catch {
                isOver.store(true, ordering: .releasing)
                throw .input(error)
            }
        }

        /// Grabs the event node, which may appear shortly after the keyboard was created.
        private func grab(_ path: String?) throws(Failure) -> Node {
            guard let path else { throw .node(nil, .noSuchFileOrDirectory) }
            let deadline = MonotonicClock.nanoseconds + 2_000_000_000
            while true {
                do throws(Errno) {
                    return Node(try GrabbedEventNode(path))
                } catch {
                    guard MonotonicClock.nanoseconds < deadline else { throw .node(path, error) }
                    pause(nanoseconds: 20_000_000)
                }
            }
        }

        private func measure(_ device: borrowing UInputDevice, _ node: Node) throws(Errno) -> Result {
            let reader = try SystemThread(name: "bench reader") { self.read(node) }
            var written = 0
            var latencies: [Double] = []
            var key = ByteEncoder(table)
            _ = key.encode([UInt8(ascii: "a")].span)
            let half = MonotonicClock.nanoseconds + nanoseconds / 2
            while MonotonicClock.nanoseconds < half {
                // This pause is long enough for the reading thread to fall asleep.
                pause(nanoseconds: 1_000_000)
                let start = MonotonicClock.nanoseconds
                written += try write(key.output, to: device)
                if wait(for: written) { latencies.append(Double(readAt.load(ordering: .acquiring) - start)) }
            }
            var burst = ByteEncoder(table)
            let fitting = queue.window * UInputDevice.eventSize / key.output.byteCount
            _ = burst.encode([UInt8](repeating: UInt8(ascii: "a"), count: fitting).span)
            let start = MonotonicClock.nanoseconds
            let before = written
            while MonotonicClock.nanoseconds - start < nanoseconds / 2 {
                written += try write(burst.output, to: device)
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

        private func write(_ events: borrowing RawSpan, to device: borrowing UInputDevice) throws(Errno) -> Int {
            guard case .done(let count) = try device.write(events), count == events.byteCount else { throw .ioError }
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

        private func read(_ node: Node) {
            var buffer = [UInt8](repeating: 0, count: queue.size * UInputDevice.eventSize)
            while !isOver.load(ordering: .acquiring) {
                do throws(Errno) {
                    let count = try node.node.read(into: &buffer, waiting: 100)
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

    private final class Node: Sendable {
        let node: GrabbedEventNode

        init(_ node: consuming GrabbedEventNode) {
            self.node = node
        }
    }
}
