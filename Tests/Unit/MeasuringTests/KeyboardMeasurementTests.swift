// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import Keystrokes
import Measuring
import Synchronization
import SystemPackage
import Testing

@Suite struct KeyboardMeasurementTests {
    /// Pipe in place of a virtual keyboard and its event node.
    private final class Pipe: EventLoopback {
        let ends: [Int32]
        let writes = Mutex<[Int]>([])
        let room = Atomic(0)
        /// True if only a part of each write is accepted.
        let isShort: Bool

        init(isShort: Bool = false) throws {
            var ends: [Int32] = [0, 0]
            try #require(pipe(&ends) == 0)
            self.ends = ends
            self.isShort = isShort
        }

        deinit { for end in ends { close(end) } }

        func write(_ events: borrowing RawSpan) throws(Errno) -> Int {
            writes.withLock { $0.append(events.byteCount) }
            let bytes = (0..<events.byteCount).map { unsafe events.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
            return Glibc.write(ends[1], bytes, isShort ? bytes.count - 24 : bytes.count)
        }

        func read(into buffer: inout [UInt8]) throws(Errno) -> Int {
            room.store(buffer.count, ordering: .relaxed)
            var state = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
            guard poll(&state, 1, 100) > 0 else { return 0 }
            return Glibc.read(ends[0], &buffer, buffer.count)
        }
    }

    @Test("Single keystrokes are written first, and then bursts that fill the queue; each event is read")
    func loopback() throws {
        for (queue, burst) in [(ReaderQueue.small, 60), (.large, 252)] {
            let pipe = try Pipe()
            let result = try KeyboardMeasurement.run(nanoseconds: 60_000_000, queue: queue, over: pipe)
            // A keystroke has four events of 24 bytes: press, report, release, report.
            let writes = pipe.writes.withLock { $0 }
            let single = writes.prefix { $0 == 4 * 24 }.count
            #expect(single > 0 && single < writes.count)
            #expect(writes.dropFirst(single).allSatisfy { $0 == burst * 24 })
            // The bursts take half of the time, or a little more.
            let bursts = Double((writes.count - single) * burst) / result.eventsPerSecond
            #expect(result.lost == 0 && bursts >= 0.03 && bursts < 5)
            #expect(result.latencies.count == single && result.latencies == result.latencies.sorted())
            #expect(result.latencies.allSatisfy { $0 > 0 && $0 < 1e9 })
            #expect(pipe.room.load(ordering: .relaxed) == queue.size * 24)
        }
    }

    @Test("Events that are written in part end the measurement")
    func shortWrite() throws {
        let pipe = try Pipe(isShort: true)
        let error = #expect(throws: KeyboardMeasurement.Failure.self) {
            try KeyboardMeasurement.run(nanoseconds: 10_000_000, queue: .small, over: pipe)
        }
        guard case .input(.ioError) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }
}
