// SPDX-License-Identifier: GPL-2.0-or-later

public import Synchronization

/// A byte ring between exactly two threads, a producer and a consumer, neither of which ever waits for the other.
///
/// One block of memory contains the tail (position of the next byte, written only by the producer), the head (position
/// of the oldest byte not yet released, written only by the consumer), the flag of a sleeping consumer, and then the
/// bytes. The four parts are 128 bytes apart, so that no two threads write to the same cache line. Head and tail
/// increase freely, wrap on overflow, and are masked when used.
///
/// Invariants:
/// - `tail &- head` is the number of bytes in the ring, 0 … capacity, regardless of the counters' values.
/// - The producer writes a byte before it stores the tail with release; the consumer loads the tail with acquire before
///   it reads the byte. The consumer reads a byte before it stores the head with release; the producer loads the head
///   with acquire before it overwrites the byte. Hence no byte is ever read and written at the same time.
/// - Each handle keeps its own counter and the last known value of the other side's counter, and loads the shared
///   counter only if the known value does not suffice: an outdated value errs only towards "full" or "empty".
/// - Sleep: the consumer sets the flag and then loads the tail; the producer stores the tail and then loads the flag.
///   All four accesses are sequentially consistent, so at least one side sees the other's store, and no push is missed.
///
/// All unsafe code of the ring is in this file; every span that it returns is checked against tail and head.
@safe
public final class ByteRing: @unchecked Sendable {
    // Unchecked is sound: the block's words are atomics, and its bytes are accessed only through two handles, each of
    // which exists once and cannot be copied, under the invariants above.

    /// Error for a capacity that is not valid for a ring.
    public struct CapacityError: Error, Equatable, Sendable, CustomStringConvertible {
        /// Requested capacity, in bytes.
        public var capacity: Int

        /// One-line description for users: the rule for capacities, and the requested capacity.
        public var description: String {
            "ring capacity \(capacity): must be a power of two from 2 to \(ByteRing.largestCapacity)"
        }
    }

    /// Maximum capacity, in bytes.
    public static let largestCapacity = 1 << 30

    /// Capacity in bytes, a power of two.
    public let capacity: Int

    private static let separation = 128
    private static let tailOffset = 0
    private static let headOffset = separation
    private static let flagOffset = 2 * separation
    private static let bytesOffset = 3 * separation

    private let block: UnsafeMutableRawPointer
    private let start: UInt
    private let producerTaken = Atomic(false)
    private let consumerTaken = Atomic(false)

    /// Creates an empty ring of 2 … 2^30 bytes, a power of two.
    ///
    /// Its counters begin at `start`: any value works, and tests use this to make the counters wrap.
    public init(capacity: Int, startingAt start: UInt = 0) throws(CapacityError) {
        guard capacity >= 2, capacity <= Self.largestCapacity, capacity & (capacity &- 1) == 0 else {
            throw CapacityError(capacity: capacity)
        }
        self.capacity = capacity
        self.start = start
        // Sound: a fresh block, large enough for three separated words and the bytes, aligned to the separation; each
        // word is initialised at its own offset before anything can reach it, and the bytes hold no pointers.
        unsafe block = .allocate(byteCount: Self.bytesOffset + capacity, alignment: Self.separation)
        unsafe block.initializeMemory(as: UInt8.self, repeating: 0, count: Self.bytesOffset + capacity)
        unsafe Self.counter(block, Self.tailOffset).initialize(to: Atomic(start))
        unsafe Self.counter(block, Self.headOffset).initialize(to: Atomic(start))
        unsafe (block + Self.flagOffset).bindMemory(to: Atomic<Bool>.self, capacity: 1).initialize(to: Atomic(false))
    }

    deinit {
        // Sound: both handles hold a reference to the ring, so neither exists now; atomics of integers need no deinit.
        unsafe block.deallocate()
    }

    /// Returns the only producer handle; nil after the first call.
    public func takeProducer() -> Producer? {
        guard !producerTaken.exchange(true, ordering: .acquiringAndReleasing) else { return nil }
        return Producer(self)
    }

    /// Returns the only consumer handle; nil after the first call.
    public func takeConsumer() -> Consumer? {
        guard !consumerTaken.exchange(true, ordering: .acquiringAndReleasing) else { return nil }
        return Consumer(self)
    }

    private static func counter(_ block: UnsafeMutableRawPointer, _ offset: Int) -> UnsafeMutablePointer<Atomic<UInt>> {
        unsafe (block + offset).bindMemory(to: Atomic<UInt>.self, capacity: 1)
    }
}

