// SPDX-License-Identifier: GPL-2.0-or-later

package import Keystrokes
package import LinuxIO
import Synchronization

/// A queue of the events that the typing thread is about to write, read by the self-check on the loop's thread.
package final class MeantEvents: Sendable {
    /// The size of the queue in bytes: about ten thousand events, many seconds of typing.
    private static let capacity = 1 << 18

    private let ring: ByteRing
    /// True when events found no room, so that the events that are read can no longer be compared.
    private let hasOverflowed = Atomic<Bool>(false)

    /// Makes an empty queue.
    package init() throws(ByteRing.CapacityError) {
        ring = try ByteRing(capacity: Self.capacity)
    }

    /// The typing thread's end of the queue; nil after the first call.
    package func takeWriter() -> Writer? {
        guard let producer = ring.takeProducer() else { return nil }
        return Writer(producer, self)
    }

    /// The self-check's end of the queue; nil after the first call.
    package func takeReader() -> Reader? {
        guard let consumer = ring.takeConsumer() else { return nil }
        return Reader(consumer, self)
    }

    /// The typing thread's end of the queue.
    package struct Writer: ~Copyable, Sendable {
        private var producer: ByteRing.Producer
        private let way: MeantEvents

        fileprivate init(_ producer: consuming ByteRing.Producer, _ way: MeantEvents) {
            self.producer = producer
            self.way = way
        }

        /// Adds whole events, as they are about to be written.
        package mutating func add(_ events: RawSpan) {
            if !producer.push(events) { way.hasOverflowed.store(true, ordering: .releasing) }
        }
    }

    /// The self-check's end of the queue.
    package struct Reader: ~Copyable {
        private var consumer: ByteRing.Consumer
        private let way: MeantEvents

        fileprivate init(_ consumer: consuming ByteRing.Consumer, _ way: MeantEvents) {
            self.consumer = consumer
            self.way = way
        }

        /// Appends all events in the queue to `events`.
        ///
        /// Returns false if some are missing because they found no room.
        package mutating func read(into events: inout [EventNode.Event]) -> Bool {
            var buffer = [UInt8](repeating: 0, count: 256 * UInputDevice.eventSize)
            while true {
                var bytes = buffer.mutableSpan
                // Sound: raw bytes may be written into an array of bytes.
                var target = unsafe bytes.mutableBytes
                let count = consumer.pop(into: &target)
                guard count > 0 else { return !way.hasOverflowed.exchange(false, ordering: .acquiringAndReleasing) }
                // Sound: all bytes of an array of bytes are initialised.
                unsafe EventNode.parse(buffer.span.bytes.extracting(first: count), into: &events)
            }
        }
    }
}
