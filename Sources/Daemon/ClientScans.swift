// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import BluetoothHost
package import BluetoothPackets
import Configuration
import Control
package import Devices
import LinuxIO
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
///
/// A scan that cannot start now waits if the obstacle ends by itself.
final class ClientScans {
    /// Reason for which a client's scan cannot start now.
    enum Obstacle {
        /// It ends by itself within seconds, so the scan waits.
        case passing(CommandFailure)
        case lasting(CommandFailure)
    }

    /// Function that returns the obstacle to a scan; nil if a scan may start.
    var obstacle: () -> Obstacle? = { nil }

    private let place: ManufacturerAddressField?
    private let profiles: [Profile]
    private let radio: RadioArbiter
    private var look: TimedScan?
    private var search: DeviceFinder?
    /// Function that starts the waiting scan, or reports the failure that it is given.
    private var waiting: ((CommandFailure?) -> Void)?
    private let timer = LoopTimer()
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

    /// Starts the waiting scan if its obstacle has ended; reports a failure if the obstacle will not end.
    func proceed(isLate: Bool = false) {
        guard let start = waiting else { return }
        let failure: CommandFailure?
        switch obstacle() {
        case nil: failure = nil
        case .passing(let reason):
            guard isLate else { return }
            failure = reason
        case .lasting(let reason): failure = reason
        }
        waiting = nil
        timer.cancel()
        start(failure)
    }

    /// Calls `start` when a scan may start, or with the failure if it must not start.
    private func admit(_ start: @escaping (CommandFailure?) -> Void) {
        guard waiting == nil, look == nil, search == nil else {
            return start(CommandFailure(.timeout, AdapterFaultText.scannedAlready))
        }
        waiting = start
        proceed()
        guard waiting != nil else { return }
        timer.set(on: radio.loop, after: ControlRequest.scanDelay) { [unowned self] in proceed(isLate: true) }
    }

    /// Scans for all devices; `completion` receives the devices heard in the last minute, strongest signal first.
    ///
    /// With `isAnew`, it receives only those heard since the scan began.
    func survey(
        for duration: Duration,
        isAnew: Bool,
        completion: @escaping (Result<[DiscoveredDevice], CommandFailure>) -> Void
    ) {
        admit { [unowned self] failure in
            if let failure { return completion(.failure(failure)) }
            if isAnew { devices.removeAll() }
            look = TimedScan(at: devices, for: duration, on: radio) { [unowned self] result in
                look = nil
                if case .success(let heard) = result { devices = heard }
                completion(result.map(\.devices).mapError { CommandFailure($0) })
            }
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
        admit { [unowned self] failure in
            if let failure { return completion(.failure(failure)) }
            startSearch(choice, for: limit, completion: completion)
        }
    }

    private func startSearch(
        _ choice: DeviceSelector,
        for limit: Duration,
        completion: @escaping (Result<FoundDevice, CommandFailure>) -> Void
    ) {
        let search = DeviceFinder(
            choice,
            advertisedAt: place,
            wantsName: true,
            sending: profiles.first?.advertised,
            on: radio
        )
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
        waiting = nil
        timer.cancel()
        look?.abandon()
        search?.stop()
    }
}
