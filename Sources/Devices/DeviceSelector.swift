// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
package import BluetoothPackets

package enum DeviceSelector: Hashable, Sendable, CustomStringConvertible {
    case address(BluetoothAddress)
    /// The device with this name; case and surrounding blanks are ignored.
    case name(String)
    case named(String, BluetoothAddress)
    /// The selected device, by its address and address type (D-4).
    case kept(SelectedDevice)

    /// Parses an address, `NAME@ADDRESS`, or any other text, which is used as a name; returns nil for an empty text.
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

    /// The selected device; nil for any other kind of selector.
    package var kept: SelectedDevice? { if case .kept(let kept) = self { kept } else { nil } }

    /// The selector as text, in the form in which the user enters it.
    package var description: String {
        switch self {
        case .address(let address): "\(address)"
        case .name(let name): name
        case .named(let name, let address): "\(name)@\(address)"
        case .kept(let kept): kept.label
        }
    }

    // MARK: Matching

    /// Returns the scan filter that matches the device by its address and its name.
    ///
    /// The address is the one from which the device advertises, or the one at `place` in its manufacturer data (BT-3).
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

    /// Returns true if the selector matches the device that is already selected (LK-8).
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

    /// Returns true if the selector matches a device with this identity and name; the type of the address is ignored.
    package func names(_ identity: DeviceAddress, _ name: String?) -> Bool {
        switch self {
        case .address(let address): identity.address == address
        case .kept(let kept): identity.address == kept.device.address
        case .name(let text): name?.lowercased() == text.lowercased()
        case .named(let text, let address):
            identity.address == address && name?.lowercased() == text.lowercased()
        }
    }

    /// Returns the selection to store when a discovered device matches the selector (D-4).
    ///
    /// Its address is the address in the selector, or else the only address in the manufacturer data, or else the
    /// address from which the device advertises, which may change.
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
        // Keep the stored name if no name was heard this time.
        return SelectedDevice(identity, name: device.name?.text ?? kept?.name)
    }

    // MARK: Scanning

    /// Returns the parameters of a scan for the device.
    ///
    /// A name is often only in the scan response, which requires an active scan. The same applies to an address in the
    /// manufacturer data. The address from which the device advertises requires no active scan.
    package func scanParameters(advertisedAt place: ManufacturerAddressField?) -> ScanParameters {
        var parameters = ScanParameters.background
        switch self {
        case .name, .named: parameters.type = .active
        case .address, .kept: if place != nil { parameters.type = .active }
        }
        return parameters
    }

    /// Creates the device table for a scan for the device, filtered so that other devices cannot evict it.
    ///
    /// Duplicates are reported, because a report that allows a connection may otherwise be equal to an earlier report.
    package func devices(advertisedAt place: ManufacturerAddressField?) -> DeviceTable {
        DeviceTable(filter: filter(advertisedAt: place), reportsDuplicates: true)
    }
}
