// SPDX-License-Identifier: GPL-2.0-or-later

/// Held keys of page 07 in the order in which they were pressed.
struct PressOrder: Sendable {
    /// Held keys; between `release` and `removeReleased` also released ones.
    private(set) var usages: [UInt16] = []
    private var pressed: UsageSet
    /// Keys in `usages`.
    private var listed: UsageSet
    private var hasReleased = false

    /// Creates an empty list for usage ids up to `greatest`.
    init(greatest: UInt16) {
        pressed = UsageSet(limit: Int(greatest) + 1)
        listed = pressed
    }

    mutating func press(_ usage: UInt16) {
        guard pressed.insert(Int(usage)), listed.insert(Int(usage)) else { return }
        usages.append(usage)
    }

    mutating func release(_ usage: UInt16) {
        if pressed.remove(Int(usage)) { hasReleased = true }
    }

    /// Removes the released keys from `usages`; called once a report, so that a report costs no more than its slots.
    mutating func removeReleased() {
        guard hasReleased else { return }
        hasReleased = false
        var count = 0
        for index in usages.indices {
            let usage = usages[index]
            if pressed.contains(Int(usage)) {
                usages[count] = usage
                count += 1
            } else {
                listed.remove(Int(usage))
            }
        }
        while usages.count > count { usages.removeLast() }
    }

    mutating func removeAll() {
        usages.removeAll()
        pressed.removeAll()
        listed.removeAll()
        hasReleased = false
    }
}
