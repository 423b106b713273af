// SPDX-License-Identifier: GPL-2.0-or-later

/// Radio thread's end of the data path: counts received bytes and queues them for the typist.
public struct Feed: ~Copyable, Sendable {
    private var producer: ByteRing.Producer
    private let ledger: Ledger
    /// Rules for unpaired devices in stream mode; nil in scan mode.
    ///
    /// In scan mode, the barcode framer applies its own rules to chunks that are marked.
    private let open: OpenDeviceRules?
    /// Epoch of the link whose latest notifications were lost, because the ring was full or before they reached the
    /// feed.
    ///
    /// It is 0 if no notifications were lost.
    private var missing: UInt32 = 0

    /// Creates a feed that writes to a ring and counts bytes in `ledger`; `open` restricts unpaired devices in stream
    /// mode.
    public init(_ producer: consuming ByteRing.Producer, ledger: Ledger, open: OpenDeviceRules? = nil) {
        self.producer = producer
        self.ledger = ledger
        self.open = open
    }

    /// Outcome of a notification, which also tells the caller whether to wake the typist.
    public enum Outcome: Equatable, Sendable {
        /// The bytes are queued for typing.
        case accepted
        /// The bytes are queued for typing, and the caller must wake the sleeping typist.
        case acceptedMustWake
        /// The ring has no room for the bytes; they are counted as lost.
        case lost
    }

    /// Queues a whole notification, or nothing if the ring has no room for it.
    ///
    /// `epoch` numbers the link, from 1 on; `now` is in nanoseconds and must not decrease. If the device is unpaired,
    /// bytes that would press blocked keys are withheld (D-2).
    public mutating func receive(
        _ bytes: RawSpan,
        epoch: UInt32,
        now: Int64,
        isFromOpenDevice: Bool = false
    ) -> Outcome {
        if isFromOpenDevice, let typed = open?.typed(of: bytes) {
            ledger.addWithheld(bytes.byteCount &- typed.count)
            return unsafe push(typed.span.bytes, epoch: epoch, now: now, isFromOpenDevice: true)
        }
        return push(bytes, epoch: epoch, now: now, isFromOpenDevice: isFromOpenDevice)
    }

    @inline(__always)
    private mutating func push(_ bytes: RawSpan, epoch: UInt32, now: Int64, isFromOpenDevice: Bool) -> Outcome {
        let count = bytes.byteCount
        guard count > 0 else { return .accepted }
        ledger.addReceived(count)
        let header = ChunkHeader(
            count: count,
            epoch: epoch,
            received: now,
            followsMissingBytes: missing == epoch,
            isFromOpenDevice: isFromOpenDevice
        )
        guard count < ByteRing.largestCapacity, producer.push(header.words.0, header.words.1, bytes) else {
            ledger.addRingFull(count)
            missing = epoch
            return .lost
        }
        if missing != 0 {
            missing = 0
            ledger.missingBytesFollowed()
        }
        return producer.mustWake() ? .acceptedMustWake : .accepted
    }

    /// Records that notifications of a link were lost after the last queued one and before they reached the feed.
    ///
    /// The ledger does not count their bytes, because their length is unknown.
    public mutating func noteMissing(epoch: UInt32) {
        missing = epoch
        ledger.noteMissingBytes()
    }

    /// Counts bytes that are not typed because the device sends frames.
    ///
    /// These are the bytes around payloads and the bytes of invalid frames.
    public mutating func skip(wrapping: Int, bad: Int) { ledger.addFrames(wrapping: wrapping, bad: bad) }

    /// Counts received bytes that are passed unchanged to an output other than the keyboard; their outcome is still
    /// unknown.
    public mutating func pass(_ count: Int) { ledger.addReceived(count) }

    /// Counts bytes for an output other than the keyboard that arrived while the gate was closed.
    public mutating func gate(_ count: Int) { ledger.addGated(count) }

    /// Counts bytes passed to another output as lost, because that output has no room for them.
    public mutating func refuse(_ count: Int) { ledger.addRingFull(count) }

    /// Counts bytes that were passed to another output, or typed for it, as delivered or undelivered.
    public mutating func settle(delivered: Int, undelivered: Int) {
        ledger.settle(delivered: delivered, undelivered: undelivered)
    }
}

