// SPDX-License-Identifier: GPL-2.0-or-later

/// The decision when advertising is enabled again, on the caller's clock.
///
/// No command asks a controller whether it advertises, and enabling what is enabled changes nothing (Core 6.0, Vol 4,
/// Part E, 7.8.9 and 7.8.56). So it is enabled again soon after another program has sent advertising commands, and now
/// and then in any case.
struct AdvertisingWatch: Sendable {
    /// The time from another program's command to the enabling.
    static let foreignInterval = Duration.seconds(1)
    /// The time from one enabling to the next where nothing was seen.
    static let usualInterval = Duration.seconds(60)

    private var foreignCommands: UInt64 = 0
    /// The time of the next enabling; nil before advertising has begun, and while an enabling is under way.
    private(set) var deadline: Duration?

    /// Notes that the controller advertises, or has no room for another central, and how many foreign commands were seen.
    mutating func note(foreignCommands count: UInt64, now: Duration) {
        if count != foreignCommands {
            foreignCommands = count
            deadline = min(deadline ?? now + Self.foreignInterval, now + Self.foreignInterval)
        } else if deadline == nil {
            deadline = now + Self.usualInterval
        }
    }

    /// Notes that advertising is enabled again now.
    mutating func resume() { deadline = nil }
}
