// SPDX-License-Identifier: GPL-2.0-or-later

/// Typing pace: the longest application stall that it survives, and the times between key events.
///
/// It obeys one law (D-13): within any period as long as the stall S, no more events are written than the application's
/// event queue can hold unread, which is one less than the queue's size (`ReaderQueue`). There are two kinds of pace.
/// Either is rejected if it would need more than 50 ms between two characters. For numbers that depend on the queue,
/// the first one below applies to a queue of 256 events, and the one in brackets to a queue of 64 events.
///
/// Even pace: each keystroke is a single write. A whole barcode is written at once if the window has room for it;
/// otherwise, a keystroke of n events takes n/252 (n/60) of S (see `Pacer`), which is 4S/252 between plain keys and
/// 6S/252 between shifted keys. S can therefore be just under 2100 ms (500 ms).
///
/// Spread pace: the modifiers, the press and the release of a key are separate writes, `lead`, `hold` and `gap` apart.
/// Each write has at most 3 events (two changes and a report), so 86 (22) writes exceed the window. There are 85 (21)
/// pauses between them, so each pause must be longer than S/85 (S/21). A shifted key contains two pauses if there is no
/// lead, so that S may be up to 2125 ms (525 ms), or three pauses with a lead, so that S may be up to 1416 ms (350 ms).
public struct Pace: Equatable, Sendable {
    /// Named paces, each for one kind of application.
    public enum Profile: String, CaseIterable, Sendable {
        /// A text console, which needs no pauses.
        ///
        /// The kernel's terminal reads keys immediately and has no event queue.
        case console
        /// A full-screen program that reads its input once per frame (SDL on KMS, Qt eglfs).
        ///
        /// The assumed stall is 34 ms, because two frames at 60 Hz take 33.4 ms. With a queue of 256 events, a plain
        /// key takes 0.54 ms and a shifted one 0.81 ms, which is 1850 and 1230 characters per second. With a queue of
        /// 64 events, they take 2.3 ms and 3.4 ms, which is 440 and 290 characters per second.
        case kms
        /// X11 and Wayland desktops; the default.
        ///
        /// The assumed stall is 100 ms. With a queue of 256 events, a plain key takes 1.6 ms and a shifted one 2.4 ms,
        /// which is 630 and 420 characters per second. With a queue of 64 events, they take 6.7 ms and 10 ms, which is
        /// 150 and 100 characters per second. An EAN-13 barcode with its Enter has 56 events, so it is written at once.
        case desktop
        /// Input methods, and programs that recognize a scanner by its rhythm.
        ///
        /// Each key is down for 8 ms and up for 8 ms, as typed by a wired scanner, and no barcode is written at once.
        /// The speed is 62 characters per second with either queue size. With a queue of 256 events, the assumed stall
        /// is 640 ms, because 85 pauses of 8 ms take 680 ms. With a queue of 64 events, it is 160 ms, because 21 pauses
        /// take 168 ms.
        case scanner
        /// Remote desktops, virtual machines, and input methods that lose Shift.
        ///
        /// A modifier precedes its key by 10 ms, and each key is down for 10 ms and up for 10 ms. The speed is 50 plain
        /// or 33 shifted characters per second with either queue size. With a queue of 256 events, the assumed stall is
        /// 800 ms, because 85 pauses of 10 ms take 850 ms. With a queue of 64 events, it is 200 ms, because 21 pauses
        /// take 210 ms.
        case slow

        /// Short description of the purpose of the profile, for users.
        public var summary: String {
            switch self {
            case .console: "text consoles, without pauses"
            case .kms: "full-screen programs that read once per frame"
            case .desktop: "X11 and Wayland desktops"
            case .scanner: "browsers and input methods, with the rhythm of a wired scanner"
            case .slow: "remote desktops and virtual machines"
            }
        }

        /// Returns the longest stall that the profile survives with this queue, in nanoseconds; 0 if it assumes no
        /// stalls.
        ///
        /// With the larger queue, an even pace is faster, and a spread pace survives longer stalls.
        public func stall(_ queue: ReaderQueue) -> Int64 {
            switch (self, queue) {
            case (.console, _): 0
            case (.kms, _): 34 * Pace.millisecond
            case (.desktop, _): 100 * Pace.millisecond
            case (.scanner, .small): 160 * Pace.millisecond
            case (.scanner, .large): 640 * Pace.millisecond
            case (.slow, .small): 200 * Pace.millisecond
            case (.slow, .large): 800 * Pace.millisecond
            }
        }
    }

