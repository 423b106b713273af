// SPDX-License-Identifier: GPL-2.0-or-later

/// The head of a record in the ring: one received notification, its link and its time.
///
/// Sixteen bytes before the notification's own, in the machine's byte order.
struct ChunkHeader: Equatable {
    /// Bytes of a header.
    static let size: UInt = 16

    /// Bytes that follow.
    var length: UInt32
    /// Which link they came on: another number for every connection, from 1 on.
    var epoch: UInt32
    /// When they came, in nanoseconds of the caller's monotonic clock.
    var received: Int64

    /// The two words that the ring carries.
    var words: (UInt64, UInt64) { (UInt64(epoch) &<< 32 | UInt64(length), UInt64(bitPattern: received)) }

    init(length: UInt32, epoch: UInt32, received: Int64) {
        self.length = length
        self.epoch = epoch
        self.received = received
    }

    init(_ words: (UInt64, UInt64)) {
        length = UInt32(truncatingIfNeeded: words.0)
        epoch = UInt32(truncatingIfNeeded: words.0 &>> 32)
        received = Int64(bitPattern: words.1)
    }
}

/// The radio thread's end of the data path: takes what was received, counts it, and hands it to the typist.
public struct Feed: ~Copyable, Sendable {
    private var producer: ByteRing.Producer
    private let ledger: Ledger

    /// A feed into a ring, counted in `ledger`.
    public init(_ producer: consuming ByteRing.Producer, ledger: Ledger) {
        self.producer = producer
        self.ledger = ledger
    }

    /// What became of a notification, and what the caller has to do.
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
    /// `epoch` numbers the link, from 1 on; `now` is in nanoseconds and must not be behind an earlier one.
    public mutating func receive(_ bytes: RawSpan, epoch: UInt32, now: Int64) -> Outcome {
        let count = bytes.byteCount
        guard count > 0 else { return .accepted }
        ledger.addReceived(count)
        let header = ChunkHeader(length: UInt32(truncatingIfNeeded: count), epoch: epoch, received: now).words
        guard count <= ByteRing.largestCapacity, producer.push(header.0, header.1, bytes) else {
            ledger.addRingFull(count)
            return .lost
        }
        return producer.mustWake() ? .acceptedMustWake : .accepted
    }
}