extension ByteRing {
    /// Producer's end of the ring; used by one thread at a time.
    @safe
    public struct Producer: ~Copyable, @unchecked Sendable {
        // Unchecked is sound: the handle cannot be copied, so its owner is the only producer.
        @usableFromInline let ring: ByteRing
        @usableFromInline let tailPointer: UnsafeMutablePointer<Atomic<UInt>>
        @usableFromInline let headPointer: UnsafeMutablePointer<Atomic<UInt>>
        @usableFromInline let flagPointer: UnsafeMutablePointer<Atomic<Bool>>
        @usableFromInline let bytes: UnsafeMutableRawPointer
        @usableFromInline let capacity: UInt
        @usableFromInline var tail: UInt
        @usableFromInline var seenHead: UInt

        fileprivate init(_ ring: ByteRing) {
            // Sound: the pointers reach into the ring's block, which `ring` keeps alive as long as the handle lives.
            self.ring = ring
            unsafe tailPointer = ByteRing.counter(ring.block, ByteRing.tailOffset)
            unsafe headPointer = ByteRing.counter(ring.block, ByteRing.headOffset)
            unsafe flagPointer = (ring.block + ByteRing.flagOffset).assumingMemoryBound(to: Atomic<Bool>.self)
            unsafe bytes = ring.block + ByteRing.bytesOffset
            capacity = UInt(ring.capacity)
            tail = ring.start
            seenHead = ring.start
        }

        /// Appends all of `source` or nothing; returns false if it does not fit.
        @inlinable @inline(__always)
        public mutating func push(_ source: RawSpan) -> Bool {
            let count = UInt(bitPattern: source.byteCount)
            guard hasRoom(count) else { return false }
            // Sound: `hasRoom` checked that the bytes from the tail on are released, and `write` masks every position.
            unsafe source.withUnsafeBytes { unsafe write($0, at: tail) }
            publish(count)
            return true
        }

        /// Appends two words in native byte order and all of `source`, or nothing; returns false if they do not fit.
        ///
        /// The consumer sees either the whole record or nothing.
        @inlinable @inline(__always)
        public mutating func push(_ first: UInt64, _ second: UInt64, _ source: RawSpan) -> Bool {
            let count = UInt(bitPattern: source.byteCount) &+ 16
            guard hasRoom(count) else { return false }
            let offset = tail & (capacity &- 1)
            if count <= capacity &- offset {
                let to = unsafe bytes + Int(bitPattern: offset)
                // Sound: `count` bytes from the tail on are released, and lie before the block's end.
                unsafe to.storeBytes(of: first, as: UInt64.self)
                unsafe (to + 8).storeBytes(of: second, as: UInt64.self)
                unsafe source.withUnsafeBytes { source in
                    if let from = source.baseAddress { unsafe copyBytes(from: from, to: to + 16, source.count) }
                }
            } else {
                writeAround(first, second, source)
            }
            publish(count)
            return true
        }

        /// Writes words and bytes that wrap around the end of the block.
        @usableFromInline @inline(never)
        mutating func writeAround(_ first: UInt64, _ second: UInt64, _ source: RawSpan) {
            // Sound: as above; the words are a local value of 16 bytes.
            unsafe withUnsafeBytes(of: (first, second)) { unsafe write($0, at: tail) }
            unsafe source.withUnsafeBytes { unsafe write($0, at: tail &+ 16) }
        }

        /// Returns true if the consumer sleeps and must be woken; call this after a successful push.
        ///
        /// Returns true at most once for each time that the consumer falls asleep.
        @inlinable @inline(__always)
        public mutating func mustWake() -> Bool {
            // Storing the same tail again with sequential consistency orders the store relative to the consumer's flag.
            unsafe tailPointer.pointee.store(tail, ordering: .sequentiallyConsistent)
            guard unsafe flagPointer.pointee.load(ordering: .sequentiallyConsistent) else { return false }
            return unsafe flagPointer.pointee.exchange(false, ordering: .sequentiallyConsistent)
        }

        @inlinable @inline(__always)
        mutating func hasRoom(_ count: UInt) -> Bool {
            if capacity &- (tail &- seenHead) >= count { return true }
            seenHead = unsafe headPointer.pointee.load(ordering: .acquiring)
            return capacity &- (tail &- seenHead) >= count
        }

        @inlinable @inline(__always)
        mutating func publish(_ count: UInt) {
            tail &+= count
            unsafe tailPointer.pointee.store(tail, ordering: .releasing)
        }

