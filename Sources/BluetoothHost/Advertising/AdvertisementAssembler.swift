// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// Puts the fragments of extended advertisements together, those of several advertisers side by side.
///
/// Memory is bounded: 8 partial advertisements of at most 1,650 bytes, in buffers that are used again. When a ninth
/// begins, the oldest is given up and what still comes of it is discarded, for its rest alone would look like a whole
/// advertisement. A partial one that is not finished within 5 s is given up, and so is one whose first fragment comes
/// again: there are controllers that never send the rest. `takeGivenUp` returns the beginnings of those given up. Core
/// 6.0, Vol 4, Part E, 7.7.65.13.
struct AdvertisementAssembler: Sendable {
    /// The identity of an advertisement: fragments that share it belong together.
    struct Key: Hashable, Sendable {
        var sender: DeviceAddress
        var advertisingSID: UInt8?
        var isScanResponse: Bool
    }

    enum Result: Equatable {
        /// The report holds all of the data.
        case whole(isTruncated: Bool)
        /// The last fragment: all is in `buffers[slot]` until `release`.
        case assembled(slot: Int, isTruncated: Bool)
        case pending
        /// A fragment without a beginning.
        case discarded
    }

    /// The longest advertisement, in bytes: 1,650 (Core 6.0, Vol 4, Part E, 7.8.57).
    static let maximumLength = 1650
    static let maximumPartials = 8
    /// The number of dropped advertisements that are remembered.
    static let maximumDropped = 64
    /// The longest time that the fragments of one advertisement may take.
    static let timeout = Duration.seconds(5)

    /// The beginning of an advertisement that was given up.
    struct Beginning: Sendable {
        var key: Key
        var eventType: AdvertisingEventType
        /// The strength of its last fragment, where it is known.
        var rssi: Int8?
        var lastHeard: Duration
        var bytes: [UInt8]
    }

    private struct Partial {
        var key: Key
        var begun: Duration
        var firstLength: Int
        var eventType: AdvertisingEventType
        var rssi: Int8?
        var lastHeard: Duration
        var isOverlong = false
    }

    private var partials = [Partial?](repeating: nil, count: Self.maximumPartials)
    private var buffers = [[UInt8]](repeating: [], count: Self.maximumPartials)
    private var orphans: [(key: Key, since: Duration)] = []
    private var givenUp: [Beginning] = []

    /// The number of partial advertisements that were given up.
    private(set) var dropped: UInt64 = 0
    /// The number of fragments without a beginning that were discarded.
    private(set) var discarded: UInt64 = 0

    private(set) var count = 0

    /// True where no fragment is waited for.
    @inline(__always)
    var isIdle: Bool { count == 0 && orphans.isEmpty }

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
            if !isLast, beginsAnew(report.data, in: slot) {
                giveUp(slot)
                begin(report, key, in: slot, now: now)
                return .pending
            }
            append(report.data, to: slot)
            partials[slot]?.eventType = report.eventType
            if let rssi = report.rssi { partials[slot]?.rssi = rssi }
            partials[slot]?.lastHeard = now
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
        begin(report, key, in: freeSlot(now: now), now: now)
        return .pending
    }

    /// The beginnings of advertisements that were given up since the last call.
    mutating func takeGivenUp() -> [Beginning] {
        if givenUp.isEmpty { return [] }
        defer { givenUp.removeAll() }
        return givenUp
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

    /// Gives up partial advertisements that are too old.
    mutating func expire(now: Duration) {
        for slot in partials.indices {
            guard let partial = partials[slot], now - partial.begun >= Self.timeout else { continue }
            giveUp(slot)
        }
        if !orphans.isEmpty { orphans.removeAll { now - $0.since >= Self.timeout } }
    }

    /// Forgets every partial advertisement, as at the end of a scan.
    mutating func removeAll() {
        for slot in partials.indices { free(slot) }
        orphans.removeAll(keepingCapacity: true)
        givenUp.removeAll()
    }

    private mutating func begin(_ report: borrowing AdvertisingReport, _ key: Key, in slot: Int, now: Duration) {
        partials[slot] = Partial(
            key: key,
            begun: now,
            firstLength: report.data.count,
            eventType: report.eventType,
            rssi: report.rssi,
            lastHeard: now
        )
        count += 1
        buffers[slot].removeAll(keepingCapacity: true)
        append(report.data, to: slot)
    }

    /// True for the first fragment of the partial advertisement once more: it begins again, and its rest was never sent.
    private func beginsAnew(_ data: Span<UInt8>, in slot: Int) -> Bool {
        guard data.count > 0, data.count == partials[slot]?.firstLength else { return false }
        return Self.begins(buffers[slot], with: data)
    }

    private static func begins(_ bytes: borrowing [UInt8], with data: Span<UInt8>) -> Bool {
        bytes.span.begins(with: data)
    }

    private mutating func giveUp(_ slot: Int) {
        guard let partial = partials[slot] else { return }
        free(slot)
        dropped &+= 1
        var bytes: [UInt8] = []
        swap(&bytes, &buffers[slot])
        givenUp.append(
            Beginning(
                key: partial.key,
                eventType: partial.eventType,
                rssi: partial.rssi,
                lastHeard: partial.lastHeard,
                bytes: bytes
            )
        )
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
            giveUp(oldest)
        }
        return oldest
    }
}
