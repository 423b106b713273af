// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
package import BluetoothPackets

/// Finds the selector's device among the devices heard, and never guesses between two devices (D-4).
///
/// A name is accepted only if no other device with that name is heard within a short time. A device that was picked
/// before is accepted again immediately.
package struct CandidateMatcher: Sendable {
    /// Time to wait for other devices with the same name.
    package static let grace = Duration.seconds(1)
    /// Time to wait for the name of a device, which is often only in the scan response.
    package static let nameGrace = Duration.seconds(2)

    package enum Verdict: Equatable, Sendable {
        case listen
        case take(DiscoveredDevice)
        /// Several devices have this name.
        case ambiguous([DiscoveredDevice])
    }

    package let choice: DeviceSelector
    /// True to wait for the device's name even if the device is selected by its address.
    ///
    /// The name is needed because it is stored too (D-4).
    package let wantsName: Bool
    /// Field that contains the values of a device that only advertises; nil for a device to connect to.
    package let field: AdvertisedField?
    package private(set) var known: DeviceAddress?
    private var candidates: [DiscoveredDevice] = []
    /// Time at which `decide` picks a candidate; nil while there are no candidates.
    package private(set) var deadline: Duration?

    /// Creates a matcher without candidates.
    package init(_ choice: DeviceSelector, wantsName: Bool = false, sending field: AdvertisedField? = nil) {
        self.choice = choice
        self.wantsName = wantsName
        self.field = field
    }

    /// Discards the candidates at the start of a scan.
    package mutating func begin() {
        candidates = []
        deadline = nil
    }

    /// Handles a report of a device.
    ///
    /// `isMatch` is false if the report does not match the filter, but its address is that of the device picked before.
    /// This happens because a directed advertisement of that device contains neither name nor manufacturer data.
    package mutating func heard(_ device: DiscoveredDevice, isMatch: Bool = true, now: Duration) -> Verdict {
        let isUsable = field.map { $0.value(in: device.data) != nil } ?? device.isConnectable
        guard isUsable, isMatch || (device.address == known && device.name == nil) else { return .listen }
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
            // More than two candidates are not needed: two make the result ambiguous.
            candidates.append(device)
        }
        return decide(now: now)
    }

    /// Picks a device once the deadline has passed.
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