/// Header of a record in the ring: length, link and time of one received notification.
///
/// It occupies the sixteen bytes before the notification's bytes, in native byte order.
struct ChunkHeader: Equatable {
    /// Size of a header, in bytes.
    static let size: UInt = 16
    /// Mark of a chunk that follows lost bytes; the bit is higher than the bits of any length.
    private static let missingBytes: UInt32 = 1 << 31
    /// Mark of a chunk from an unpaired device.
    ///
    /// No length uses this bit, because a chunk that long would not fit into the ring with its header.
    private static let openDevice: UInt32 = 1 << 30

    /// Two words as stored in the ring: first the epoch, marks and length, then the time.
    private(set) var words: (UInt64, UInt64)

    /// Creates the header of a chunk of `count` bytes; `count` is less than 2^30.
    init(
        count: Int,
        epoch: UInt32,
        received: Int64,
        followsMissingBytes: Bool = false,
        isFromOpenDevice: Bool = false
    ) {
        let lengthAndMarks =
            UInt32(truncatingIfNeeded: count) | (followsMissingBytes ? Self.missingBytes : 0)
            | (isFromOpenDevice ? Self.openDevice : 0)
        words = (UInt64(epoch) &<< 32 | UInt64(lengthAndMarks), UInt64(bitPattern: received))
    }

    /// Parses a header from its two words.
    init(_ words: (UInt64, UInt64)) {
        self.words = words
    }

    private var lengthAndMarks: UInt32 { UInt32(truncatingIfNeeded: words.0) }

    var count: Int { Int(lengthAndMarks & ~(Self.missingBytes | Self.openDevice)) }

    /// Number of the link on which the bytes arrived; every connection has a new number, from 1 on.
    var epoch: UInt32 { UInt32(truncatingIfNeeded: words.0 &>> 32) }

    /// Arrival time, in nanoseconds of the caller's monotonic clock.
    var received: Int64 { Int64(bitPattern: words.1) }

    /// True if bytes of the same link were lost between the previous chunk and this one.
    var followsMissingBytes: Bool { lengthAndMarks & Self.missingBytes != 0 }

    /// True if the bytes arrived over a link without security, so that any device could have sent them.
    var isFromOpenDevice: Bool { lengthAndMarks & Self.openDevice != 0 }

    static func == (one: Self, other: Self) -> Bool { one.words == other.words }
}

/// A position in the records of the ring: before a header, or inside a chunk.
struct RingPlace {
    /// Position of the next byte, or of the next chunk's header.
    private(set) var position: UInt
    /// Number of unread bytes in the current chunk.
    private(set) var remaining = 0
    private(set) var chunk = ChunkHeader(count: 0, epoch: 0, received: 0)

    /// Creates a position before a header.
    init(position: UInt) {
        self.position = position
    }

    /// True if no byte of the current chunk has been consumed.
    var isAtChunkStart: Bool { remaining == chunk.count }

    /// Advances to the next byte; returns false if the ring has no more.
    @inline(__always)
    mutating func findBytes(_ consumer: inout ByteRing.Consumer) -> Bool {
        guard remaining == 0 else { return true }
        guard let words = consumer.words(at: position) else { return false }
        // No chunk is empty: the feed does not queue empty notifications.
        chunk = ChunkHeader(words)
        remaining = chunk.count
        position &+= ChunkHeader.size
        return remaining > 0
    }

    /// Returns the rest of the current chunk, or only the part before the end of the ring's memory.
    @inline(__always)
    @_lifetime(borrow consumer)
    func bytes(of consumer: borrowing ByteRing.Consumer) -> Span<UInt8> {
        consumer.span(at: position, count: remaining)
    }

    /// Advances by `count` bytes of the current chunk.
    @inline(__always)
    mutating func advance(_ count: Int) {
        position &+= UInt(bitPattern: count)
        remaining &-= count
    }
}

/// Carriage return that may be followed by its line feed (D-3).
struct LineEnd {
    /// Time between a carriage return and its line feed that every link accepts, in nanoseconds.
    static let usualTime: Int64 = 100_000_000

    var epoch: UInt32
    var received: Int64
    /// Outcome of the carriage return; its line feed has the same outcome.
    var fate: Ledger.Fate

    /// Returns true if `byte` of this chunk is the line feed that follows the carriage return.
    ///
    /// It must arrive on the same link and within `time` nanoseconds.
    @inline(__always)
    func isFollowed(by byte: UInt8, of chunk: ChunkHeader, within time: Int64) -> Bool {
        byte == ByteTable.lineFeed && epoch == chunk.epoch && chunk.received &- received <= time
    }
}
