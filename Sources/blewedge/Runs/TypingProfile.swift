// SPDX-License-Identifier: GPL-2.0-or-later

import Keystrokes
import LinuxIO
import SystemPackage
import Typing

/// Notifications through the daemon's own feed, typing thread and keyboard output, into /dev/null instead of a keyboard.
///
/// The thread that brings the bytes types them, as the radio thread does while nothing has to wait for the pace.
enum TypingProfile {
    /// The bytes of a notification.
    private static let chunk = 20

    /// Types so many notifications, one after the other.
    static func run(_ notifications: Int, _ bytes: [UInt8], _ table: CompiledTable) throws {
        let ring = try ByteRing(capacity: 65536)
        guard let producer = ring.takeProducer(), let consumer = ring.takeConsumer() else { return }
        let ledger = Ledger()
        var feed = Feed(producer, ledger: ledger, open: OpenDeviceRules(table))
        let typist = Typist(
            consumer,
            table: table,
            pacer: try Pacer(stall: 0, queue: .large),
            gate: Gate(),
            ledger: ledger
        )
        let finished = try Waker()
        let thread = try TypingThread(typist, device: try NullKeyboard(), finished: finished)
        // Nothing is typed before the keyboard's readers would have opened it.
        let begin = MonotonicClock.nanoseconds + TypingThread.settlingTime
        while MonotonicClock.nanoseconds <= begin { finished.wait(until: begin) }
        let all = unsafe bytes.span.bytes
        for turn in 0..<notifications {
            let offset = turn &* chunk % (all.byteCount - chunk)
            let now = MonotonicClock.nanoseconds
            let source = all.extracting(offset..<offset + chunk)
            if feed.receive(source, epoch: 1, now: now, isFromOpenDevice: true) == .acceptedMustWake {
                thread.typeIfAsleep(now: now)
            }
        }
        thread.stop()
        while !thread.hasEnded { finished.wait(until: nil) }
    }

    /// A keyboard that takes everything.
    private final class NullKeyboard: KeyboardDevice {
        private let descriptor: Descriptor

        init() throws(Errno) {
            descriptor = try .forWriting("/dev/null")
        }

        func write(_ events: borrowing RawSpan) throws(Errno) -> NonBlocking<Int> { try descriptor.write(events) }
    }
}
