// SPDX-License-Identifier: GPL-2.0-or-later

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

    /// Bytes that follow.
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
