// SPDX-License-Identifier: GPL-2.0-or-later

import Keystrokes
import LinuxIO
import Synchronization
import SystemPackage
import Testing
import Wedge

@Suite("The typing thread and a keyboard that refuses")
struct TypingThreadTests {
    /// A keyboard that takes some events, then a part of a write or none of it, and then would take all again.
    final class Refusing: Sendable {
        let taken = Mutex<[UInt8]>([])
        let calls = Atomic<Int>(0)
        let wholeWrites: Int
        let part: Int
        let error: Errno?

        init(after wholeWrites: Int, part: Int, error: Errno?) {
            self.wholeWrites = wholeWrites
            self.part = part
            self.error = error
        }
    }

    struct Device: KeyboardDevice {
        let keyboard: Refusing

        func write(_ events: borrowing RawSpan) throws(Errno) -> NonBlocking<Int> {
            let call = keyboard.calls.add(1, ordering: .relaxed).oldValue
            let bytes = unsafe events.withUnsafeBytes { unsafe [UInt8]($0) }
            let count = call == keyboard.wholeWrites ? keyboard.part * UInputDevice.eventSize : bytes.count
            keyboard.taken.withLock { $0 += bytes.prefix(count) }
            if call == keyboard.wholeWrites, let error = keyboard.error { throw error }
            return .done(count)
        }
    }

    /// The keys pressed, by the kernel's numbers, without modifiers.
    static func presses(_ bytes: [UInt8]) -> [UInt16] {
        var events: [EventNode.Event] = []
        EventNode.parse(bytes.span.bytes, into: &events)
        return events.filter { $0.type == 1 && $0.value == 1 && $0.code != 42 }.map(\.code)
    }

    static let refusals: [(part: Int, error: Errno?)] = [
        (0, .invalidArgument), (0, .operationNotSupportedByDevice), (0, .notPermitted), (0, .ioError), (0, nil),
        (9, nil),
    ]

    @Test("X-1: after a refused write the thread ends with its error, and no byte is typed twice", arguments: 0..<6)
    func refused(number: Int) throws {
        let refusal = Self.refusals[number]
        for scans in [nil, try ScanRules()] {
            let ring = try ByteRing(capacity: 1 << 12)
            guard let producer = ring.takeProducer(), let consumer = ring.takeConsumer() else {
                Issue.record("an end is missing")
                return
            }
            let ledger = Ledger()
            var feed = Feed(producer, ledger: ledger)
            let typist = Typist(
                consumer,
                table: try CompiledTable(ByteTable(.linble)),
                pacer: try Pacer(stall: 20_000_000),
                scans: scans,
                gate: Gate(),
                ledger: ledger
            )
            let keyboard = Refusing(after: 1, part: refusal.part, error: refusal.error)
            let finished = try Waker()
            let thread = try TypingThread(typist, device: Device(keyboard: keyboard), finished: finished)
            for scan in ["123\r", "456\r", "789\r"] {
                let bytes = Array(scan.utf8)
                let outcome = feed.receive(bytes.span.bytes, epoch: 1, now: MonotonicClock.nanoseconds)
                #expect(outcome != .lost)
                thread.wake()
            }
            finished.wait(until: MonotonicClock.nanoseconds + 10_000_000_000)
            #expect(thread.error == refusal.error ?? .ioError)
            // It is over: what waits or comes is not typed by anybody.
            let calls = keyboard.calls.load(ordering: .relaxed)
            thread.wake()
            thread.stop()
            #expect(keyboard.calls.load(ordering: .relaxed) == calls && calls == 2)
            let presses = Self.presses(keyboard.taken.withLock { $0 })
            #expect(presses == [2, 3, 4, 28] + [5, 6, 7].prefix(refusal.part / 4 + (refusal.part % 4 > 0 ? 1 : 0)))
            let account = ledger.snapshot()
            #expect(account.typed == UInt64(4 + refusal.part / 4))
            #expect(account.lost(.writeFailed) == UInt64(4 - refusal.part / 4) && account.waiting == 4)
        }
    }
}
