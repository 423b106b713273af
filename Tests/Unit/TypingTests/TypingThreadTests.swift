// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import Keystrokes
import LinuxIO
import Synchronization
import SystemPackage
import Testing
import Typing

@Suite("The typing thread and a keyboard that refuses")
struct TypingThreadTests {
    /// Keyboard that accepts some events, then only a part of a write or nothing, and would then accept everything
    /// again.
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

    final class Device: KeyboardDevice {
        let keyboard: Refusing

        init(keyboard: Refusing) { self.keyboard = keyboard }

        func write(_ events: borrowing RawSpan) throws(Errno) -> NonBlocking<Int> {
            let call = keyboard.calls.add(1, ordering: .relaxed).oldValue
            let bytes = unsafe events.withUnsafeBytes { unsafe [UInt8]($0) }
            let count = call == keyboard.wholeWrites ? keyboard.part * UInputDevice.eventSize : bytes.count
            keyboard.taken.withLock { $0 += bytes.prefix(count) }
            if call == keyboard.wholeWrites, let error = keyboard.error { throw error }
            return .done(count)
        }
    }

    /// Returns the pressed keys as key codes, without modifiers.
    static func presses(_ bytes: [UInt8]) -> [UInt16] {
        var events: [EventNode.Event] = []
        EventNode.parse(bytes.span.bytes, into: &events)
        return events.filter { $0.type == 1 && $0.value == 1 && $0.code != 42 }.map(\.code)
    }

    static let refusals: [(part: Int, error: Errno?)] = [
        (0, .invalidArgument), (0, .operationNotSupportedByDevice), (0, .notPermitted), (0, .ioError), (0, nil),
        (9, nil),
    ]

    @Test("After a refused write the thread ends with its error, and no byte is typed twice", arguments: 0..<6)
    func refused(number: Int) throws {
        let refusal = Self.refusals[number]
        for barcodes in [nil, try BarcodeRules()] {
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
                pacer: try Pacer(stall: 20_000_000, queue: .small),
                barcodes: barcodes,
                gate: Gate(),
                ledger: ledger
            )
            let keyboard = Refusing(after: 1, part: refusal.part, error: refusal.error)
            let finished = try Waker()
            let thread = try TypingThread(typist, device: Device(keyboard: keyboard), finished: finished)
            for barcode in ["123\r", "456\r", "789\r"] {
                let bytes = Array(barcode.utf8)
                let outcome = feed.receive(bytes.span.bytes, epoch: 1, now: MonotonicClock.nanoseconds)
                #expect(outcome != .lost)
                thread.wake()
            }
            finished.wait(until: MonotonicClock.nanoseconds + 120_000_000_000)
            #expect(thread.error == refusal.error ?? .ioError)
            // Typing has ended: neither queued nor new data are typed.
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

    /// Keyboard that records the events and the threads that wrote them.
    final class Noting: KeyboardDevice {
        final class Notes: Sendable {
            let taken = Mutex<(bytes: [UInt8], threads: [pthread_t])>(([], []))
            let arrival: Waker

            init() throws(Errno) { arrival = try Waker() }

            /// Waits until this number of keys has been pressed, for at most two minutes.
            func presses(_ count: Int) -> [UInt16] {
                let deadline = MonotonicClock.nanoseconds + 120_000_000_000
                while true {
                    let presses = TypingThreadTests.presses(taken.withLock { $0.bytes })
                    if presses.count >= count || MonotonicClock.nanoseconds > deadline { return presses }
                    arrival.wait(until: deadline)
                }
            }
        }

        let notes: Notes

        init(notes: Notes) { self.notes = notes }

        func write(_ events: borrowing RawSpan) throws(Errno) -> NonBlocking<Int> {
            let bytes = unsafe events.withUnsafeBytes { unsafe [UInt8]($0) }
            notes.taken.withLock {
                $0.bytes += bytes; $0.threads.append(pthread_self())
            }
            notes.arrival.wake()
            return .done(bytes.count)
        }
    }

    @Test("Data that arrives while the thread sleeps is typed by its sender, the rest by the thread, all in order")
    func typedByBringer() throws {
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
            pacer: try Pacer(stall: 2_000_000, queue: .small),
            gate: Gate(),
            ledger: ledger
        )
        let notes = try Noting.Notes()
        let finished = try Waker()
        let thread = try TypingThread(typist, device: Noting(notes: notes), finished: finished)
        // Before the keyboard is ready, nothing is typed; after that, the typing thread types.
        var sent = 0
        func bring(_ barcode: String) {
            let now = MonotonicClock.nanoseconds
            let outcome = feed.receive(Array(barcode.utf8).span.bytes, epoch: 1, now: now)
            #expect(outcome != .lost)
            if outcome == .acceptedMustWake { thread.typeIfAsleep(now: now) }
            sent += barcode.utf8.count
        }
        bring("1\r")
        #expect(notes.presses(sent) == [2, 28])
        #expect(notes.taken.withLock { $0.threads }.contains(pthread_self()) == false)
        var expected: [UInt16] = [2, 28]
        for number in 0..<200 {
            // Every fifth barcode is too long for the window, so that the typing thread types its rest.
            bring(number % 5 == 4 ? "23452345234523452345\r" : "23\r")
            expected +=
                number % 5 == 4 ? [3, 4, 5, 6, 3, 4, 5, 6, 3, 4, 5, 6, 3, 4, 5, 6, 3, 4, 5, 6, 28] : [3, 4, 28]
            if number % 50 < 25 { #expect(notes.presses(sent).count == sent) }
        }
        #expect(notes.presses(sent) == expected)
        let threads = notes.taken.withLock { $0.threads }
        let mine = threads.count { $0 == pthread_self() }
        #expect(mine > 40 && mine < threads.count)
        thread.stop()
        finished.wait(until: MonotonicClock.nanoseconds + 120_000_000_000)
        #expect(thread.error == nil && ledger.snapshot().typed == UInt64(sent) && ledger.snapshot().waiting == 0)
    }
}
