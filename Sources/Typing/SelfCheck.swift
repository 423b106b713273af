// SPDX-License-Identifier: GPL-2.0-or-later

package import Keystrokes
package import LinuxIO
import Synchronization
package import SystemPackage

/// The comparison of the events from the keyboard's event node with the events meant to be written, one by one.
///
/// It covers the way from the write to the readers of the node; it does not tell if another reader has kept up. It is
/// a pure state machine: the meant events go in before they are written, so an event that is read is known already.
/// Events of the keyboard's lights, which its readers switch, come in between and are skipped.
package struct SelfCheck: Sendable {
    package struct Counts: Equatable, Sendable {
        package var verified: UInt64 = 0
        package var differing: UInt64 = 0
        /// The number of times that the kernel discarded events that were not read in time.
        package var dropped: UInt64 = 0

        package init(verified: UInt64 = 0, differing: UInt64 = 0, dropped: UInt64 = 0) {
            self.verified = verified
            self.differing = differing
            self.dropped = dropped
        }
    }

    package private(set) var counts = Counts()
    private var meant: [EventNode.Event] = []
    private var next = 0
    /// True from a loss on, until a moment when no event is on its way.
    private var isLost = false
    /// True after the event of a light, which the kernel may end with a report of its own.
    private var isAfterLight = false

    package init() {}

    /// The number of meant events that have not been read yet.
    package var outstanding: Int { meant.count - next }

    /// Adds events that are about to be written, in their order.
    package mutating func expect(_ events: some Sequence<EventNode.Event>) {
        meant.append(contentsOf: events)
    }

    package mutating func read(_ event: EventNode.Event) {
        guard event != .dropped else {
            counts.dropped &+= 1
            isLost = true
            return
        }
        guard !event.isLight else {
            isAfterLight = true
            return
        }
        let isReportOfLight = isAfterLight && event == .report && (next == meant.count || meant[next] != event)
        isAfterLight = false
        guard !isLost, !isReportOfLight else { return }
        guard next < meant.count, meant[next] == event else {
            counts.differing &+= 1
            isLost = true
            return
        }
        next += 1
        counts.verified &+= 1
        if next == meant.count || next == Self.trimmedAt { trim() }
    }

    /// Notes that some meant events are missing; nothing can be compared until the next quiet moment.
    package mutating func lose() {
        isLost = true
    }

    /// True while events are read without a comparison, until `settle` is called at a quiet moment.
    package var needsQuiet: Bool { isLost }

    /// Notes a quiet moment: all meant events were written, and none waits to be read.
    package mutating func settle() {
        if isLost { next = meant.count }
        isLost = false
        trim()
    }

    /// The number of compared events after which their memory is reused.
    private static let trimmedAt = 4096

    private mutating func trim() {
        meant.removeFirst(next)
        next = 0
    }
}

/// A queue of the events that the typing thread is about to write, read by the self-check on the loop's thread.
package final class ExpectedEvents: Sendable {
    /// The size of the queue in bytes: about ten thousand events, many seconds of typing.
    private static let capacity = 1 << 18

    private let ring: ByteRing
    /// True when events found no room, so that the events that are read can no longer be compared.
    private let hasOverflowed = Atomic<Bool>(false)

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
        private let way: ExpectedEvents

        fileprivate init(_ producer: consuming ByteRing.Producer, _ way: ExpectedEvents) {
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
        private let way: ExpectedEvents

        fileprivate init(_ consumer: consuming ByteRing.Consumer, _ way: ExpectedEvents) {
            self.consumer = consumer
            self.way = way
        }

        /// Appends all events in the queue to `events`; returns false if some are missing because they found no room.
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

/// The self-check on the event loop: reads the keyboard's event node, and compares its events with the meant ones.
package final class Verifier {
    /// The silence after which no event is on its way; it is longer than any pause within a barcode.
    private static let quiet = Duration.milliseconds(200)

    private let loop: EventLoop
    private var node: EventNode
    private var meant: ExpectedEvents.Reader
    private var check = SelfCheck()
    private var events: [EventNode.Event] = []
    private var registration: EventLoop.Registration?
    private let timer = LoopTimer()

    /// Opens the event node and begins to read it.
    package init(_ path: String, meant: consuming ExpectedEvents.Reader, on loop: EventLoop) throws(Errno) {
        self.loop = loop
        self.meant = meant
        node = try EventNode(path)
        try watch()
    }

    /// Reads the event node of another keyboard from now on; what was meant for the one before did not arrive.
    package func follow(_ path: String) throws(Errno) {
        _ = read()
        check.settle()
        if let registration { loop.unwatch(registration, node.descriptor) }
        registration = nil
        node = try EventNode(path)
        try watch()
    }

    private func watch() throws(Errno) {
        registration = try loop.watch(node.descriptor, for: .readable) { [unowned self] _ in
            _ = read()
            if check.needsQuiet { waitForQuiet() }
        }
    }

    package var counts: SelfCheck.Counts {
        _ = read()
        return check.counts
    }

    /// Reads and compares the events that wait; returns true if there were any.
    private func read() -> Bool {
        var found: [EventNode.Event] = []
        do throws(Errno) {
            while try node.read(into: &found) {}
        } catch {
            // The keyboard was removed: no more events follow.
            if let registration { loop.unwatch(registration, node.descriptor) }
            registration = nil
        }
        // An event that was read is in the queue already, so the queue is read after the node.
        events.removeAll(keepingCapacity: true)
        if !meant.read(into: &events) { check.lose() }
        check.expect(events)
        for event in found { check.read(event) }
        return !found.isEmpty
    }

    private func waitForQuiet() {
        timer.set(on: loop, after: Self.quiet) { [unowned self] in
            if read() { waitForQuiet() } else { check.settle() }
        }
    }
}
