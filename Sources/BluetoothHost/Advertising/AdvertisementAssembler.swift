// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// Assembles fragmented extended advertisements of several advertisers in parallel.
///
/// Memory is bounded: at most 8 partial advertisements of up to 1,650 bytes, in reusable buffers. When a ninth starts,
/// the oldest is abandoned, and its later fragments are discarded so that they are not mistaken for a complete
/// advertisement. A partial advertisement is also abandoned if it is not complete within 5 s, or if its first fragment
/// is received again, because some controllers never send the rest. `takeGivenUp` returns the received parts of
/// abandoned advertisements. Core 6.0, Vol 4, Part E, 7.7.65.13.
struct AdvertisementAssembler: Sendable {
    /// Identity of an advertisement; all its fragments have the same key.
    struct Key: Hashable, Sendable {
        var sender: DeviceAddress
        var advertisingSID: UInt8?
        var isScanResponse: Bool
    }

    enum Result: Equatable {
        /// The report contains all of the data.
        case whole(isTruncated: Bool)
        /// The report is the last fragment; all of the data stays in `buffers[slot]` until `take(slot:)`.
        case assembled(slot: Int, isTruncated: Bool)
        case pending
        /// The report is a fragment whose preceding fragments are missing.
        case discarded
    }

    /// Maximum length of an advertisement, in bytes (Core 6.0, Vol 4, Part E, 7.8.57).
    static let maximumLength = 1650
    static let maximumPartials = 8
    /// Maximum number of abandoned advertisements whose later fragments are discarded.
    static let maximumDropped = 64
    /// Maximum time between the first and the last fragment of an advertisement.
    static let timeout = Duration.seconds(5)

    /// Received part of an abandoned advertisement.
    struct Beginning: Sendable {
        var key: Key
        var eventType: AdvertisingEventType
        /// RSSI of the last fragment that reported one; nil if no fragment did.
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

    /// Number of abandoned advertisements.
    private(set) var dropped: UInt64 = 0
    /// Number of fragments that were discarded because preceding fragments are missing.
    private(set) var discarded: UInt64 = 0

    private(set) var count = 0

    /// True if no further fragments of any advertisement are expected.
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

    /// Returns the received parts of the advertisements that were abandoned since the last call.
    mutating func takeGivenUp() -> [Beginning] {
        if givenUp.isEmpty { return [] }
        defer { givenUp.removeAll() }
        return givenUp
    }

    /// Frees the slot of an assembled advertisement and returns its bytes; `giveBack` returns the buffer for reuse.
    mutating func take(slot: Int) -> [UInt8] {
        free(slot)
        var bytes: [UInt8] = []
        swap(&bytes, &buffers[slot])
        return bytes
    }

    /// Returns a buffer for reuse by the next advertisement.
    mutating func giveBack(_ bytes: consuming [UInt8], slot: Int) {
        buffers[slot] = bytes
    }

    /// Abandons partial advertisements that have timed out.
    mutating func expire(now: Duration) {
        for slot in partials.indices {
            guard let partial = partials[slot], now - partial.begun >= Self.timeout else { continue }
            giveUp(slot)
        }
        if !orphans.isEmpty { orphans.removeAll { now - $0.since >= Self.timeout } }
    }

    /// Discards all partial advertisements, for example at the end of a scan.
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

    /// Returns true if the data repeats the first fragment, which restarts an advertisement that was never completed.
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
