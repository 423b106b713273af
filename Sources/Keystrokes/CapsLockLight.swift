// SPDX-License-Identifier: GPL-2.0-or-later

import Synchronization

/// The CapsLock light of the virtual keyboard: how the thread that hears of it tells the typist.
///
/// While it is on, readers turn letters round, so the typist turns them round too and the text comes out as meant. It is
/// off until somebody says otherwise. A change is taken up at the next keystroke; those that were written before it, and
/// that their reader has yet to read, are with that reader.
public final class CapsLockLight: Sendable {
    private let state = Atomic<Bool>(false)

    /// A light that is off.
    public init() {}

    /// Whether the light is on.
    public var isOn: Bool { state.load(ordering: .relaxed) }

    /// Takes note of a change.
    public func set(_ isOn: Bool) { state.store(isOn, ordering: .relaxed) }
}