        @inlinable @inline(__always)
        func write(_ source: UnsafeRawBufferPointer, at position: UInt) {
            guard let from = source.baseAddress else { return }
            let count = UInt(bitPattern: source.count)
            let offset = position & (capacity &- 1)
            let untilEnd = capacity &- offset
            // Sound: offset < capacity, and count ≤ capacity by `hasRoom`; bytes beyond the end go to the start.
            if count <= untilEnd {
                unsafe copyBytes(from: from, to: bytes + Int(bitPattern: offset), Int(bitPattern: count))
            } else {
                unsafe copyBytes(from: from, to: bytes + Int(bitPattern: offset), Int(bitPattern: untilEnd))
                unsafe copyBytes(from: from + Int(bitPattern: untilEnd), to: bytes, Int(bitPattern: count &- untilEnd))
            }
        }
    }

    /// Consumer's end of the ring; used by one thread at a time.
    ///
    /// It reads bytes in place, at any position from `position` on, and then releases bytes that are no longer needed.
    @safe
    public struct Consumer: ~Copyable, @unchecked Sendable {
        // Unchecked is sound: the handle cannot be copied, so its owner is the only consumer.
        @usableFromInline let ring: ByteRing
        @usableFromInline let tailPointer: UnsafeMutablePointer<Atomic<UInt>>
        @usableFromInline let headPointer: UnsafeMutablePointer<Atomic<UInt>>
        @usableFromInline let flagPointer: UnsafeMutablePointer<Atomic<Bool>>
        @usableFromInline let bytes: UnsafeRawPointer
        @usableFromInline let capacity: UInt
        @usableFromInline var head: UInt
        @usableFromInline var seenTail: UInt

        fileprivate init(_ ring: ByteRing) {
            // Sound: the pointers reach into the ring's block, which `ring` keeps alive as long as the handle lives.
            self.ring = ring
            unsafe tailPointer = ByteRing.counter(ring.block, ByteRing.tailOffset)
            unsafe headPointer = ByteRing.counter(ring.block, ByteRing.headOffset)
            unsafe flagPointer = (ring.block + ByteRing.flagOffset).assumingMemoryBound(to: Atomic<Bool>.self)
            unsafe bytes = UnsafeRawPointer(ring.block + ByteRing.bytesOffset)
            capacity = UInt(ring.capacity)
            head = ring.start
            seenTail = ring.start
        }

        /// Position of the oldest byte not yet released.
        @inlinable
        public var position: UInt { head }

        /// Returns the number of bytes known to be readable from `position` on; 0 only if the ring is empty.
        @inlinable @inline(__always)
        public mutating func available(from position: UInt) -> Int {
            if seenTail == position { seenTail = unsafe tailPointer.pointee.load(ordering: .acquiring) }
            return Int(bitPattern: seenTail &- clamped(position))
        }

        /// Returns up to `count` bytes in place from `position` on; fewer if the memory block or the available bytes
        /// end first.
        @inlinable @inline(__always)
        @_lifetime(borrow self)
        public borrowing func span(at position: UInt, count: Int) -> Span<UInt8> {
            // If the position is outside the bytes in the ring, the span is empty.
            let (before, filled) = (position &- head, seenTail &- head)
            let offset = position & (capacity &- 1)
            let length =
                before <= filled ? min(UInt(bitPattern: max(count, 0)), min(filled &- before, capacity &- offset)) : 0
            // Sound: the bytes lie within the block, before the tail (loaded with acquire) and not before the head, so
            // the producer does not write to them until `release`, which needs exclusive access and so ends the span
            // first.
            let buffer = unsafe UnsafeBufferPointer(
                start: (bytes + Int(bitPattern: offset)).assumingMemoryBound(to: UInt8.self),
                count: Int(bitPattern: length)
            )
            let span = unsafe Span(_unsafeElements: buffer)
            return unsafe _overrideLifetime(span, borrowing: self)
        }

        /// Returns the two words that `push` stored at `position`; nil if fewer than 16 bytes are available.
        @inlinable @inline(__always)
        public mutating func words(at position: UInt) -> (UInt64, UInt64)? {
            guard available(from: position) >= 16 else { return nil }
            let offset = position & (capacity &- 1)
            let untilEnd = capacity &- offset
            // Sound: 16 bytes from `position` on are before the tail, those beyond the end of the block are at its
            // start, and the copies fill exactly the 16 bytes of the local value.
            if untilEnd >= 16 {
                let from = unsafe bytes + Int(bitPattern: offset)
                return unsafe (from.loadUnaligned(as: UInt64.self), (from + 8).loadUnaligned(as: UInt64.self))
            }
            var words: (UInt64, UInt64) = (0, 0)
            unsafe withUnsafeMutableBytes(of: &words) { target in
                guard let to = target.baseAddress else { return }
                unsafe to.copyMemory(from: bytes + Int(bitPattern: offset), byteCount: Int(bitPattern: untilEnd))
                unsafe (to + Int(bitPattern: untilEnd))
                    .copyMemory(from: bytes, byteCount: 16 &- Int(bitPattern: untilEnd))
            }
            return words
        }

