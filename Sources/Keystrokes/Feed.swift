// SPDX-License-Identifier: GPL-2.0-or-later

/// The radio thread's end of the data path: takes what was received, counts it, and hands it to the typist.
public struct Feed: ~Copyable, Sendable {
    private var producer: ByteRing.Producer
    private let ledger: Ledger
    /// What open devices may press; nil where barcodes are typed whole, and who types them looks at the chunk's mark.
    private let open: OpenDeviceRules?
    /// The link of the last chunk, if that chunk found no room or others behind it were lost; else 0.
    private var missing: UInt32 = 0

    /// A feed into a ring, counted in `ledger`; `open` says what an open device may press in stream mode.
    public init(_ producer: consuming ByteRing.Producer, ledger: Ledger, open: OpenDeviceRules? = nil) {
        self.producer = producer
        self.ledger = ledger
        self.open = open
    }

    /// The outcome of a notification, and with it whether the caller has to wake the typist.
    public enum Outcome: Equatable, Sendable {
        /// It waits to be typed.
        case accepted
        /// It waits to be typed, and the typist sleeps: wake it.
        case acceptedMustWake
        /// The ring has no room for it; it is counted as lost.
        case lost
    }

    /// Takes one notification: all of it or, when the ring has no room, nothing.
    ///
    /// `epoch` numbers the link, from 1 on; `now` is in nanoseconds and must not be behind an earlier one. Of a device that
    /// is open, what it may not press is withheld (D-2).
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

    /// Takes note that notifications of a link were lost before they came here, behind the last one that came.
    ///
    /// They are in no account of bytes, since nobody knows their length.
    public mutating func noteMissing(epoch: UInt32) {
        missing = epoch
        ledger.noteMissingBytes()
    }

    /// Counts bytes that are not to be typed where the device sends frames: those around payloads, and those of no good
    /// frame.
    public mutating func skip(wrapping: Int, bad: Int) { ledger.addFrames(wrapping: wrapping, bad: bad) }

    /// Counts bytes that go to another end than the keyboard as they are, and have no outcome yet.
    public mutating func pass(_ count: Int) { ledger.addReceived(count) }

    /// Counts bytes that are to go to another end as they are, and that came to a closed gate.
    public mutating func gate(_ count: Int) { ledger.addGated(count) }

    /// Counts bytes that were passed, and that find no room where they would wait for a reader.
    public mutating func refuse(_ count: Int) { ledger.addRingFull(count) }

    /// Counts what became of bytes that were passed, or typed for another end.
    public mutating func settle(delivered: Int, undelivered: Int) {
        ledger.settle(delivered: delivered, undelivered: undelivered)
    }
}

/// The head of a record in the ring: one received notification, its link and its time.
///
/// Sixteen bytes before the notification's own, in the machine's byte order.
struct ChunkHeader: Equatable {
    /// Bytes of a header.
    static let size: UInt = 16
    /// The mark of a chunk that follows lost bytes: the bit above every length.
    private static let missingBytes: UInt32 = 1 << 31
    /// The mark of a chunk of an open device: no chunk is as long as that, for it would not fit beside its header.
    private static let openDevice: UInt32 = 1 << 30

    /// The two words that the ring carries: epoch, marks and length; time.
    private(set) var words: (UInt64, UInt64)

    /// A header of `count` bytes, less than 2^30.
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

    /// The header of those two words.
    init(_ words: (UInt64, UInt64)) {
        self.words = words
    }

    private var lengthAndMarks: UInt32 { UInt32(truncatingIfNeeded: words.0) }

    var count: Int { Int(lengthAndMarks & ~(Self.missingBytes | Self.openDevice)) }

    /// Number of the link they came on: another one for every connection, from 1 on.
    var epoch: UInt32 { UInt32(truncatingIfNeeded: words.0 &>> 32) }

    /// Time they came at, in nanoseconds of the caller's monotonic clock.
    var received: Int64 { Int64(bitPattern: words.1) }

    /// True where bytes between the chunk before, on the same link, and this one were lost.
    var followsMissingBytes: Bool { lengthAndMarks & Self.missingBytes != 0 }

    /// True where anybody may be the device that they came from: the link had no security.
    var isFromOpenDevice: Bool { lengthAndMarks & Self.openDevice != 0 }

    static func == (one: Self, other: Self) -> Bool { one.words == other.words }
}

/// A place in the ring's records: before a header, or inside a chunk.
struct RingPlace {
    /// Where the next byte, or the next chunk's header, lies.
    private(set) var position: UInt
    /// Bytes left of the current chunk.
    private(set) var remaining = 0
    private(set) var chunk = ChunkHeader(count: 0, epoch: 0, received: 0)

    /// A place before a header.
    init(position: UInt) {
        self.position = position
    }

    /// True where nothing of the current chunk was taken yet.
    var isAtChunkStart: Bool { remaining == chunk.count }

    /// Goes on to the next byte; false where the ring has no more.
    @inline(__always)
    mutating func findBytes(_ consumer: inout ByteRing.Consumer) -> Bool {
        guard remaining == 0 else { return true }
        guard let words = consumer.words(at: position) else { return false }
        // No chunk is empty: the feed takes no empty notification.
        chunk = ChunkHeader(words)
        remaining = chunk.count
        position &+= ChunkHeader.size
        return remaining > 0
    }

    /// The rest of the current chunk, up to the ring's end at most.
    @inline(__always)
    @_lifetime(borrow consumer)
    func bytes(of consumer: borrowing ByteRing.Consumer) -> Span<UInt8> {
        consumer.span(at: position, count: remaining)
    }

    /// Goes on by bytes of the current chunk.
    @inline(__always)
    mutating func advance(_ count: Int) {
        position &+= UInt(bitPattern: count)
        remaining &-= count
    }
}

/// A carriage return that may be followed by its line feed (D-3).
struct LineEnd {
    /// The time between the two that is allowed on every link, in nanoseconds.
    static let usualTime: Int64 = 100_000_000

    var epoch: UInt32
    var received: Int64
    /// The outcome of the carriage return, which its line feed shares.
    var fate: Ledger.Fate

    /// True where the next byte, of this chunk, is its line feed: on the same link and within this time.
    @inline(__always)
    func isFollowed(by byte: UInt8, of chunk: ChunkHeader, within time: Int64) -> Bool {
        byte == ByteTable.lineFeed && epoch == chunk.epoch && chunk.received &- received <= time
    }
}
