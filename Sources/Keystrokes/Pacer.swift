// SPDX-License-Identifier: GPL-2.0-or-later

/// How many events may leave now, so that a reader that stalls loses nothing.
///
/// The kernel keeps Q events for each reader of a keyboard (`ReaderQueue`): Q - 1 unread ones survive, the next throws all
/// away. So the law is: in no window as long as the stated stall (both ends included) do more than Q - 1 events leave,
/// reports counted. The pacer remembers what left within the last stall, exactly, and allows the rest.
///
/// Text that does not fit at once is spread out: Q - 1 is three more than P, a multiple of twelve, so in whole keystrokes
/// a stall has P/4 plain ones of four events or P/6 shifted ones of six, P events either way. So a keystroke of n events
/// takes n/P of the stall, and one that is larger than the one before waits for the difference too. At that pace the law
/// never holds a keystroke back: for keystrokes i … j that it would, the first to the last but one have P - 2 events or
/// more, P - 2 only if j is a large one and some are small, and then there was a difference of two to wait for: P parts, a
/// stall, lie between i and j.
///
/// Times are nanoseconds of a monotonic clock. Events are counted from the time after their write, and asked for at the
/// time before it, so that a slow write errs towards safety.
///
/// Where keystrokes are spread out (`Pace`), their pauses keep the law, and it is asked all the same.
public struct Pacer: Sendable {
    /// The rhythm.
    public let pace: Pace

    /// Writes that are still in the window, oldest first, from `first` on and around: of the largest window, each of the
    /// least events, a change and its report.
    private var times = InlineArray<128, Int64>(repeating: 0)
    private var counts = InlineArray<128, Int>(repeating: 0)
    private var first = 0
    private var writes = 0
    /// Events of all those writes.
    private var inWindow = 0
    /// When the last write has had its time at the even pace.
    private var paidUntil = Int64.min
    /// Events of the last keystroke; the small number where there were several.
    private var lastKeystroke = EventBatch.plainKey

    /// When the next part of a spread keystroke may leave.
    private var notBefore = Int64.min

    /// A pacer of that rhythm.
    public init(_ pace: Pace) {
        self.pace = pace
    }

    /// A pacer of an even rhythm, for readers that stall `stall` nanoseconds at most; 0 allows everything at once.
    public init(stall: Int64, queue: ReaderQueue) throws(Pace.StallError) {
        self.init(try Pace(stall: stall, queue: queue))
    }

    /// True when everything may leave at once.
    public var isUnlimited: Bool { pace.stall == 0 && !pace.isSpread }

    /// True where a keystroke is more than one write.
    var isSpread: Bool { pace.isSpread }

    private var stall: Int64 { pace.stall }
    private var window: Int { pace.queue.window }

    /// The number of events that may leave at `now`.
    public mutating func allowance(now: Int64) -> Int {
        guard !isUnlimited else { return Int.max }
        while writes > 0, now &- times[first] > stall {
            inWindow -= counts[first]
            first = (first + 1) % times.count
            writes -= 1
        }
        return max(0, window - inWindow)
    }

    /// Takes note that `events` have left; `now` is the time after the write.
    mutating func record(events: Int, now: Int64, _ part: EventBatch.Part = .whole) {
        guard !isUnlimited, events > 0 else { return }
        switch part {
        case .modifiers: notBefore = now &+ pace.lead
        case .press: notBefore = now &+ pace.hold
        case .release, .whole: notBefore = now &+ pace.gap
        }
        _ = allowance(now: now)
        if writes == times.count {
            // More writes than the law allows: the last two become one, at the later time.
            writes -= 1
            let last = (first + writes) % times.count
            times[last] = now
            counts[last] += events
        } else {
            let next = (first + writes) % times.count
            times[next] = now
            counts[next] = events
        }
        writes += 1
        inWindow += events
        paidUntil = max(paidUntil, now) &+ share(of: events)
        lastKeystroke = events == EventBatch.shiftedKey ? events : EventBatch.plainKey
    }

    /// The first time from `now` on at which the law lets `events` leave together.
    public func nextTime(forEvents events: Int, now: Int64) -> Int64 {
        var excess = inWindow + events - window
        var time = now
        var index = 0
        while excess > 0, index < writes {
            let place = (first + index) % times.count
            excess -= counts[place]
            time = max(time, times[place] &+ stall &+ 1)
            index += 1
        }
        return time
    }

    /// The first time from `now` on at which a keystroke of `events` may leave at the even pace.
    public func pacedTime(forEvents events: Int, now: Int64) -> Int64 {
        guard !isUnlimited else { return now }
        guard !isSpread else { return max(nextTime(forEvents: events, now: now), notBefore) }
        let larger = events - lastKeystroke
        let paid = larger > 0 && paidUntil != Int64.min ? paidUntil &+ share(of: larger) : paidUntil
        return max(nextTime(forEvents: events, now: now), paid)
    }

    /// True when text that goes on after `events` at `now` could do so within the longest gap.
    public func canGoOn(afterEvents events: Int, now: Int64) -> Bool {
        let larger = share(of: EventBatch.shiftedKey - EventBatch.plainKey)
        return max(paidUntil, now) &+ share(of: events) &+ larger &- now <= Pace.longestGap
    }

    /// The time that `events` take at the even pace.
    private func share(of events: Int) -> Int64 {
        Int64(events) * stall / pace.queue.paced + 1
    }
}
