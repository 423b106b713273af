// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import BluetoothHost
import BluetoothPackets
import Control
import Devices
import Texts

/// Scans requested by clients, one at a time, and the devices heard in the last minute (LK-3).
final class ClientScans {
    private let place: ManufacturerAddressField?
    private let radio: RadioArbiter
    private var look: TimedScan?
    private var search: DeviceFinder?
    private var devices = DeviceTable()

    /// Creates a scanner.
    ///
    /// `place` is the position of the address that devices may include in their manufacturer data, in addition to the
    /// address from which they advertise.
    init(advertisedAt place: ManufacturerAddressField?, on radio: RadioArbiter) {
        self.place = place
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
    /// `completion` receives the device in the form in which it is saved, and the address at which it was heard.
    func find(
        _ choice: DeviceSelector,
        for limit: Duration,
        completion: @escaping (Result<(kept: SelectedDevice, heard: DeviceAddress), CommandFailure>) -> Void
    ) {
        let search = DeviceFinder(choice, advertisedAt: place, wantsName: true, on: radio)
        self.search = search
        search.onResult = { [unowned self, unowned search] result in
            search.stop()
            self.search = nil
            completion(
                result.map { (choice.keptChoice(of: $0, advertisedAt: place), $0.address) }
                    .mapError { CommandFailure($0, of: choice) }
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