    /// Error for a stall that is negative, or that would require pauses longer than `longestGap`.
    public struct StallError: Error, Equatable, Sendable, CustomStringConvertible {
        /// Requested stall, in nanoseconds.
        public var stall: Int64
        /// Longest stall that this pace allows, in nanoseconds.
        public var greatest: Int64
        /// Event queue for which `greatest` is the limit.
        public var queue: ReaderQueue

        /// One-line description for users.
        public var description: String {
            "stall of \(stall / Pace.millisecond) ms: must be from 0 to \(greatest / Pace.millisecond) ms here, because a longer one needs more than 50 ms "
                + "between two characters with a queue of \(queue.size) events"
        }
    }

    /// Longest allowed pause between two characters of one barcode, in nanoseconds.
    public static let longestGap: Int64 = 50_000_000
    /// Longest stall that any pace allows with any queue, in nanoseconds.
    public static let greatestStall = greatestSpreadStall(pausesPerKey: 2, .large)

    private static let millisecond: Int64 = 1_000_000

    /// Event queue that the kernel keeps for each application.
    public let queue: ReaderQueue
    /// Longest stall that the pace survives, in nanoseconds; 0 if it assumes no stalls.
    public let stall: Int64
    /// Time from the press of a modifier to the press of its key, in nanoseconds; if 0, both are in one write.
    public let lead: Int64
    /// Time from the press of a key to its release, in nanoseconds; if 0, both are in one write.
    public let hold: Int64
    /// Time from the release of a key to the next keystroke of a spread pace, in nanoseconds.
    public let gap: Int64

    /// Creates the pace of a profile; `stall`, in nanoseconds, replaces the profile's default.
    public init(_ profile: Profile, stall: Int64? = nil, queue: ReaderQueue) throws(StallError) {
        let stall = stall ?? profile.stall(queue)
        switch profile {
        case .console, .kms, .desktop: try self.init(stall: stall, queue: queue)
        case .scanner: try self.init(stall: stall, lead: 0, pause: 8 * Self.millisecond, queue)
        case .slow: try self.init(stall: stall, lead: 10 * Self.millisecond, pause: 10 * Self.millisecond, queue)
        }
    }

    /// Creates an even pace.
    public init(stall: Int64, queue: ReaderQueue) throws(StallError) {
        let greatest = Self.greatestStall(ofKeystroke: EventBatch.shiftedKey, queue)
        guard stall >= 0, stall <= greatest else { throw StallError(stall: stall, greatest: greatest, queue: queue) }
        self.stall = stall
        self.queue = queue
        (lead, hold, gap) = (0, 0, 0)
    }

    /// Creates a spread pace with these pauses, which are lengthened if the stall requires it.
    private init(stall: Int64, lead: Int64, pause: Int64, _ queue: ReaderQueue) throws(StallError) {
        let greatest = Self.greatestSpreadStall(pausesPerKey: lead > 0 ? 3 : 2, queue)
        guard stall >= 0, stall <= greatest else { throw StallError(stall: stall, greatest: greatest, queue: queue) }
        let least = stall / Self.pauses(queue) + 1
        self.stall = stall
        self.queue = queue
        self.lead = lead > 0 ? max(lead, least) : 0
        hold = max(pause, least)
        gap = max(pause, least)
    }

    /// Throws an error if a byte with this many events, the longest of a table, would take longer than `longestGap`.
    ///
    /// Accepts every table if the pace is spread: to the application, each keystroke of a byte is a separate character,
    /// and the pauses do not depend on the table.
    public func check(longestByte events: Int) throws(StallError) {
        guard !isSpread, events > 0 else { return }
        let greatest = Self.greatestStall(ofKeystroke: events, queue)
        guard stall <= greatest else { throw StallError(stall: stall, greatest: greatest, queue: queue) }
    }

    /// Returns the longest stall, in nanoseconds, for which an even pace types a keystroke within `longestGap`.
    ///
    /// `events` is the number of events of the keystroke.
    static func greatestStall(ofKeystroke events: Int, _ queue: ReaderQueue) -> Int64 {
        (longestGap - 1) * queue.paced / Int64(events)
    }

