// SPDX-License-Identifier: GPL-2.0-or-later

/// Outcome of an input report, under which it is counted.
///
/// If several apply to one report, the last one in the order of the raw values counts.
public enum ReportOutcome: Int, CaseIterable, Sendable {
    /// Holds the same keys as the report before, possibly in other slots.
    case unchanged
    /// Only modifiers were pressed or released, or CapsLock or NumLock was pressed.
    case modifier
    /// A key was released.
    case release
    /// Only Shift or AltGr changed while a key was held whose character depends on them.
    case ambiguous
    /// A key was pressed that has no character in the device layout, for example an arrow key.
    case unknownUsage
    /// A key was pressed with Ctrl, Alt or Meta in a combination that has no character.
    case shortcut
    /// A dead key or a digit of an Alt code: a later report makes the character.
    case pending
    /// Alt was released after digits that are no code of a character.
    case incompleteAltCode
    /// At least one character was made.
    case typed
    /// The keyboard reported more keys than it can tell apart; the keys before it remain held.
    case rollOver
    /// A report without keys, for example of a mouse or of consumer controls.
    case noKeys
    /// The report map declares no such input report.
    case unknownReport
}

extension ReportOutcome: Comparable {
    public static func < (left: ReportOutcome, right: ReportOutcome) -> Bool { left.rawValue < right.rawValue }
}
