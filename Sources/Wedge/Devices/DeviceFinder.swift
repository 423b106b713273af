// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothLE
import LinuxIO

/// Finds the device that is meant: a scan of the arbiter's, and the chooser that picks out of those that it hears.
///
/// To be used on the loop's thread.
package final class DeviceFinder {
    /// How a search ended.
    package enum Outcome {
        /// The device that is meant was heard, and accepts connections.
        case found(DiscoveredDevice)
        /// Several devices claim to be the one that is meant.
        case several([DiscoveredDevice])
        /// It was not heard in time.
        case notHeard
        /// The scan has ended by itself.
        case failed(ScanError)
    }

    /// How long a device is looked for that somebody waits for.
    package static let usualLimit = Duration.seconds(10)

    /// Called once after each start and each `goOn`, unless the finder is stopped before; it scans on until `stop`.
    package var onOutcome: ((Outcome) -> Void)?
    /// Whether devices are asked for more than they say by themselves, though the choice needs no asking.
    ///
    /// After an attempt that failed: a kernel that still takes an earlier active scan for a discovery of its own begins no
    /// connection, and only the end of another active scan makes it think again.
    package var isThorough = false

    private let radio: RadioArbiter
    private var chooser: DeviceChooser
    private var scan: RadioScan?
    private var graceTimer: EventLoop.Timer?
    private var limitTimer: EventLoop.Timer?

    /// A finder of one device; another may be meant later.
    package init(_ choice: DeviceChoice, advertisedAt place: AdvertisedAddress?, on radio: RadioArbiter) {
        self.radio = radio
        chooser = DeviceChooser(choice, advertisedAt: place)
    }

    deinit { stop() }

    /// The device that is meant; those that were heard for another are forgotten.
    package var choice: DeviceChoice {
        get { chooser.choice }
        set { chooser = DeviceChooser(newValue, advertisedAt: chooser.place) }
    }

    /// Listens until the device is heard, or `limit` is over; nothing where it listens already.
    package func start(for limit: Duration? = nil) {
        guard scan == nil else { return }
        chooser.begin()
        var parameters = choice.scanParameters(advertisedAt: chooser.place)
        if isThorough { parameters.type = .active }
        let scan = RadioScan(parameters, devices: choice.devices(advertisedAt: chooser.place))
        self.scan = scan
        goOn()
        scan.onFailure = { [unowned self] error in
            self.scan = nil
            end(.failed(error))
        }
        limitTimer = limit.map { limit in
            radio.loop.schedule(at: MonotonicClock.now + limit) { [unowned self] in
                limitTimer = nil
                end(.notHeard)
            }
        }
        radio.start(scan)
    }

    /// Takes the device's next advertisement as it took the last one, in the scan that goes on; nothing without a scan.
    package func goOn() {
        scan?.onUpdate = { [unowned self] update in take(chooser.heard(update.device, now: MonotonicClock.now)) }
    }

    /// Listens no more; `completion` is called when the controller scans no more, or for others only.
    package func stop(completion: @escaping () -> Void = {}) {
        quiet()
        guard let scan else { return completion() }
        self.scan = nil
        radio.stop(scan, completion: completion)
    }

    private func take(_ verdict: DeviceChooser.Verdict) {
        switch verdict {
        case .listen:
            guard graceTimer == nil, let deadline = chooser.deadline else { return }
            graceTimer = radio.loop.schedule(at: deadline) { [unowned self] in
                graceTimer = nil
                take(chooser.decide(now: MonotonicClock.now))
            }
        case .take(let device): end(.found(device))
        case .ambiguous(let devices): end(.several(devices))
        }
    }

    private func end(_ outcome: Outcome) {
        quiet()
        // Whoever hears of it may stop the scan, connect, and begin another scan: the radio sees the end of that only.
        radio.together { onOutcome?(outcome) }
    }

    private func quiet() {
        for timer in [graceTimer, limitTimer] { if let timer { radio.loop.cancel(timer) } }
        (graceTimer, limitTimer) = (nil, nil)
        chooser.begin()
        scan?.onUpdate = nil
    }
}
