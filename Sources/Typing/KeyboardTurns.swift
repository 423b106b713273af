// SPDX-License-Identifier: GPL-2.0-or-later

/// Turns of several typists, the lanes, on one keyboard (D-42).
///
/// A turn begins with a lane's first write. It ends
///
/// - with the write that completes a barcode;
/// - `gap` after the last write if another lane asks and the holder has nothing to write. The limit is `longestGap`
///   while the holder has more to write, or is within a keystroke, so that a delayed thread does not split a barcode;
/// - when the holder asks again, while another lane waits, and its turn has `mostKeystrokes` keystrokes, or another
///   lane has waited for `longestTurn` during the turn. This cut is counted. It never splits a keystroke.
///
/// Lanes wait in a queue in the order of their first request. It has at most one entry for each lane. A waiting lane
/// must ask again at the time that it was given; if it is `patience` late, its entry is removed, so that a lane without
/// bytes does not block the others.
///
/// Times are nanoseconds of a monotonic clock.
struct KeyboardTurns: Sendable {
    /// Time after the last write at which the turn of a lane without bytes ends, if another lane asks.
    static let gap: Int64 = 100_000_000
    /// Time after the last write at which any turn ends, if another lane asks.
    static let longestGap: Int64 = 1_000_000_000
    /// Number of keystrokes after which a turn is cut while another lane waits.
    static let mostKeystrokes = 512
    /// Time for which another lane waits before a turn is cut; a slow pace extends it.
    static let usualTurn: Int64 = 250_000_000
    /// Time by which a waiting lane may be late before it loses its place in the queue.
    static let patience: Int64 = 50_000_000

    private struct Turn {
        let lane: Int
        let start: Int64
        var lastWrite: Int64
        var keystrokes = 0
        /// True from the permission to write until the report of the write.
        var isWriting = true
        var isBetweenKeystrokes = true
        /// True if the lane has had nothing to write since the last write.
        var isResting = false

        /// Time at which another lane may end the turn.
        var end: Int64 { lastWrite &+ (isResting && isBetweenKeystrokes ? gap : longestGap) }
    }

    private struct Waiter {
        let lane: Int
        /// Time of the first request.
        let since: Int64
        /// Time at which the lane must ask again.
        var due: Int64
    }

    /// Minimum time between the writes of two lanes.
    private(set) var separation: Int64
    /// Time for which another lane waits before a turn is cut.
    private(set) var longestTurn: Int64
    private var turn: Turn?
    private var lastWrite: (lane: Int, time: Int64)?
    private var queue: [Waiter] = []
    /// Number of cut turns of each lane that has any.
    private(set) var cuts: [Int: UInt64] = [:]

    init(separation: Int64 = 0, longestTurn: Int64 = KeyboardTurns.usualTurn) {
        self.separation = separation
        self.longestTurn = longestTurn
    }

    /// Raises the limits for a lane whose pace needs more.
    mutating func extend(separation: Int64, longestTurn: Int64) {
        self.separation = max(self.separation, separation)
        self.longestTurn = max(self.longestTurn, longestTurn)
    }

    /// Lane that may begin the next turn when it asks; nil during a turn, or if no lane waits.
    var next: Int? { turn == nil ? queue.first?.lane : nil }

    /// Requests permission for one write; returns nil if the lane may write now, or the time at which to ask again.
    ///
    /// After permission, `wrote` must be called. After a refusal, `next` may have to be woken, because the request may
    /// have ended a turn.
    mutating func claim(lane: Int, now: Int64) -> Int64? {
        queue.removeAll { $0.lane != lane && now > $0.due &+ Self.patience }
        endTurn(askedBy: lane, now)
        if let turn {
            guard turn.lane == lane else {
                return wait(lane, now, until: turn.isWriting ? now &+ Self.gap : min(turn.end, now &+ Self.gap))
            }
            self.turn?.isWriting = true
            self.turn?.isResting = false
            return nil
        }
        if let first = queue.first, first.lane != lane {
            return wait(lane, now, until: first.due &+ Self.patience &+ 1)
        }
        if let lastWrite, lastWrite.lane != lane, now < lastWrite.time &+ separation {
            return wait(lane, now, until: lastWrite.time &+ separation)
        }
        queue.removeAll { $0.lane == lane }
        turn = Turn(lane: lane, start: now, lastWrite: now)
        return nil
    }

    /// Records a permitted write that ended at `now`; returns the lanes to wake.
    ///
    /// `keystrokes` is the number of keys that the write pressed.
    @discardableResult
    mutating func wrote(
        lane: Int,
        now: Int64,
        keystrokes: Int,
        endsBarcode: Bool,
        isBetweenKeystrokes: Bool
    ) -> [Int] {
        guard turn?.lane == lane else { return [] }
        lastWrite = (lane, now)
        turn?.isWriting = false
        turn?.lastWrite = now
        turn?.keystrokes += keystrokes
        turn?.isBetweenKeystrokes = isBetweenKeystrokes
        guard endsBarcode, isBetweenKeystrokes else { return [] }
        finish(now)
        return next.map { [$0] } ?? []
    }

    /// Records that the lane has nothing to write for now.
    mutating func rest(lane: Int) {
        guard let turn, turn.lane == lane, !turn.isWriting else { return }
        self.turn?.isResting = true
    }

    /// Resumes on a replacement keyboard, on which nothing is typed before `time`.
    ///
    /// The turn continues, because the field still contains the beginning of its barcode.
    mutating func restart(at time: Int64) {
        turn?.isWriting = false
        turn?.isBetweenKeystrokes = true
        turn?.lastWrite = time
        queue.removeAll()
    }

    /// Ends the lane's turn and its wait.
    mutating func leave(lane: Int, now: Int64) {
        queue.removeAll { $0.lane == lane }
        if turn?.lane == lane { finish(now) }
    }

    /// Removes a lane and its count, so that its number can be used again.
    mutating func remove(lane: Int, now: Int64) {
        leave(lane: lane, now: now)
        if lastWrite?.lane == lane { lastWrite?.lane = -1 }
        cuts[lane] = nil
    }

    /// Ends the current turn if a limit is exceeded at this request.
    private mutating func endTurn(askedBy lane: Int, _ now: Int64) {
        guard let turn, !turn.isWriting else { return }
        guard turn.lane == lane else {
            if now >= turn.end { finish(now) }
            return
        }
        // A lane that had no bytes for a while begins a new turn. A lane that was only delayed keeps its turn.
        if turn.isResting, now >= turn.end { return finish(now) }
        guard turn.isBetweenKeystrokes, let first = queue.first else { return }
        // A wait during earlier turns does not count against this one.
        let waited = now &- max(turn.start, first.since)
        guard turn.keystrokes >= Self.mostKeystrokes || waited >= longestTurn else { return }
        cuts[lane, default: 0] &+= 1
        finish(now)
    }

    /// Ends the current turn; the first waiting lane must ask when it may write.
    private mutating func finish(_ now: Int64) {
        turn = nil
        guard !queue.isEmpty else { return }
        queue[0].due = max(now, lastWrite.map { $0.time &+ separation } ?? now)
    }

    private mutating func wait(_ lane: Int, _ now: Int64, until due: Int64) -> Int64 {
        if let place = queue.firstIndex(where: { $0.lane == lane }) {
            queue[place].due = due
        } else {
            queue.append(Waiter(lane: lane, since: now, due: due))
        }
        return due
    }
}
