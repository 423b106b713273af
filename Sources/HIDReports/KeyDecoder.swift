// SPDX-License-Identifier: GPL-2.0-or-later

import Keystrokes

/// Decoder of a keyboard's input reports: from the keys that are held to the text that they type.
///
/// A key that is held and was not held before is pressed once; it is never repeated. Several keys pressed in one report
/// are typed in the order of their slots, with the modifiers of that report. Every report is counted in `account`.
///
/// A dead key makes a character with the next one. If there is none, both are typed as on Windows, for which most
/// scanners are set: X would drop both, and the text would be shorter without a trace.
///
/// HID 1.11, appendix C, leaves the order of keys in one report, autorepeat and the text to the host.
public struct KeyDecoder: Sendable {
    private let settings: Settings
    private let layout: DeviceLayout
    /// Counts of all reports so far.
    public private(set) var account = KeyAccount()
    private var held = UsageSet()
    private var capsLock: Bool
    private var numLock: Bool
    private var altCode: AltCode?
    private var deadKey: Unicode.Scalar?

    /// Creates a decoder for a device that has just connected.
    public init(_ settings: Settings = Settings()) {
        self.settings = settings
        layout = DeviceLayout(settings.layout)
        capsLock = settings.capsLock == .assumesOn
        numLock = settings.numLock
    }

    /// Appends the text of a report in UTF-8, and returns the outcome under which the report was counted.
    public mutating func decode(_ reading: ReportReading, into text: inout [UInt8]) -> ReportOutcome {
        let outcome: ReportOutcome
        switch reading.content {
        case .keys(let keys): outcome = press(keys, &text)
        case .rollOver: outcome = .rollOver
        case .noKeys: outcome = .noKeys
        case .unknownReport: outcome = .unknownReport
        }
        account.count(outcome, reading.length)
        return outcome
    }

    /// Releases all keys without text, and drops an Alt code or dead key; CapsLock and NumLock are as at the beginning.
    ///
    /// An Alt code is dropped even if it has all its digits: Alt was not released, so more could have followed.
    public mutating func linkLost() {
        held = UsageSet()
        capsLock = settings.capsLock == .assumesOn
        numLock = settings.numLock
        if altCode != nil { account.countDropped() }
        if deadKey != nil { account.countDropped() }
        altCode = nil
        deadKey = nil
    }

    private mutating func press(_ keys: HeldKeys, _ text: inout [UInt8]) -> ReportOutcome {
        let before = held
        // Both old and new keys, so that a key that is in the report twice is pressed once.
        var pressed = before
        held = UsageSet()
        for usage in keys.usages { held.insert(Self.place(of: usage)) }
        let modifiers = held.modifiers
        var outcome = Self.change(from: before, to: held)
        if !modifiers.holds(.alt) { outcome = max(outcome, finishAltCode(&text)) }
        let isShiftChange = before.keys == held.keys && before.modifiers != modifiers
        for usage in keys.usages where usage < 0xE0 || usage > 0xE7 {
            if pressed.insert(Self.place(of: usage)) {
                outcome = max(outcome, press(usage, modifiers, &text))
            } else if isShiftChange, output(of: usage, before.modifiers) != output(of: usage, modifiers) {
                let again = settings.repeatsOnShiftChange ? press(usage, modifiers, &text) : .ambiguous
                outcome = max(outcome, again)
            }
        }
        return outcome
    }

    /// Returns the number of a usage in a set: those above FF have no meaning and share that of usage 0, which no report
    /// holds.
    private static func place(of usage: UInt16) -> Int { usage < 256 ? Int(usage) : 0 }

    /// Returns the outcome of a report in which no key is pressed.
    private static func change(from before: UsageSet, to now: UsageSet) -> ReportOutcome {
        if !before.keys.isSubset(of: now.keys) { return .release }
        return before.modifiers == now.modifiers ? .unchanged : .modifier
    }

