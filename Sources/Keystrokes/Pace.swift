// SPDX-License-Identifier: GPL-2.0-or-later

/// A rhythm of typing: the stall of the reader that it survives, and how long keys are held.
///
/// The law (D-13): in no window as long as the stall S do more events leave than a reader's queue keeps, which is one less
/// than its size (`ReaderQueue`). There are two ways to keep it, and each is refused where it would take more than 50 ms from
/// one character to the next. What follows is for a queue of 256 events, in brackets for one of 64.
///
/// Even: a keystroke is one write, whole barcodes leave at once where the window has room, and others at n/252 (n/60) of S a
/// keystroke of n events (see `Pacer`): 4S/252 from one plain key to the next, 6S/252 from one shifted key to the next.
/// So S may be just under 2100 ms (500 ms).
///
/// Spread: modifiers, press and release of a key are writes of their own, `lead`, `hold` and `gap` apart, each of at most 3
/// events (two changes and a report). 86 (22) such writes pass the window, and have 85 (21) pauses between them, so no pause
/// is shorter than S/85 (S/21) and a nanosecond. A shifted key takes all its pauses: two where there is no lead, so S may
/// be up to 2125 ms (525 ms), or three, so S may be up to 1416 ms (350 ms).
public struct Pace: Equatable, Sendable {
    /// The rhythms that have a name, by who reads the keys.
    public enum Profile: String, CaseIterable, Sendable {
        /// A text console. The kernel's terminal takes keys at once and has no queue: no pause at all.
        case console
        /// A full-screen program that reads once a frame (SDL on KMS, Qt eglfs). Two frames of 60 Hz are 33.4 ms: S is
        /// 34 ms, so 0.54 ms (2.3) a plain key and 0.81 ms (3.4) a shifted one: 1850 (440) and 1230 (290) characters a
        /// second.
        case kms
        /// X11 and Wayland desktops, the default. S is 100 ms: 1.6 ms (6.7) a plain key and 2.4 ms (10) a shifted one, 630
        /// (150) and 420 (100) characters a second; an EAN-13 and its Enter are 56 events and leave at once.
        case desktop
        /// Programs that know a scanner by its rhythm, and input methods: 8 ms down, 8 ms up, as scanners with a cable
        /// type, no barcode at once: 62 characters a second, whatever the queue. 85 (21) pauses of 8 ms are 680 ms
        /// (168 ms): S is 640 ms (160 ms).
        case scanner
        /// Remote desktops, virtual machines and input methods that lose Shift: 10 ms from a modifier to its key, 10 ms
        /// down, 10 ms up: 50 plain or 33 shifted characters a second, whatever the queue. 85 (21) pauses of 10 ms are
        /// 850 ms (210 ms): S is 800 ms (200 ms).
        case slow

        /// The purpose of the profile, in a few words for people.
        public var summary: String {
            switch self {
            case .console: "a text console: no pause"
            case .kms: "full-screen programs that read once a frame"
            case .desktop: "X11 and Wayland desktops"
            case .scanner: "browsers and input methods: the rhythm of a scanner with a cable"
            case .slow: "remote desktops and virtual machines"
            }
        }

        /// The stall that it survives with that queue, in nanoseconds; 0 where none is assumed.
        ///
        /// The larger queue makes a rhythm of the pacer's own faster, and survives more where the rhythm is fixed.
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

    /// A stall that cannot be survived at a speed that is still taken for a scanner's.
    public struct StallError: Error, Equatable, Sendable, CustomStringConvertible {
        /// The stall that was asked for, in nanoseconds.
        public var stall: Int64
        /// The greatest that this pace allows, in nanoseconds.
        public var greatest: Int64
        /// The queue for which it is the greatest.
        public var queue: ReaderQueue

        /// One line for people.
        public var description: String {
            "stall of \(stall) ns: must be from 0 to \(greatest) ns here, because a longer one needs more than 50 ms "
                + "between two characters with a queue of \(queue.size) events"
        }
    }

    /// The longest pause between two characters of one barcode, in nanoseconds.
    public static let longestGap: Int64 = 50_000_000
    /// The greatest stall that any pace and queue allow, in nanoseconds.
    public static let greatestStall = greatestSpreadStall(pausesPerKey: 2, .large)

    private static let millisecond: Int64 = 1_000_000

    /// The queue of each reader.
    public let queue: ReaderQueue
    /// The stall that is survived, in nanoseconds; 0 where keys wait for no reader.
    public let stall: Int64
    /// From a modifier's press to its key's, in nanoseconds; 0 presses them together.
    public let lead: Int64
    /// From a key's press to its release, in nanoseconds; 0 writes them together.
    public let hold: Int64
    /// From a key's release to the next keystroke, in nanoseconds, where keys are held.
    public let gap: Int64