    /// Returns the longest stall, in nanoseconds, at which a pace that spreads its events still types a shifted key
    /// within `longestGap`.
    private static func greatestSpreadStall(pausesPerKey: Int64, _ queue: ReaderQueue) -> Int64 {
        (longestGap / pausesPerKey - 1) * pauses(queue)
    }

    /// Returns the number of pauses in the shortest run of three-event writes that exceeds the window.
    private static func pauses(_ queue: ReaderQueue) -> Int64 { Int64(queue.window / 3) }

    /// True if a keystroke takes more than one write.
    public var isSpread: Bool { hold > 0 }

    /// Returns the time that `count` keystrokes with a modifier take, in nanoseconds.
    public func longestTime(ofKeystrokes count: Int) -> Int64 {
        let each = isSpread ? lead + hold + gap : Int64(EventBatch.shiftedKey) * stall / queue.paced
        return Int64(count) * each
    }
}

extension EventBatch {
    /// Part of a keystroke that one write contains.
    enum Part {
        /// Whole keystrokes, each from press to release.
        case whole
        /// Modifiers that are pressed before their key.
        case modifiers
        case press
        case release
    }

    /// Classifies the events in `start..<end`.
    func part(_ start: Int, _ end: Int) -> Part {
        guard start > 0 || end < count else { return .whole }
        var part = Part.modifiers
        for index in start..<end {
            guard let event = self[index], event.type == InputEvent.key else { continue }
            if event.value == 0 { return .release }
            if !Self.modifiers.contains(event.code) { part = .press }
        }
        return part
    }

    /// Inserts a report between modifier presses and the key, so that applications see the modifiers first.
    mutating func separateModifiers() {
        let events = (0..<count).compactMap { self[$0] }
        clear()
        var holdsModifier = false
        for event in events {
            let isPress = event.type == InputEvent.key && event.value == 1
            let isModifier = isPress && Self.modifiers.contains(event.code)
            if holdsModifier, isPress, !isModifier { append(.report) }
            append(event)
            holdsModifier = isModifier
        }
    }

    /// Left and right Control, Shift, Alt and Meta.
    private static let modifiers: Set<UInt16> = [29, 42, 54, 56, 97, 100, 125, 126]
}

/// Event queue that the kernel keeps for each application that reads a keyboard.
///
/// Its size is eight times the number of events in the longest frame that the device could send, rounded up to a power
/// of two: 64 events for a device with keys only, and 256 if the device also declares nine relative axes. No event is
/// ever sent on these axes. The corresponding C function is `evdev_compute_buffer_size`, in Linux's
/// drivers/input/evdev.c.
public enum ReaderQueue: Int, CaseIterable, Sendable {
    /// Queue of a device with keys only; for Xorg's evdev driver, which treats a device with axes as a pointer.
    case small = 64
    /// Queue of a device that declares nine relative axes in addition to its keys.
    case large = 256

    /// Size in events, including the event that makes the queue overflow.
    public var size: Int { rawValue }
    /// Maximum number of unread events without an overflow; one slot distinguishes a full queue from an empty one.
    public var window: Int { rawValue - 1 }
    /// Largest number of events that fits into the window and is a multiple of the events of plain and of shifted
    /// keystrokes.
    var paced: Int64 { Int64(window / Self.commonKeystroke * Self.commonKeystroke) }
    /// Least common multiple of the event counts of a plain and a shifted keystroke.
    private static let commonKeystroke = 12

    /// Codes of the relative axes to declare for this queue: Z, RX, RY, RZ, MISC, and four unused codes.
    ///
    /// X, Y, the wheels and DIAL are left out, because programs recognize a pointer by them.
    public var axes: [UInt16] {
        switch self {
        case .small: []
        case .large: [0x02, 0x03, 0x04, 0x05, 0x09, 0x0A, 0x0D, 0x0E, 0x0F]
        }
    }
}

