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