    /// A profile's rhythm, for its own stall or another, in nanoseconds.
    public init(_ profile: Profile, stall: Int64? = nil, queue: ReaderQueue) throws(StallError) {
        let stall = stall ?? profile.stall(queue)
        switch profile {
        case .console, .kms, .desktop: try self.init(stall: stall, queue: queue)
        case .scanner: try self.init(stall: stall, lead: 0, pause: 8 * Self.millisecond, queue)
        case .slow: try self.init(stall: stall, lead: 10 * Self.millisecond, pause: 10 * Self.millisecond, queue)
        }
    }

    /// An even pace.
    public init(stall: Int64, queue: ReaderQueue) throws(StallError) {
        let greatest = Self.greatestStall(ofKeystroke: EventBatch.shiftedKey, queue)
        guard stall >= 0, stall <= greatest else { throw StallError(stall: stall, greatest: greatest, queue: queue) }
        self.stall = stall
        self.queue = queue
        (lead, hold, gap) = (0, 0, 0)
    }

    /// A spread pace, its pauses as given or, where the stall needs it, longer.
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

    /// Refuses a table whose longest byte, of that many events, would take more than the longest gap.
    ///
    /// Where keystrokes are spread out, each of a byte's is a character for the reader, and the pauses are what they are.
    public func check(longestByte events: Int) throws(StallError) {
        guard !isSpread, events > 0 else { return }
        let greatest = Self.greatestStall(ofKeystroke: events, queue)
        guard stall <= greatest else { throw StallError(stall: stall, greatest: greatest, queue: queue) }
    }

    /// The greatest stall of an even pace, in nanoseconds: at it, a keystroke of so many events takes the longest gap.
    static func greatestStall(ofKeystroke events: Int, _ queue: ReaderQueue) -> Int64 {
        (longestGap - 1) * queue.paced / Int64(events)
    }

    /// The greatest stall of a spread pace, in nanoseconds: at it, a shifted key's pauses take the longest gap.
    private static func greatestSpreadStall(pausesPerKey: Int64, _ queue: ReaderQueue) -> Int64 {
        (longestGap / pausesPerKey - 1) * pauses(queue)
    }

    /// Pauses between the writes of a spread pace, of which one more than this passes the window.
    private static func pauses(_ queue: ReaderQueue) -> Int64 { Int64(queue.window / 3) }

    /// True where a keystroke is more than one write.
    public var isSpread: Bool { hold > 0 }
}

extension EventBatch {
    /// The part of a keystroke that a write is.
    enum Part {
        /// Keystrokes, from the press to the release.
        case whole
        /// Modifiers that go down before their key.
        case modifiers
        case press
        case release
    }

    /// The part that the events from `start` to before `end` are.
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

    /// Puts a report between modifiers that go down and their key, so that they are seen before it.
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

    /// Control, Shift, Alt and Meta, left and right.
    private static let modifiers: Set<UInt16> = [29, 42, 54, 56, 97, 100, 125, 126]
}

/// The queue of events that the kernel keeps for each reader of a keyboard.
///
/// The kernel makes it eight times as long as the longest frame that the device could have, rounded up to a power of two:
/// 64 events for keys alone, and 256 where nine relative axes are declared beside them. Nothing is ever sent on the
/// axes. The corresponding C function is `evdev_compute_buffer_size`, in Linux's drivers/input/evdev.c.
public enum ReaderQueue: Int, CaseIterable, Sendable {
    /// The queue of a device with nothing but keys; for Xorg's driver evdev, which takes axes for a part of a pointer.
    case small = 64
    /// The queue of a device with nine axes more.
    case large = 256

    /// The events that it holds, the one that throws all unread ones away among them.
    public var size: Int { rawValue }
    /// The unread events that survive: one slot tells full from empty.
    public var window: Int { rawValue - 1 }
    /// The events of the window that whole keystrokes use: as many plain ones of four as shifted ones of six.
    var paced: Int64 { Int64(window / Self.commonKeystroke * Self.commonKeystroke) }
    /// The least common multiple of a plain and a shifted keystroke's events.
    private static let commonKeystroke = 12

    /// The codes of the relative axes that are declared for it: Z, RX, RY, RZ, MISC, and four without a use.
    ///
    /// X, Y, wheels and DIAL are left out, because by these programs know a pointer.
    public var axes: [UInt16] {
        switch self {
        case .small: []
        case .large: [0x02, 0x03, 0x04, 0x05, 0x09, 0x0A, 0x0D, 0x0E, 0x0F]
        }
    }
}

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
