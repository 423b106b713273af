// SPDX-License-Identifier: GPL-2.0-or-later

package import Keystrokes
package import LinuxIO
import Synchronization
package import SystemPackage

/// Comparison of the events read from the keyboard's event node with the expected events, one by one.
///
/// It covers the path from the write to the event node; it cannot detect whether another application has kept up. It is
/// a pure state machine: expected events are added before they are written, so every event that is read is already
/// known. Light events, which applications cause, appear between the others and are skipped.
package struct SelfCheck: Sendable {
    package struct Counts: Equatable, Sendable {
        package var verified: UInt64 = 0
        package var differing: UInt64 = 0
        /// Number of times that the kernel discarded events because they were not read in time.
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
    /// True after a loss, until all events in transit have been read.
    private var isLost = false
    /// True after a light event, after which the kernel may send an extra report.
    private var isAfterLight = false

    package init() {}

    /// Number of expected events that have not been read yet.
    package var outstanding: Int { meant.count - next }

    /// Adds events that are about to be written, in the order in which they are written.
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

    /// Records that some expected events are missing; comparison resumes at the next quiet moment.
    package mutating func lose() {
        isLost = true
    }

    /// True while events are read but not compared, until `settle` is called at a quiet moment.
    package var needsQuiet: Bool { isLost }

    /// Records a quiet moment: all expected events were written, and no event is left to read.
    package mutating func settle() {
        if isLost { next = meant.count }
        isLost = false
        trim()
    }

    /// Number of compared events after which their memory is reused.
    private static let trimmedAt = 4096

    private mutating func trim() {
        meant.removeFirst(next)
        next = 0
    }
}

/// Queue of events that are about to be written, from the typing thread to the self-check on the event loop.
package final class ExpectedEvents: Sendable {
    /// Capacity of the queue in bytes: about ten thousand events, which take many seconds to type.
    private static let capacity = 1 << 18

    private let ring: ByteRing
    /// True if the queue has overflowed, so that the events that are read can no longer be compared.
    private let hasOverflowed = Atomic<Bool>(false)

    package init() throws(ByteRing.CapacityError) {
        ring = try ByteRing(capacity: Self.capacity)
    }

    /// Returns the typing thread's end of the queue; nil after the first call.
    package func takeWriter() -> Writer? {
        guard let producer = ring.takeProducer() else { return nil }
        return Writer(producer, self)
    }

    /// Returns the self-check's end of the queue; nil after the first call.
    package func takeReader() -> Reader? {
        guard let consumer = ring.takeConsumer() else { return nil }
        return Reader(consumer, self)
    }

    /// Typing thread's end of the queue.
    package struct Writer: ~Copyable, Sendable {
        private var producer: ByteRing.Producer
        private let way: ExpectedEvents

        fileprivate init(_ producer: consuming ByteRing.Producer, _ way: ExpectedEvents) {
            self.producer = producer
            self.way = way
        }

        /// Adds whole events that are about to be written.
        package mutating func add(_ events: RawSpan) {
            if !producer.push(events) { way.hasOverflowed.store(true, ordering: .releasing) }
        }
    }

    /// Self-check's end of the queue.
    package struct Reader: ~Copyable {
        private var consumer: ByteRing.Consumer
        private let way: ExpectedEvents

        fileprivate init(_ consumer: consuming ByteRing.Consumer, _ way: ExpectedEvents) {
            self.consumer = consumer
            self.way = way
        }

        /// Appends all queued events to `events`; returns false if some were lost because the queue overflowed.
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

/// Self-check on the event loop: reads the keyboard's event node, and compares its events with the expected ones.
package final class Verifier {
    /// Silence after which no event can be in transit; longer than any pause within a barcode.
    private static let quiet = Duration.milliseconds(200)

    private let loop: EventLoop
    private var node: EventNode
    private var meant: ExpectedEvents.Reader
    private var check = SelfCheck()
    private var events: [EventNode.Event] = []
    private var registration: EventLoop.Registration?
    private let timer = LoopTimer()

    /// Opens the event node and starts reading it.
    package init(_ path: String, meant: consuming ExpectedEvents.Reader, on loop: EventLoop) throws(Errno) {
        self.loop = loop
        self.meant = meant
        node = try EventNode(path)
        try watch()
    }

    /// Switches to the event node of a replacement keyboard; events still expected from the failed keyboard are lost.
    package func follow(_ path: String) throws(Errno) {
        _ = read()
        check.lose()
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

    /// Reads and compares all pending events; returns true if there were any.
    private func read() -> Bool {
        var found: [EventNode.Event] = []
        do throws(Errno) {
            while try node.read(into: &found) {}
        } catch {
            // The keyboard was removed, so there will be no more events.
            if let registration { loop.unwatch(registration, node.descriptor) }
            registration = nil
        }
        // The queue is read after the node, because it then contains every event that was read from the node.
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
