// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// Puts the fragments of extended advertisements together, those of several advertisers side by side.
///
/// Memory is bounded: 8 partial advertisements of at most 1,650 bytes, in buffers that are used again. When a ninth
/// begins, the oldest is dropped and what still comes of it is discarded, for its rest alone would look like a whole
/// advertisement. A partial one that is not finished within 5 s is dropped.
///
/// Core 6.0, Vol 4, Part E, 7.7.65.13.
struct AdvertisementAssembler: Sendable {
    /// The identity of an advertisement: fragments that share it belong together.
    struct Key: Hashable, Sendable {
        var sender: DeviceAddress
        var advertisingSID: UInt8?
        var isScanResponse: Bool
    }

    /// The outcome of a report.
    enum Result: Equatable {
        /// The report holds all of the data.
        case whole(isTruncated: Bool)
        /// The last fragment: all is in `buffers[slot]` until `release`.
        case assembled(slot: Int, isTruncated: Bool)
        /// More fragments will come.
        case pending
        /// A fragment without a beginning.
        case discarded
    }

    /// The longest advertisement, in bytes: 1,650.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.57.
    static let maximumLength = 1650
    /// The most advertisements that may be partial at a time.
    static let maximumPartials = 8
    /// The number of dropped advertisements that are remembered.
    static let maximumDropped = 64
    /// The longest time that the fragments of one advertisement may take.
    static let timeout = Duration.seconds(5)

    private struct Partial {
        var key: Key
        var begun: Duration
        var isOverlong = false
    }

    private var partials = [Partial?](repeating: nil, count: Self.maximumPartials)
    private var buffers = [[UInt8]](repeating: [], count: Self.maximumPartials)
    private var orphans: [(key: Key, since: Duration)] = []

    /// The number of partial advertisements that were given up.
    private(set) var dropped: UInt64 = 0
    /// The number of fragments without a beginning that were discarded.
    private(set) var discarded: UInt64 = 0

    /// The number of partial advertisements.
    private(set) var count = 0

    /// True where no fragment is waited for.
    @inline(__always)
    var isIdle: Bool { count == 0 && orphans.isEmpty }

    /// Takes a report from `sender`.
    mutating func add(_ report: borrowing AdvertisingReport, from sender: DeviceAddress, now: Duration) -> Result {
        if report.eventType.contains(.legacy) { return .whole(isTruncated: false) }
        expire(now: now)
        let key = Key(
            sender: sender,
            advertisingSID: report.advertisingSID,
            isScanResponse: report.eventType.contains(.scanResponse)
        )
        let isLast = report.dataStatus != .moreToCome
        if let slot = partials.firstIndex(where: { $0?.key == key }) {
            append(report.data, to: slot)
            guard isLast else { return .pending }
            let isTruncated = report.dataStatus == .truncated || partials[slot]?.isOverlong == true
            return .assembled(slot: slot, isTruncated: isTruncated)
        }
        if let orphan = orphans.firstIndex(where: { $0.key == key }) {
            if isLast { orphans.remove(at: orphan) }
            discarded &+= 1
            return .discarded
        }
        if isLast { return .whole(isTruncated: report.dataStatus == .truncated) }
        let slot = freeSlot(now: now)
        partials[slot] = Partial(key: key, begun: now)
        count += 1
        buffers[slot].removeAll(keepingCapacity: true)
        append(report.data, to: slot)
        return .pending
    }

    /// Hands out the bytes of an assembled advertisement and frees its slot; `giveBack` returns the buffer.
    mutating func take(slot: Int) -> [UInt8] {
        free(slot)
        var bytes: [UInt8] = []
        swap(&bytes, &buffers[slot])
        return bytes
    }

    /// Takes a buffer back, so that the next advertisement needs no new one.
    mutating func giveBack(_ bytes: consuming [UInt8], slot: Int) {
        buffers[slot] = bytes
    }

    /// Drops partial advertisements that are too old.
    mutating func expire(now: Duration) {
        for slot in partials.indices {
            guard let partial = partials[slot], now - partial.begun >= Self.timeout else { continue }
            free(slot)
            dropped &+= 1
        }
        if !orphans.isEmpty { orphans.removeAll { now - $0.since >= Self.timeout } }
    }

    /// Forgets every partial advertisement, as at the end of a scan.
    mutating func removeAll() {
        for slot in partials.indices { free(slot) }
        orphans.removeAll(keepingCapacity: true)
    }

    private mutating func append(_ data: Span<UInt8>, to slot: Int) {
        let room = Self.maximumLength - buffers[slot].count
        if data.count > room { partials[slot]?.isOverlong = true }
        for index in 0..<min(room, data.count) { buffers[slot].append(data[index]) }
    }

    private mutating func free(_ slot: Int) {
        if partials[slot] != nil { count -= 1 }
        partials[slot] = nil
    }

    private mutating func freeSlot(now: Duration) -> Int {
        var oldest = 0
        var oldestBegun: Duration?
        for slot in partials.indices {
            guard let partial = partials[slot] else { return slot }
            if oldestBegun.map({ partial.begun < $0 }) ?? true {
                oldest = slot
                oldestBegun = partial.begun
            }
        }
        if let partial = partials[oldest] {
            if orphans.count >= Self.maximumDropped { orphans.removeFirst() }
            orphans.append((partial.key, now))
            free(oldest)
            dropped &+= 1
        }
        return oldest
    }
}
