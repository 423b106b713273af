// SPDX-License-Identifier: GPL-2.0-or-later

package import Beacons
package import BluetoothLE
import LinuxIO

/// The beacons of an adapter: a scan of the arbiter's while there is something to hear, and the monitor that it feeds.
package final class BeaconService {
    /// How long a scan that failed is left alone.
    private static let pause = Duration.seconds(3)

    package var onEvent: ((BeaconMonitor.Event) -> Void)?
    /// Told, once, that the controller has begun to scan.
    package var onStarted: (() -> Void)?
    /// Told why a scan has ended by itself, the first time in a row; it is begun again.
    package var onFailure: ((ScanError) -> Void)?
    /// Told that what is watched may be another, and that a scan has failed or goes on again.
    package var onChange: (() -> Void)?

    package private(set) var monitor: BeaconMonitor
    /// Why the last scan has ended by itself; nil from the next one that began.
    package private(set) var failure: ScanError?

    private let radio: RadioArbiter
    private var scan: RadioScan?
    private let timer = LoopTimer()
    private let pauseTimer = LoopTimer()
    private var isEnded = false

    /// Nothing is listened for before the monitor watches something.
    package init(_ monitor: BeaconMonitor, on radio: RadioArbiter) {
        self.monitor = monitor
        self.radio = radio
        settle()
    }

    /// Changes what is watched, and begins or ends the scan as that wants it.
    package func change<Value>(_ body: (inout BeaconMonitor) -> Value) -> Value {
        defer {
            settle()
            onChange?()
        }
        return body(&monitor)
    }

    /// Tells of what is inside and wants it told, as the display goes on (D-24).
    package func displayCameOn() { tell { monitor, tell in monitor.displayCameOn(tell: tell) } }

    /// Has the display go on with the scan's start: what is inside is told when its first sightings are in (D-24).
    package func displayStarted() { monitor.displayStarted(now: MonotonicClock.now) }

    /// Listens no more; `completion` is called when the controller scans no more, or for others only.
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

    /// Lets the monitor work, and passes on what it tells when it has done so: whoever hears of it may change what is watched.
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
