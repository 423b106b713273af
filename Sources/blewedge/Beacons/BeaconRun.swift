// SPDX-License-Identifier: GPL-2.0-or-later

import Beacons
import BluetoothLE
import Control
import Daemon
import Devices
import LinuxIO
import Texts

/// Beacons in the foreground: watched, ranged or advertised until the time is over or a signal comes.
final class BeaconRun {
    private let foreground: ForegroundRun
    private let duration: Duration?
    private var service: BeaconService?
    private var advertiser: BeaconAdvertiser?

    /// Called with what the monitor tells; the monitor as it stands then.
    var onEvent: ((BeaconMonitor.Event, BeaconMonitor) -> Void)?
    /// Called when the time is over, before the end.
    var onOver: ((BeaconMonitor) -> Void)?

    init(_ transport: AdapterTransport, for duration: Duration?) throws(CommandFailure) {
        foreground = try ForegroundRun(transport)
        self.duration = duration
        foreground.onFinish = { [unowned self] completion in
            if let advertiser { return _ = advertiser.stop(completion: completion) }
            guard let service else { return completion() }
            service.end(completion: completion)
        }
    }

    /// Listens with that monitor; throws the exit status unless it is success.
    func listen(_ monitor: BeaconMonitor, note: Message?) throws {
        try foreground.run(note: note) { [unowned self] radio in
            let service = BeaconService(monitor, on: radio)
            self.service = service
            service.onEvent = { [unowned self, unowned service] event in onEvent?(event, service.monitor) }
            service.onFailure = { [unowned self] error in foreground.finish(.failure(CommandFailure(error))) }
            service.onStarted = { [unowned self, unowned service] in
                service.displayStarted()
                endInTime()
            }
        }
    }

    /// Advertises a beacon; throws the exit status unless it is success.
    func advertise(_ frame: BeaconFrame, isJSON: Bool) throws {
        try foreground.run { [unowned self] radio in
            let advertiser = BeaconAdvertiser(on: radio)
            self.advertiser = advertiser
            advertiser.onChange = { [unowned self, unowned advertiser] in
                switch advertiser.state {
                case .off, .starting: break
                case .on:
                    tell(frame, radio.adapter?.name ?? "", isJSON)
                    endInTime()
                case .failed: if let failure = advertiser.failure { foreground.finish(.failure(failure)) }
                }
            }
            advertiser.start(frame)
        }
    }

    /// Prints to standard output.
    func print(_ text: String) { foreground.print(text) }

    /// Ends with success.
    func finish() { foreground.finish(.success(.success)) }

    private func tell(_ frame: BeaconFrame, _ adapter: String, _ isJSON: Bool) {
        guard isJSON else { return Console.note(BeaconText.advertising.message("\(frame.identity)", adapter)) }
        var object = JSONObject()
        object.add("event", "advertising")
        object.add("advertised", "\(frame.identity)")
        object.add("format", frame.format.rawValue)
        object.add("adapter", adapter)
        print(object.text + "\n")
    }

    private func endInTime() {
        guard let duration else { return }
        _ = foreground.loop.schedule(at: MonotonicClock.now + duration) { [unowned self] in
            if let service { onOver?(service.monitor) }
            foreground.finish(.success(.success))
        }
    }
}
