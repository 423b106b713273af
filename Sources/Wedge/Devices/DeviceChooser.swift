// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothLE

/// Which device the user means.
package enum DeviceChoice: Hashable, Sendable, CustomStringConvertible {
    /// The one with this address.
    case address(BluetoothAddress)
    /// The one that calls itself so, in letters of either case.
    case name(String)
    /// The one that was chosen, by its address and the address's type (D-4).
    case selected(Selection)

    /// Reads an address, or else takes the text as a name; nil for nothing.
    package init?(_ text: String) {
        if let address = BluetoothAddress(text) {
            self = .address(address)
        } else if !text.isEmpty {
            self = .name(text)
        } else {
            return nil
        }
    }

    /// As the user wrote it.
    package var description: String {
        switch self {
        case .address(let address): "\(address)"
        case .name(let name): name
        case .selected(let selection): selection.label
        }
    }

    /// What to scan with: a name is often in the scan response only, which must be asked for; an address needs no asking.
    package var scanParameters: ScanParameters {
        let background = ScanParameters.background
        switch self {
        case .address, .selected: return background
        case .name: return ScanParameters(type: .active, interval: background.interval, window: background.window)
        }
    }

    /// The table that scanning fills.
    ///
    /// Every report counts: one that allows a connection may differ in nothing else.
    package var devices: DeviceTable {
        let filter: ScanFilter =
            switch self {
            case .address, .selected: ScanFilter()
            case .name(let name): ScanFilter(name: .exactly(name))
            }
        return DeviceTable(filter: filter, reportsDuplicates: true)
    }
}

/// Picks the device that is meant out of what is heard, and never guesses between two (D-4).
///
/// A name is taken only when for a moment nobody else was heard to carry it; the device that was picked before is taken
/// again at once.
package struct DeviceChooser: Sendable {
    /// How long others may claim the same name.
    package static let grace = Duration.seconds(1)

    /// What to do now.
    package enum Verdict: Equatable, Sendable {
        /// Listen on.
        case listen
        /// Connect to this one.
        case take(DeviceAddress)
        /// Several devices carry the name.
        case ambiguous([DeviceAddress])
    }

    /// Who is meant.
    package let choice: DeviceChoice
    /// The last one that was taken.
    private var known: DeviceAddress?
    private var candidates: [DeviceAddress] = []
    /// When the candidates are looked at, if nothing comes before; nil while there are none.
    package private(set) var deadline: Duration?

    /// Where devices carry their address besides the one on the air; nil for nowhere.
    private let place: AdvertisedAddress?

    /// A chooser that has heard nobody.
    package init(_ choice: DeviceChoice, advertisedAt place: AdvertisedAddress? = nil) {
        self.choice = choice
        self.place = place
    }

    /// What to scan with: manufacturer data may be in the scan response only.
    package var scanParameters: ScanParameters {
        var parameters = choice.scanParameters
        if place != nil { parameters.type = .active }
        return parameters
    }

    /// Forgets what was heard, as a new scan begins.
    package mutating func begin() {
        candidates = []
        deadline = nil
    }

    /// Takes a device that was heard, and met the choice's filter.
    package mutating func heard(_ device: DiscoveredDevice, now: Duration) -> Verdict {
        guard device.isConnectable else { return .listen }
        switch choice {
        case .address(let address):
            return AdvertisedAddress.matches(device, address, place) ? take(device.address) : .listen
        case .selected(let selection):
            let isMeant =
                device.address == selection.device
                || place?.addresses(in: device.data).contains(selection.device.address) == true
            return isMeant ? take(device.address) : .listen
        case .name:
            if device.address == known { return take(device.address) }
            if candidates.isEmpty { deadline = now + Self.grace }
            // Two are enough to refuse, and bound the list.
            if candidates.count < 2, !candidates.contains(device.address) { candidates.append(device.address) }
            return decide(now: now)
        }
    }

    /// Decides once the moment has passed.
    package mutating func decide(now: Duration) -> Verdict {
        guard let deadline, now >= deadline else { return .listen }
        self.deadline = nil
        guard candidates.count == 1, let only = candidates.first else { return .ambiguous(candidates) }
        return take(only)
    }

    private mutating func take(_ device: DeviceAddress) -> Verdict {
        known = device
        begin()
        return .take(device)
    }
}