/// Rate limiter for events, so that a stalled application loses none of them.
///
/// The kernel keeps Q events for each application that reads a keyboard (`ReaderQueue`): Q - 1 unread events survive,
/// and the next one discards all of them. So the law is: within any period as long as the stated stall (both ends
/// included), at most Q - 1 events are written, reports included. The pacer remembers exactly how many events were
/// written within the last stall, and allows the rest.
///
/// Text that does not fit into the window is spread out. P, the largest multiple of twelve in Q - 1, is Q - 4, so a
/// stall has room for whole keystrokes of P events: P/4 plain ones of four events, or P/6 shifted ones of six. A
/// keystroke of n events therefore takes n/P of the stall, and one that is larger than its predecessor also waits for
/// the difference. At that pace, the law never delays a keystroke. Proof: assume that it would delay the last of the
/// keystrokes i … j. All keystrokes before j then have at least P - 2 events together, and exactly P - 2 only if j is a
/// shifted keystroke and some of the earlier ones are plain. In that case, the pacer also waited for a difference of
/// two events. P shares, a whole stall, therefore lie between i and j.
///
/// Times are nanoseconds of a monotonic clock. Events are recorded with the time after their write, but requested with
/// the time before it, so that a slow write only makes the pacer more cautious.
///
/// The pauses of a spread pace (`Pace`) obey the law by themselves; the pacer still checks it.
public struct Pacer: Sendable {
    /// Pace that the pacer enforces.
    public let pace: Pace

    /// Times of the writes that are still in the window, as a ring that begins at `first`.
    ///
    /// It has room for the largest window if every write has the minimum size: a change and its report.
    private var times = InlineArray<128, Int64>(repeating: 0)
    private var counts = InlineArray<128, Int>(repeating: 0)
    private var first = 0
    private var writes = 0
    /// Total number of events in the writes that are still in the window.
    private var inWindow = 0
    /// Time before which no keystroke is written, to keep an even pace.
    private var paidUntil = Int64.min
    /// Number of events of the last write if it was one shifted keystroke; otherwise, the number of a plain keystroke.
    private var lastKeystroke = EventBatch.plainKey

    /// Earliest time at which a spread pace allows the next part of a keystroke.
    private var notBefore = Int64.min

    /// Creates a pacer for the given pace.
    public init(_ pace: Pace) {
        self.pace = pace
    }

    /// Creates a pacer for an even pace that survives a stall of `stall` nanoseconds; 0 disables pacing.
    public init(stall: Int64, queue: ReaderQueue) throws(Pace.StallError) {
        self.init(try Pace(stall: stall, queue: queue))
    }

    /// True if pacing is off, so that everything may be written at once.
    public var isUnlimited: Bool { pace.stall == 0 && !pace.isSpread }

    /// True if a keystroke takes more than one write.
    var isSpread: Bool { pace.isSpread }

    private var stall: Int64 { pace.stall }
    private var window: Int { pace.queue.window }

    /// Returns the number of events that may be written at `now`.
    public mutating func allowance(now: Int64) -> Int {
        guard !isUnlimited else { return Int.max }
        while writes > 0, now &- times[first] > stall {
            inWindow -= counts[first]
            first = (first + 1) % times.count
            writes -= 1
        }
        return max(0, window - inWindow)
    }

    /// Records that `events` events were written; `now` is the time after the write.
    mutating func record(events: Int, now: Int64, _ part: EventBatch.Part = .whole) {
        guard !isUnlimited, events > 0 else { return }
        switch part {
        case .modifiers: notBefore = now &+ pace.lead
        case .press: notBefore = now &+ pace.hold
        case .release, .whole: notBefore = now &+ pace.gap
        }
        _ = allowance(now: now)
        if writes == times.count {
            // There are more writes than the law allows: merge the last two, at the later time.
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

    /// Returns the earliest time, not before `now`, at which the law allows `events` events in one write.
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

    /// Returns the earliest time, not before `now`, at which the pace allows a keystroke of `events` events.
    public func pacedTime(forEvents events: Int, now: Int64) -> Int64 {
        guard !isUnlimited else { return now }
        guard !isSpread else { return max(nextTime(forEvents: events, now: now), notBefore) }
        let larger = events - lastKeystroke
        let paid = larger > 0 && paidUntil != Int64.min ? paidUntil &+ share(of: larger) : paidUntil
        return max(nextTime(forEvents: events, now: now), paid)
    }

    /// Returns true if, after `events` events written at `now`, further text could follow within `Pace.longestGap`.
    public func canGoOn(afterEvents events: Int, now: Int64) -> Bool {
        let larger = share(of: EventBatch.shiftedKey - EventBatch.plainKey)
        return max(paidUntil, now) &+ share(of: events) &+ larger &- now <= Pace.longestGap
    }

    /// Returns the time that `events` events take at the even pace.
    private func share(of events: Int) -> Int64 {
        Int64(events) * stall / pace.queue.paced + 1
    }
}