    /// Returns the result of a key by Shift and AltGr alone.
    private func output(of usage: UInt16, _ modifiers: HeldModifiers) -> KeyboardLayout.Level.Output? {
        layout.output(
            of: usage,
            shift: modifiers.holds(.shift),
            altGr: isAltGr(modifiers),
            capsLock: capsLock,
            numLock: numLock
        )
    }

    /// Returns true if the modifiers are AltGr, or Ctrl and the left Alt, which are the same on Windows.
    private func isAltGr(_ modifiers: HeldModifiers) -> Bool {
        layout.hasAltGr
            && (modifiers.holds(.rightAlt) || modifiers.holds(.leftAlt) && modifiers.holds(.control))
    }

    private mutating func press(_ usage: UInt16, _ modifiers: HeldModifiers, _ text: inout [UInt8]) -> ReportOutcome {
        switch usage {
        case 0x39:
            if settings.capsLock != .readsLED { capsLock.toggle() }
            return .modifier
        case 0x53:
            numLock.toggle()
            return .modifier
        default: break
        }
        let isAltGr = isAltGr(modifiers)
        // Ctrl and the left Alt are AltGr and no more; with the right Alt, Ctrl keeps its meaning.
        let isControl = modifiers.holds(.control) && !(isAltGr && modifiers.holds(.leftAlt))
        let isAlt = modifiers.holds(.alt) && !isAltGr
        let isMeta = modifiers.holds(.meta)
        if isAlt && !isControl && !isMeta { return pressWithAlt(usage, modifiers) }
        // A key with other modifiers is not a digit of the Alt code.
        _ = altCode?.append(nil)
        if isAlt || isMeta { return .shortcut }
        if isControl {
            let shift = modifiers.holds(.shift)
            guard let control = layout.control(of: usage, shift: shift, altGr: isAltGr) else { return .shortcut }
            type(control, &text)
            return .typed
        }
        if usage == settings.groupSeparatorKey {
            type("\u{1D}", &text)
            return .typed
        }
        switch output(of: usage, modifiers) {
        case .character(let character): type(character, &text)
        case .dead(let mark):
            guard let first = deadKey else {
                deadKey = mark
                return .pending
            }
            // Two dead keys are two accents, as on Windows.
            deadKey = nil
            write(DeadKey.spacing(first), &text)
            write(DeadKey.spacing(mark), &text)
        case nil: return .unknownUsage
        }
        return .typed
    }

    private mutating func pressWithAlt(_ usage: UInt16, _ modifiers: HeldModifiers) -> ReportOutcome {
        if altCode != nil {
            var character = layout.keypadCharacter(of: usage)
            if character == nil, case .character(let other)? = output(of: usage, modifiers) { character = other }
            return altCode?.append(character) == true ? .pending : .shortcut
        }
        guard let first = layout.keypadCharacter(of: usage), let code = AltCode(first: first) else { return .shortcut }
        altCode = code
        return .pending
    }

    private mutating func finishAltCode(_ text: inout [UInt8]) -> ReportOutcome {
        guard let code = altCode else { return .unchanged }
        altCode = nil
        guard let character = code.character else {
            account.countDropped()
            return .incompleteAltCode
        }
        type(character, &text)
        return .typed
    }

    /// Writes a character, composed with the dead key before it; if they do not compose, the accent and the character.
    private mutating func type(_ character: Unicode.Scalar, _ text: inout [UInt8]) {
        guard let mark = deadKey else { return write(character, &text) }
        deadKey = nil
        if let composed = DeadKey.composed(mark, character) { return write(composed, &text) }
        write(DeadKey.spacing(mark), &text)
        write(character, &text)
    }

    private mutating func write(_ character: Unicode.Scalar, _ text: inout [UInt8]) {
        guard let bytes = UTF8.encode(character) else { return }
        text.append(contentsOf: bytes)
        account.countCharacter(bytes: bytes.count)
    }
}
