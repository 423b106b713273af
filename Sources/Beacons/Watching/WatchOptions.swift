// SPDX-License-Identifier: GPL-2.0-or-later

/// What is told of a region that is watched (SW-4).
package struct WatchOptions: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// That it is entered.
    package static let onEntry = WatchOptions(rawValue: 1)
    /// That it is left.
    package static let onExit = WatchOptions(rawValue: 2)
    /// That it is inside as the display goes on (D-24).
    package static let entryStateOnDisplay = WatchOptions(rawValue: 4)

    /// Entry and exit.
    package static let usual: WatchOptions = [.onEntry, .onExit]

    /// The words for the options, as clients and configurations write them.
    package static let named: [(word: String, option: WatchOptions)] = [
        ("on-entry", .onEntry), ("on-exit", .onExit), ("entry-state-on-display", .entryStateOnDisplay),
    ]
}