        /// Releases all bytes before `position` to the producer.
        @inlinable @inline(__always)
        public mutating func release(through position: UInt) {
            head = clamped(position)
            unsafe headPointer.pointee.store(head, ordering: .releasing)
        }

        /// Copies as many available bytes as fit into `target`, releases them, and returns their number.
        @inlinable @inline(__always)
        @_lifetime(target: copy target)
        public mutating func pop(into target: inout MutableRawSpan) -> Int {
            let wanted = target.byteCount
            if Int(bitPattern: seenTail &- head) < wanted {
                seenTail = unsafe tailPointer.pointee.load(ordering: .acquiring)
            }
            let count = min(wanted, Int(bitPattern: seenTail &- head))
            let offset = Int(bitPattern: head & (capacity &- 1))
            let first = min(count, Int(bitPattern: capacity) &- offset)
            // Sound: `count` bytes from the head on are before the tail, and `target` has room for them.
            unsafe target.withUnsafeMutableBytes { target in
                guard let to = target.baseAddress else { return }
                unsafe copyBytes(from: bytes + offset, to: to, first)
                if first < count { unsafe copyBytes(from: bytes, to: to + first, count &- first) }
            }
            release(through: head &+ UInt(bitPattern: count))
            return count
        }

        /// Announces that the consumer will sleep; returns false, without effect, if there are bytes beyond `position`.
        ///
        /// After it returns true, the next successful push makes `mustWake` return true.
        @inlinable
        public mutating func mayFallAsleep(at position: UInt) -> Bool {
            unsafe flagPointer.pointee.store(true, ordering: .sequentiallyConsistent)
            seenTail = unsafe tailPointer.pointee.load(ordering: .sequentiallyConsistent)
            guard seenTail != position else { return true }
            stayAwake()
            return false
        }

        /// Withdraws the announcement of `mayFallAsleep`, because the consumer is awake, whatever woke it.
        @inlinable
        public mutating func stayAwake() {
            unsafe flagPointer.pointee.store(false, ordering: .sequentiallyConsistent)
        }

        /// Returns `position` if it lies between the head and the seen tail; otherwise, the seen tail.
        @inlinable @inline(__always)
        func clamped(_ position: UInt) -> UInt {
            position &- head <= seenTail &- head ? position : seenTail
        }
    }
}

/// Copies bytes between memory areas that do not overlap.
///
/// Short areas are copied inline, as two words that may overlap each other, because a call to the C library costs more
/// than copying the bytes of a notification.
@inlinable @inline(__always)
func copyBytes(from: UnsafeRawPointer, to: UnsafeMutableRawPointer, _ count: Int) {
    // Sound if `count` bytes are readable at `from` and writable at `to`: every access below lies within them.
    if count >= 16 {
        guard count <= 256 else {
            unsafe to.copyMemory(from: from, byteCount: count)
            return
        }
        var offset = 0
        while offset < count &- 16 {
            let part = unsafe (from + offset).loadUnaligned(as: SIMD16<UInt8>.self)
            unsafe (to + offset).storeBytes(of: part, as: SIMD16<UInt8>.self)
            offset &+= 16
        }
        let last = unsafe (from + (count &- 16)).loadUnaligned(as: SIMD16<UInt8>.self)
        unsafe (to + (count &- 16)).storeBytes(of: last, as: SIMD16<UInt8>.self)
    } else if count >= 8 {
        let first = unsafe from.loadUnaligned(as: UInt64.self)
        let last = unsafe (from + (count &- 8)).loadUnaligned(as: UInt64.self)
        unsafe to.storeBytes(of: first, as: UInt64.self)
        unsafe (to + (count &- 8)).storeBytes(of: last, as: UInt64.self)
    } else if count >= 4 {
        let first = unsafe from.loadUnaligned(as: UInt32.self)
        let last = unsafe (from + (count &- 4)).loadUnaligned(as: UInt32.self)
        unsafe to.storeBytes(of: first, as: UInt32.self)
        unsafe (to + (count &- 4)).storeBytes(of: last, as: UInt32.self)
    } else {
        var offset = 0
        while offset < count {
            unsafe (to + offset).storeBytes(of: (from + offset).load(as: UInt8.self), as: UInt8.self)
            offset &+= 1
        }
    }
}
