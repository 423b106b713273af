// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// The prepared writes of one peer: limited in number, bytes and time.
///
/// Core 6.0, Vol 3, Part F, 3.4.6.
struct GATTPreparedQueue: Sendable {
    private(set) var writes: [GATTServer.Write] = []
    private var byteCount = 0
    private var lastPrepared = Duration.zero
    /// The writes were given up; until the peer executes or cancels, it would not know which of its writes are left.
    private(set) var isVoid = false

    /// Puts a write behind the others; false when it does not fit.
    mutating func append(_ write: GATTServer.Write, now: Duration, _ limits: GATTServer.Limits) -> Bool {
        expire(now: now, after: limits.preparedTime)
        guard !isVoid, writes.count < limits.preparedWrites,
            byteCount &+ write.value.count <= limits.preparedBytes
        else { return false }
        writes.append(write)
        byteCount &+= write.value.count
        lastPrepared = now
        return true
    }

    /// Empties the queue and returns its writes; nil when it had become void.
    mutating func take(now: Duration, after time: Duration) -> [GATTServer.Write]? {
        expire(now: now, after: time)
        let taken = isVoid ? nil : writes
        self = GATTPreparedQueue()
        return taken
    }

    func deadline(after time: Duration) -> Duration? {
        writes.isEmpty ? nil : lastPrepared + time
    }

    mutating func expire(now: Duration, after time: Duration) {
        guard let deadline = deadline(after: time), deadline <= now else { return }
        writes = []
        byteCount = 0
        isVoid = true
    }
}
