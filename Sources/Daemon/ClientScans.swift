// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import Control
import Devices
import Texts

/// The looks at devices that clients ask for, one at a time, and what they have heard in the last minute (LK-3).
final class ClientScans {
    private let place: ManufacturerAddressField?
    private let radio: RadioArbiter
    private var look: TimedScan?
    private var search: DeviceFinder?
    private var devices = DeviceTable()

    /// No look yet; devices carry their address in `place` besides the one on the air.
    init(advertisedAt place: ManufacturerAddressField?, on radio: RadioArbiter) {
        self.place = place
        self.radio = radio
    }

    /// True until the look that was asked for last has ended.
    var isBusy: Bool { look != nil || search != nil }

    /// Listens to all devices for a while; `completion` gets those that were heard in the last minute, or with `isAnew` since
    /// the look began, the strongest first.
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

    /// Listens for a device that is to be chosen, as long as `limit`, and answers it as it is to be kept and as it was heard.
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

    /// Looks no more; who waits hears nothing.
    func end() {
        look?.abandon()
        search?.stop()
    }
}
