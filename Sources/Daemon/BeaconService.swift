// SPDX-License-Identifier: GPL-2.0-or-later

package import Beacons
package import BluetoothAdapters
import BluetoothHost
import BluetoothPackets
import LinuxIO

/// Beacon service of an adapter: the scan for beacons, and the monitor that evaluates its reports.
///
/// The scan goes through the arbiter, and runs only while it is needed.
package final class BeaconService {
    /// Pause between a failed scan and the next one.
    private static let pause = Duration.seconds(3)

    package var onEvent: ((BeaconMonitor.Event) -> Void)?
    /// Handler that is called once, when the controller has started to scan.
    package var onStarted: (() -> Void)?
    /// Handler for an error that ended a scan.
    ///
    /// It is called for the first of consecutive failures only. The scan is restarted after every failure.
    package var onFailure: ((ScanError) -> Void)?
    /// Handler for changes of the watched regions, and for failures and recoveries of the scan.
    ///
    /// It may also be called if nothing has changed.
    package var onChange: (() -> Void)?

    package private(set) var monitor: BeaconMonitor
    /// Error that ended the last scan; nil after the next one has started.
    package private(set) var failure: ScanError?

    private let radio: RadioArbiter
    private var scan: RadioScan?
    private let timer = LoopTimer()
    private let pauseTimer = LoopTimer()
    private var isEnded = false

    /// Creates a service that scans only while the monitor needs it.
    package init(_ monitor: BeaconMonitor, on radio: RadioArbiter) {
        self.monitor = monitor
        self.radio = radio
        settle()
    }

    /// Changes the monitor, and then starts or stops the scan if necessary.
    package func change<Value>(_ body: (inout BeaconMonitor) -> Value) -> Value {
        defer {
            settle()
            onChange?()
        }
        return body(&monitor)
    }

    /// Reports entered regions that are configured to be reported when the display is switched on (D-24).
    package func displayCameOn() { tell { monitor, tell in monitor.displayCameOn(tell: tell) } }

    /// Treats the start of the scan as the display being switched on (D-24).
    ///
    /// Entered regions are therefore reported at their first sightings.
    package func displayStarted() { monitor.displayStarted(now: MonotonicClock.now) }

    /// Stops listening; calls `completion` when the controller has stopped scanning for this service.
    package func end(completion: @escaping () -> Void = {}) {
        isEnded = true
        for timer in [timer, pauseTimer] { timer.cancel() }
        stop(completion)
    }

    private func settle() {
        setTimer()
        guard !isEnded, !monitor.isIdle else { return stop {} }
        guard scan == nil, !pauseTimer.isSet else { return }
        let scan = RadioScan(.background, devices: DeviceTable())
        self.scan = scan
        scan.onPacket = { [unowned self] packet, now in
            tell { monitor, tell in monitor.handle(packet, now: now, tell: tell) }
        }
        scan.onStarted = { [unowned self] in
            let hadFailed = failure != nil
            failure = nil
            onStarted?()
            onStarted = nil
            if hadFailed { onChange?() }
        }
        scan.onFailure = { [unowned self] error in failed(error) }
        radio.start(scan)
    }

    private func failed(_ error: ScanError) {
        scan = nil
        pauseTimer.set(on: radio.loop, after: Self.pause) { [unowned self] in settle() }
        let isFirst = failure == nil
        failure = error
        if isFirst { onFailure?(error) }
        onChange?()
    }

    private func stop(_ completion: @escaping () -> Void) {
        guard let scan else { return completion() }
        self.scan = nil
        radio.stop(scan, completion: completion)
    }

    /// Runs the monitor, and delivers its events afterwards, because their handlers may change the watched regions.
    private func tell(_ body: (inout BeaconMonitor, (BeaconMonitor.Event) -> Void) -> Void) {
        var events: [BeaconMonitor.Event] = []
        body(&monitor) { events.append($0) }
        for event in events { onEvent?(event) }
        if !events.isEmpty || !timer.isSet { setTimer() }
    }

    private func setTimer() {
        timer.set(on: radio.loop, at: isEnded ? nil : monitor.deadline) { [unowned self] in
            tell { monitor, tell in monitor.expire(now: MonotonicClock.now, tell: tell) }
            setTimer()
        }
    }
}
