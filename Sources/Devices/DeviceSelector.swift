// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothLE

package enum DeviceSelector: Hashable, Sendable, CustomStringConvertible {
    case address(BluetoothAddress)
    /// The one that calls itself so, in letters of either case, blanks at the ends apart.
    case name(String)
    case named(String, BluetoothAddress)
    /// The one that is kept, by its address and the address's type (D-4).
    case kept(SelectedDevice)

    /// Reads an address or `NAME@ADDRESS`, or else takes the text as a name; nil for nothing.
    package init?(_ text: String) {
        let parts = text.split(separator: "@")
        if let address = BluetoothAddress(text) {
            self = .address(address)
        } else if parts.count > 1, let last = parts.last, let address = BluetoothAddress(last) {
            self = .named(String(text.dropLast(last.count + 1)), address)
        } else if !text.isEmpty {
            self = .name(text)
        } else {
            return nil
        }
    }

    /// The device that is kept; nil for one that is meant otherwise.
    package var kept: SelectedDevice? { if case .kept(let kept) = self { kept } else { nil } }

    /// The text that the user wrote.
    package var description: String {
        switch self {
        case .address(let address): "\(address)"
        case .name(let name): name
        case .named(let name, let address): "\(name)@\(address)"
        case .kept(let kept): kept.label
        }
    }

    // MARK: Is this the one that is meant?

    /// The condition on a device that is heard: its address, on the air or at `place` of its manufacturer data (BT-3), and
    /// its name.
    package func filter(advertisedAt place: ManufacturerAddressField?) -> ScanFilter {
        switch self {
        case .address(let address): ScanFilter(identity: .init(address, advertisedAt: place))
        case .named(let name, let address):
            ScanFilter(name: .exactly(name), identity: .init(address, advertisedAt: place))
        case .kept(let kept):
            ScanFilter(identity: .init(kept.device.address, kept.device.type, advertisedAt: place))
        case .name(let name): ScanFilter(name: .exactly(name))
        }
    }

    /// Whether this is how the user would name the device that is chosen already (LK-8).
    package func means(_ kept: SelectedDevice) -> Bool {
        filter(advertisedAt: nil).matches(kept.device, name: kept.name)
    }

    func isAddress(_ address: BluetoothAddress) -> Bool {
        switch self {
        case .address(let own), .named(_, let own): own == address
        case .kept(let kept): kept.device.address == address
        case .name: false
        }
    }

    /// Whether this names the device of that identity, whatever the type of the address that it shows.
    package func names(_ identity: DeviceAddress, _ name: String?) -> Bool {
        switch self {
        case .address(let address): identity.address == address
        case .kept(let kept): identity.address == kept.device.address
        case .name(let text): name?.lowercased() == text.lowercased()
        case .named(let text, let address):
            identity.address == address && name?.lowercased() == text.lowercased()
        }
    }

    /// The choice to keep, for a device that was heard and is the one that is meant (D-4).
    ///
    /// Where it carries an address in its manufacturer data, that one is kept: the one on the air may change.
    package func keptChoice(of device: DiscoveredDevice, advertisedAt place: ManufacturerAddressField?)
        -> SelectedDevice
    {
        let advertised = place?.addresses(in: device.data) ?? []
        let address: BluetoothAddress? =
            switch self {
            case .address(let address), .named(_, let address): address
            case .kept(let kept): kept.device.address
            case .name: advertised.count == 1 ? advertised.first : nil
            }
        let identity = address.map { DeviceAddress($0, device.address.type) } ?? device.address
        // A name that was kept is not lost because none was heard this time.
        return SelectedDevice(identity, name: device.name?.text ?? kept?.name)
    }

    // MARK: How it is listened for

    /// The way to scan for it: a name is often in the scan response only, which must be asked for, and so may be an address
    /// in the manufacturer data; an address on the air needs no asking.
    package func scanParameters(advertisedAt place: ManufacturerAddressField?) -> ScanParameters {
        var parameters = ScanParameters.background
        switch self {
        case .name, .named: parameters.type = .active
        case .address, .kept: if place != nil { parameters.type = .active }
        }
        return parameters
    }

    /// The table that scanning for it fills, in which no crowd takes its place.
    ///
    /// Every report counts: one that allows a connection may differ in nothing else.
    package func devices(advertisedAt place: ManufacturerAddressField?) -> DeviceTable {
        DeviceTable(filter: filter(advertisedAt: place), reportsDuplicates: true)
    }
}
