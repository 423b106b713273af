// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothLE

/// Picks the device that is meant out of those that are heard, and never guesses between two (D-4).
///
/// A name is taken only when for a moment nobody else was heard to carry it; the device that was picked before is taken
/// again at once.
package struct CandidateMatcher: Sendable {
    /// How long others may claim the same name.
    package static let grace = Duration.seconds(1)
    /// Time to wait for the name of a device, which is often in its scan response only.
    package static let nameGrace = Duration.seconds(2)

    package enum Verdict: Equatable, Sendable {
        case listen
        case take(DiscoveredDevice)
        /// Several devices carry the name.
        case ambiguous([DiscoveredDevice])
    }

    package let choice: DeviceSelector
    /// True if a device that is meant by its address is taken with its name, since that is kept too (D-4).
    package let wantsName: Bool
    package private(set) var known: DeviceAddress?
    private var candidates: [DiscoveredDevice] = []
    /// The time at which the candidates are looked at, if nothing comes before; nil while there are none.
    package private(set) var deadline: Duration?

    /// A chooser that has heard nobody.
    package init(_ choice: DeviceSelector, wantsName: Bool = false) {
        self.choice = choice
        self.wantsName = wantsName
    }

    /// Forgets the devices that were heard, as a new scan begins.
    package mutating func begin() {
        candidates = []
        deadline = nil
    }

    /// Takes a report of a device that meets the choice's filter, or else (`isMatch`) was heard at the address of the one
    /// that was picked before: a directed advertisement of that one carries no name, and no manufacturer data.
    package mutating func heard(_ device: DiscoveredDevice, isMatch: Bool = true, now: Duration) -> Verdict {
        guard device.isConnectable, isMatch || (device.address == known && device.name == nil) else { return .listen }
        guard case .name = choice, device.address != known else {
            guard wantsName, device.name == nil else { return take(device) }
            if candidates.isEmpty { deadline = now + Self.nameGrace }
            candidates = [device]
            return decide(now: now)
        }
        if candidates.isEmpty { deadline = now + Self.grace }
        if let place = candidates.firstIndex(where: { $0.address == device.address }) {
            candidates[place] = device
        } else if candidates.count < 2 {
            // Two are enough to refuse, and bound the list.
            candidates.append(device)
        }
        return decide(now: now)
    }

    /// Decides once the moment has passed.
    package mutating func decide(now: Duration) -> Verdict {
        guard let deadline, now >= deadline else { return .listen }
        self.deadline = nil
        guard candidates.count == 1, let only = candidates.first else { return .ambiguous(candidates) }
        return take(only)
    }

    private mutating func take(_ device: DiscoveredDevice) -> Verdict {
        known = device.address
        begin()
        return .take(device)
    }
}
