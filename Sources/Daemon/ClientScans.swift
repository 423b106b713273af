// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import BluetoothHost
package import BluetoothPackets
import Configuration
import Control
package import Devices
import Texts

/// Device found by a scan for a device to be selected.
package struct FoundDevice: Equatable, Sendable {
    /// The device in the form in which it is saved.
    package var kept: SelectedDevice
    /// Address at which the device was heard.
    package var heard: DeviceAddress
    /// True if a link with the device would use a keyboard profile, as far as its advertisement shows.
    package var isKeyboard: Bool
}

/// Scans requested by clients, one at a time, and the devices heard in the last minute (LK-3).
final class ClientScans {
    private let place: ManufacturerAddressField?
    private let profiles: [Profile]
    private let radio: RadioArbiter
    private var look: TimedScan?
    private var search: DeviceFinder?
    private var devices = DeviceTable()

    /// Creates a scanner.
    ///
    /// `place` is the position of the address that devices may include in their manufacturer data, in addition to the
    /// address from which they advertise. `profiles` are those of the devices that can be selected.
    init(advertisedAt place: ManufacturerAddressField?, for profiles: [Profile], on radio: RadioArbiter) {
        self.place = place
        self.profiles = profiles
        self.radio = radio
    }

    /// True until the last requested scan has ended.
    var isBusy: Bool { look != nil || search != nil }

    /// Scans for all devices; `completion` receives the devices heard in the last minute, strongest signal first.
    ///
    /// With `isAnew`, it receives only those heard since the scan began.
    func survey(
        for duration: Duration,
        isAnew: Bool,
        completion: @escaping (Result<[DiscoveredDevice], CommandFailure>) -> Void
    ) {
        if isAnew { devices.removeAll() }
        look = TimedScan(at: devices, for: duration, on: radio) { [unowned self] result in
            look = nil
            if case .success(let heard) = result { devices = heard }
            completion(result.map(\.devices).mapError { CommandFailure($0) })
        }
    }

    /// Scans for a device to be selected, for at most `limit`.
    ///
    /// `completion` receives the device in the form in which it is saved, the address at which it was heard, and
    /// whether it is a keyboard.
    func find(
        _ choice: DeviceSelector,
        for limit: Duration,
        completion: @escaping (Result<FoundDevice, CommandFailure>) -> Void
    ) {
        let search = DeviceFinder(choice, advertisedAt: place, wantsName: true, on: radio)
        self.search = search
        search.onResult = { [unowned self, unowned search] result in
            search.stop()
            self.search = nil
            completion(
                result.map { device in
                    FoundDevice(
                        kept: choice.keptChoice(of: device, advertisedAt: place),
                        heard: device.address,
                        isKeyboard: device.isKeyboard(for: profiles)
                    )
                }.mapError { CommandFailure($0, of: choice) }
            )
        }
        search.start(for: limit)
    }

    /// Cancels the scan without calling its completion.
    func end() {
        look?.abandon()
        search?.stop()
    }
}
