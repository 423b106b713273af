// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothAdapters
package import BluetoothHost
import BluetoothPackets
import LinuxIO

/// Scans for the selector's device, and picks the device from the devices heard.
package final class DeviceFinder {
    /// The reason why a search found no device.
    package enum Failure: Error {
        case several([DiscoveredDevice])
        /// The device was not heard within this time.
        ///
        /// `namesake` is another device with the same name, if one was heard.
        case notHeard(within: Duration, namesake: DiscoveredDevice?)
        case scan(ScanError)
    }

    /// Default time limit of a search for which a command waits.
    package static let usualLimit = Duration.seconds(10)

    /// Time to scan for the selected device only by its address, before its name is searched for as well.
    private static let nameDelay = Duration.seconds(3)
    /// Duration of a search by name.
    ///
    /// It is limited because such a search receives the reports of every device.
    private static let nameWindow = Duration.seconds(7)
    private static let namePause = Duration.seconds(60)

    /// Handler that is called for another device that has the selected device's name; the search continues.
    package var onNamesake: ((DiscoveredDevice) -> Void)?
    /// Last device reported to `onNamesake` since the start; nil if there was none.
    private var namesake: DiscoveredDevice?
    /// Handler that receives the result.
    ///
    /// It is called once after each `start` and each `goOn`, unless the finder is stopped first. If the result is a
    /// device, it was heard and can be used. The scan continues until `stop` is called.
    package var onResult: ((Result<DiscoveredDevice, Failure>) -> Void)?
    /// True to scan actively even if the selector does not require it.
    ///
    /// This is needed after a failed attempt. If the kernel still treats an earlier active scan as its own discovery,
    /// it starts no connection until another active scan ends.
    package var isThorough = false

    private let radio: RadioArbiter
    /// Location of the device's address in its manufacturer data; nil if the data does not contain the address.
    private let place: ManufacturerAddressField?
    private var chooser: CandidateMatcher
    private var scan: RadioScan?
    /// Scan for the device that was found before; it may now advertise without the name or data that identified it.
    private var knownScan: RadioScan?
    /// Scan for other devices with the selected device's name.
    private var nameScan: RadioScan?
    private let nameTimer = LoopTimer()
    private let graceTimer = LoopTimer()
    private let limitTimer = LoopTimer()

    /// Creates a finder for one device; `choice` can be changed later.
    ///
    /// If `wantsName` is true, the finder requests the device's name and waits for it. With a `field`, it finds a device
    /// that advertises this field, even if it accepts no connections.
    package init(
        _ choice: DeviceSelector,
        advertisedAt place: ManufacturerAddressField?,
        wantsName: Bool = false,
        sending field: AdvertisedField? = nil,
        on radio: RadioArbiter
    ) {
        self.radio = radio
        self.place = place
        chooser = CandidateMatcher(choice, wantsName: wantsName, sending: field)
    }

    deinit { stop() }

    /// Selector of the device to find; setting it discards the candidates heard so far.
    package var choice: DeviceSelector {
        get { chooser.choice }
        set { chooser = CandidateMatcher(newValue, wantsName: chooser.wantsName, sending: chooser.field) }
    }

    /// Scans until the device is heard or `limit` has passed; has no effect while scanning.
    package func start(for limit: Duration? = nil) {
        guard scan == nil else { return }
        chooser.begin()
        namesake = nil
        var parameters = choice.scanParameters(advertisedAt: place)
        if isThorough || chooser.wantsName { parameters.type = .active }
        let scan = RadioScan(parameters, devices: choice.devices(advertisedAt: place))
        self.scan = scan
        scan.onFailure = { [unowned self] error in
            self.scan = nil
            stopSides()
            end(.failure(.scan(error)))
        }
        if let limit {
            limitTimer.set(on: radio.loop, at: MonotonicClock.now + limit) { [unowned self] in
                end(.failure(.notHeard(within: limit, namesake: namesake)))
            }
        }
        radio.together {
            if let known = chooser.known, !choice.isAddress(known.address) {
                knownScan = begin(DeviceSelector.address(known.address), .background)
            }
            goOn()
            radio.start(scan)
        }
        if let name = choice.kept?.name { listen(for: name, in: Self.nameDelay) }
    }

    private func stopSides() {
        for scan in [knownScan, nameScan] { if let scan { radio.stop(scan) } }
        (knownScan, nameScan) = (nil, nil)
    }

    /// Starts an additional scan, whose failure is not reported.
    private func begin(_ choice: DeviceSelector, _ parameters: ScanParameters) -> RadioScan {
        let scan = RadioScan(parameters, devices: choice.devices(advertisedAt: nil))
        scan.onFailure = { [unowned self, unowned scan] _ in
            if knownScan === scan { knownScan = nil }
            if nameScan === scan { nameScan = nil }
        }
        radio.start(scan)
        return scan
    }

    /// Searches periodically for other devices with this name; the first search starts after `delay`.
    private func listen(for name: String, in delay: Duration) {
        nameTimer.set(on: radio.loop, after: delay) { [unowned self] in
            listen(for: name)
            nameTimer.set(on: radio.loop, after: Self.nameWindow) { [unowned self] in
                if let nameScan { radio.stop(nameScan) }
                nameScan = nil
                listen(for: name, in: Self.namePause)
            }
        }
    }

    /// Scans passively for names in advertisements.
    ///
    /// The scan is not active, because kernels from 6.12 on treat an active scan as a discovery, and reject the
    /// discoveries of other programs.
    private func listen(for name: String) {
        let scan = begin(.name(name), .background)
        nameScan = scan
        scan.onUpdate = { [unowned self] update in
            let device = update.device
            let isMeant = choice.filter(advertisedAt: place).matches(
                device.address,
                name: device.name?.text,
                device.data
            )
            guard !isMeant, namesake?.address != device.address else { return }
            namesake = device
            onNamesake?(device)
        }
    }

    /// Waits for the device's next advertisement in the running scan; has no effect if no scan is running.
    package func goOn() {
        for scan in [scan, knownScan] {
            scan?.onUpdate = { [unowned self, unowned scan] update in
                take(chooser.heard(update.device, isMatch: scan === self.scan, now: MonotonicClock.now))
            }
        }
    }

    /// Stops scanning.
    ///
    /// `completion` is called when the controller has stopped, or when it scans only for other users of the radio.
    package func stop(completion: @escaping () -> Void = {}) {
        quiet()
        let ended = scan
        scan = nil
        radio.together {
            stopSides()
            if let ended { radio.stop(ended, completion: completion) }
        }
        if ended == nil { completion() }
    }

    private func take(_ verdict: CandidateMatcher.Verdict) {
        switch verdict {
        case .listen:
            guard !graceTimer.isSet else { return }
            graceTimer.set(on: radio.loop, at: chooser.deadline) { [unowned self] in
                take(chooser.decide(now: MonotonicClock.now))
            }
        case .take(let device): end(.success(device))
        case .ambiguous(let devices): end(.failure(.several(devices)))
        }
    }

    private func end(_ result: Result<DiscoveredDevice, Failure>) {
        quiet()
        // The handler may stop the scan, connect, and start another scan; `together` makes the radio act only once,
        // after all of these calls.
        radio.together { onResult?(result) }
    }

    private func quiet() {
        for timer in [graceTimer, limitTimer, nameTimer] { timer.cancel() }
        chooser.begin()
        for scan in [scan, knownScan, nameScan] { scan?.onUpdate = nil }
    }
}
