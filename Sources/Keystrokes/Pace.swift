// SPDX-License-Identifier: GPL-2.0-or-later

/// A rhythm of typing: the stall of the reader that it survives, and how long keys are held.
///
/// The law (D-13): in no window as long as the stall S do more than 63 events leave, which is what a reader's queue keeps.
/// There are two ways to keep it, and each is refused where it would take more than 50 ms from one character to the next.
///
/// Even: a keystroke is one write, whole barcodes leave at once where the window has room, and others at n/60 of S a
/// keystroke of n events (see `Pacer`): 4S/60 from one plain key to the next, 6S/60 from one shifted key to the next.
/// So S may be just under 500 ms.
///
/// Spread: modifiers, press and release of a key are writes of their own, `lead`, `hold` and `gap` apart, each of at most 3
/// events (two changes and a report). 22 such writes pass 63 events, and 22 writes have 21 pauses between them, so no pause
/// is shorter than S/21 and a nanosecond. A shifted key takes all its pauses: two where there is no lead, so S may be up to
/// 525 ms, or three, so S may be up to 350 ms.
public struct Pace: Equatable, Sendable {
    /// The rhythms that have a name, by who reads the keys.
    public enum Profile: String, CaseIterable, Sendable {
        /// A text console. The kernel's terminal takes keys at once and has no queue of 64: no pause at all.
        case console
        /// A full-screen program that reads once a frame (SDL on KMS, Qt eglfs). Two frames of 60 Hz are 33.4 ms: S is
        /// 34 ms, so 2.3 ms a plain key and 3.4 ms a shifted one: 440 and 290 characters a second.
        case kms
        /// X11 and Wayland desktops, the default. S is 100 ms: 6.7 ms a plain key and 10 ms a shifted one, 150 and 100
        /// characters a second; an EAN-13 and its Enter are 56 events and leave at once.
        case desktop
        /// Programs that know a scanner by its rhythm, and input methods: 8 ms down, 8 ms up, as scanners with a cable
        /// type, no barcode at once: 62 characters a second. 21 pauses of 8 ms are 168 ms: S is 160 ms.
        case scanner
        /// Remote desktops, virtual machines and input methods that lose Shift: 10 ms from a modifier to its key, 10 ms
        /// down, 10 ms up: 50 plain or 33 shifted characters a second. 21 pauses of 10 ms are 210 ms: S is 200 ms.
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

        /// The stall that it survives, in nanoseconds; 0 where none is assumed.
        public var stall: Int64 {
            switch self {
            case .console: 0
            case .kms: 34 * Pace.millisecond
            case .desktop: 100 * Pace.millisecond
            case .scanner: 160 * Pace.millisecond
            case .slow: 200 * Pace.millisecond
            }
        }
    }

    /// A stall that cannot be survived at a speed that is still taken for a scanner's.
    public struct StallError: Error, Equatable, Sendable, CustomStringConvertible {
        /// The stall that was asked for, in nanoseconds.
        public var stall: Int64
        /// The greatest that this pace allows, in nanoseconds.
        public var greatest: Int64

        /// One line for people.
        public var description: String {
            "stall of \(stall) ns: must be from 0 to \(greatest) ns here, because a longer one needs more than 50 ms "
                + "between two characters"
        }
    }

    /// The longest pause between two characters of one barcode, in nanoseconds.
    public static let longestGap: Int64 = 50_000_000
    /// The greatest stall of an even pace, in nanoseconds: at it, a shifted keystroke takes the longest gap.
    public static let greatestStall = (longestGap - 1) * Pacer.paced / Int64(EventBatch.shiftedKey)

    private static let millisecond: Int64 = 1_000_000
    /// Pauses between the writes of a spread pace, of which one more than this passes the window.
    private static let pauses = Int64(Pacer.window / 3)

    /// The stall that is survived, in nanoseconds; 0 where keys wait for no reader.
    public let stall: Int64
    /// From a modifier's press to its key's, in nanoseconds; 0 presses them together.
    public let lead: Int64
    /// From a key's press to its release, in nanoseconds; 0 writes them together.
    public let hold: Int64
    /// From a key's release to the next keystroke, in nanoseconds, where keys are held.
    public let gap: Int64

    /// A profile's rhythm, for its own stall or another, in nanoseconds.
    public init(_ profile: Profile, stall: Int64? = nil) throws(StallError) {
        let stall = stall ?? profile.stall
        switch profile {
        case .console, .kms, .desktop: try self.init(stall: stall)
        case .scanner: try self.init(stall: stall, lead: 0, pause: 8 * Self.millisecond)
        case .slow: try self.init(stall: stall, lead: 10 * Self.millisecond, pause: 10 * Self.millisecond)
        }
    }

    /// An even pace.
    public init(stall: Int64) throws(StallError) {
        guard stall >= 0, stall <= Self.greatestStall else {
            throw StallError(stall: stall, greatest: Self.greatestStall)
        }
        self.stall = stall
        (lead, hold, gap) = (0, 0, 0)
    }

    /// A spread pace, its pauses as given or, where the stall needs it, longer.
    private init(stall: Int64, lead: Int64, pause: Int64) throws(StallError) {
        let greatest = (Self.longestGap / (lead > 0 ? 3 : 2) - 1) * Self.pauses
        guard stall >= 0, stall <= greatest else { throw StallError(stall: stall, greatest: greatest) }
        let least = stall / Self.pauses + 1
        self.stall = stall
        self.lead = lead > 0 ? max(lead, least) : 0
        hold = max(pause, least)
        gap = max(pause, least)
    }

    /// Refuses a table whose longest byte, of that many events, would take more than the longest gap.
    ///
    /// Where keystrokes are spread out, each of a byte's is a character for the reader, and the pauses are what they are.
    public func check(longestByte events: Int) throws(StallError) {
        guard !isSpread, events > 0 else { return }
        let greatest = (Self.longestGap - 1) * Pacer.paced / Int64(events)
        guard stall <= greatest else { throw StallError(stall: stall, greatest: greatest) }
    }

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
        /// A key that goes down.
        case press
        /// A key that goes up.
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
