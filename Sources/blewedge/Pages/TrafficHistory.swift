// SPDX-License-Identifier: GPL-2.0-or-later

import Daemon

/// Bytes received and typed in each second of the last minute, from the counters of successive status answers.
struct TrafficHistory {
    static let seconds = 60

    private struct Second {
        var number: Int64
        var received: UInt64 = 0
        var typed: UInt64 = 0
    }

    private var past: [Second] = []
    private var last: (received: UInt64, typed: UInt64)?

    /// Records the counters of an answer that arrived at `now`; the first answer only sets the starting point.
    mutating func add(_ status: StatusAnswer, at now: Duration) {
        let counts = (received: status.count("received"), typed: status.count("typed"))
        defer { last = counts }
        // Smaller counters come from another daemon.
        guard let last, counts.received >= last.received, counts.typed >= last.typed else { return past = [] }
        let number = now.components.seconds
        if past.last?.number != number { past.append(Second(number: number)) }
        past[past.count - 1].received += counts.received - last.received
        past[past.count - 1].typed += counts.typed - last.typed
        past.removeAll { $0.number <= number - Int64(Self.seconds) }
    }

    /// Forgets all counters, because the daemon no longer answers.
    mutating func clear() { (past, last) = ([], nil) }

    /// Returns the bytes of each second of the last minute, oldest first.
    func values(at now: Duration) -> (received: [UInt64], typed: [UInt64]) {
        var values = (
            received: [UInt64](repeating: 0, count: Self.seconds), typed: [UInt64](repeating: 0, count: Self.seconds)
        )
        for second in past {
            let index = Int(clamping: second.number - now.components.seconds) + Self.seconds - 1
            guard values.received.indices.contains(index) else { continue }
            values.received[index] = second.received
            values.typed[index] = second.typed
        }
        return values
    }
}
