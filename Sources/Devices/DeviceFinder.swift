// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothLE
import LinuxIO

/// Finds the device that is meant: a scan of the arbiter's, and the chooser that picks out of those that it hears.
package final class DeviceFinder {
    /// The reason why a search found no device.
    package enum Failure: Error {
        case several([DiscoveredDevice])
        /// It was not heard within this time, but perhaps another of its name.
        case notHeard(within: Duration, namesake: DiscoveredDevice?)
        case scan(ScanError)
    }

    /// How long a device is looked for that somebody waits for.
    package static let usualLimit = Duration.seconds(10)

    /// The time in which the kept device is to be heard before its name is listened for too.
    private static let nameDelay = Duration.seconds(3)
    /// The time for which its name is listened for, and the pause until it is again: a search by name lists every device.
    private static let nameWindow = Duration.seconds(7)
    private static let namePause = Duration.seconds(60)

    /// Told of another device that has the kept one's name, once each; the search goes on.
    package var onNamesake: ((DiscoveredDevice) -> Void)?
    /// Such a device, heard since the start; nil for none.
    private var namesake: DiscoveredDevice?
    /// Called once after each start and each `goOn` with the device, which was heard and accepts connections, unless the
    /// finder is stopped before; it scans on until `stop`.
    package var onResult: ((Result<DiscoveredDevice, Failure>) -> Void)?
    /// Whether devices are asked for more than they say by themselves, though the choice needs no asking.
    ///
    /// After an attempt that failed: a kernel that still takes an earlier active scan for a discovery of its own begins no
    /// connection, and only the end of another active scan makes it think again.
    package var isThorough = false

    private let radio: RadioArbiter
    /// The place where devices carry their address besides the one on the air; nil for nowhere.
    private let place: ManufacturerAddressField?
    private var chooser: CandidateMatcher
    private var scan: RadioScan?
    /// The scan for the device that was taken before, which may advertise without what it was recognized by.
    private var knownScan: RadioScan?
    /// The scan for others of the kept device's name.
    private var nameScan: RadioScan?
    private let nameTimer = LoopTimer()
    private let graceTimer = LoopTimer()
    private let limitTimer = LoopTimer()

    /// A finder of one device; another may be meant later.
    ///
    /// With `wantsName` it is asked for its name, which is waited for.
    package init(
        _ choice: DeviceSelector,
        advertisedAt place: ManufacturerAddressField?,
        wantsName: Bool = false,
        on radio: RadioArbiter
    ) {
        self.radio = radio
        self.place = place
        chooser = CandidateMatcher(choice, wantsName: wantsName)
    }

    deinit { stop() }

    /// The device that is meant; those that were heard for another are forgotten.
    package var choice: DeviceSelector {
        get { chooser.choice }
        set { chooser = CandidateMatcher(newValue, wantsName: chooser.wantsName) }
    }

    /// Listens until the device is heard, or `limit` is over; nothing where it listens already.
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

    /// Begins a scan beside the first one, which tells of the failure of both.
    private func begin(_ choice: DeviceSelector, _ parameters: ScanParameters) -> RadioScan {
        let scan = RadioScan(parameters, devices: choice.devices(advertisedAt: nil))
        scan.onFailure = { [unowned self, unowned scan] _ in
            if knownScan === scan { knownScan = nil }
            if nameScan === scan { nameScan = nil }
        }
        radio.start(scan)
        return scan
    }

    /// Listens for others of the kept device's name in windows, the first after a delay.
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

    /// Listens passively, for names in advertisements: a kernel from 6.12 on takes an active scan for a discovery, and refuses
    /// those of other programs.
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

    /// Takes the device's next advertisement as it took the last one, in the scan that goes on; nothing without a scan.
    package func goOn() {
        for scan in [scan, knownScan] {
            scan?.onUpdate = { [unowned self, unowned scan] update in
                take(chooser.heard(update.device, isMatch: scan === self.scan, now: MonotonicClock.now))
            }
        }
    }

    /// Listens no more; `completion` is called when the controller scans no more, or for others only.
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
        // Whoever hears of it may stop the scan, connect, and begin another scan: the radio sees the end of that only.
        radio.together { onResult?(result) }
    }

    private func quiet() {
        for timer in [graceTimer, limitTimer, nameTimer] { timer.cancel() }
        chooser.begin()
        for scan in [scan, knownScan, nameScan] { scan?.onUpdate = nil }
    }
}
