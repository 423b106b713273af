// SPDX-License-Identifier: GPL-2.0-or-later

/// Held keys of page 07 in the order in which they were pressed.
struct KeySet: Sendable {
    private(set) var usages: [UInt16] = []
    private var pressed: BitSet
    /// Keys in `usages`; a released one stays there until `removeReleased`.
    private var listed: BitSet
    private var hasReleased = false

    /// Creates an empty set of usage ids up to `greatest`.
    init(greatest: UInt16) {
        pressed = BitSet(limit: Int(greatest) + 1)
        listed = pressed
    }

    mutating func set(_ usage: UInt16, isPressed: Bool) {
        let index = Int(usage)
        guard pressed[index] != isPressed else { return }
        pressed[index] = isPressed
        guard isPressed else {
            hasReleased = true
            return
        }
        guard !listed[index] else { return }
        listed[index] = true
        usages.append(usage)
    }

    /// Removes the released keys from `usages`; called once a report, so that a report costs no more than its slots.
    mutating func removeReleased() {
        guard hasReleased else { return }
        hasReleased = false
        for usage in usages where !pressed[Int(usage)] { listed[Int(usage)] = false }
        usages.removeAll { !listed[Int($0)] }
    }

    mutating func removeAll() {
        usages.removeAll()
        pressed.removeAll()
        listed.removeAll()
        hasReleased = false
    }
}
