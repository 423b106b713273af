// SPDX-License-Identifier: GPL-2.0-or-later

import Control
import Daemon
import LinuxIO
import SystemPackage
import Texts

/// The daemon as the pages see it: looked for until it answers, asked how it stands, and followed (LK-24, LK-25).
final class TUIDaemon {
    var onStatus: ((StatusAnswer) -> Void)?
    /// Called when the daemon does not answer, each time that it was looked for in vain.
    var onAbsence: ((CommandFailure) -> Void)?
    /// Called when the daemon has received data.
    var onReceived: (() -> Void)?
    var onDevices: ((JSONValue) -> Void)?
    var onScanFailure: ((CommandFailure) -> Void)?
    var onBeacons: ((Result<BeaconsAnswer, CommandFailure>) -> Void)?

    /// How often the daemon is asked, or looked for.
    private static let period = Duration.seconds(1)
    /// How long it is left alone between two scans while it looks for its own device.
    private static let scanPause = Duration.seconds(4)

    private let loop: EventLoop
    private let paths: [String]
    private let scanTime: Duration
    /// The connections: for requests that are answered at once, for slow ones in turn, and for the stream of events.
    private var quick: TUIConnection?
    private var slow: TUIConnection?
    private var events: TUIConnection?
    private var isAsking = false
    private var isAskingBeacons = false
    private var isScanning = false
    /// Whether the next scan's list begins with it.
    private var wantsAnew = false
    private var nextScan = Duration.zero
    private var state: Session.State?

    /// The devices are listened for at a time.
    var wantsDevices = false { didSet { if wantsDevices { scan() } } }
    /// The daemon is asked about beacons, too.
    var wantsBeacons = false { didSet { if wantsBeacons, !oldValue { askBeacons() } } }

    /// A daemon at the first of the paths where one listens; `scanTime` is the time of a look at the devices.
    init(at paths: [String], scanTime: Duration, on loop: EventLoop) {
        self.paths = paths
        self.scanTime = scanTime
        self.loop = loop
    }

    /// Asks the daemon; false where too much is asked already; the answer comes on the loop.
    func ask(_ request: ControlRequest, completion: @escaping (CommandFailure?) -> Void) -> Bool {
        let connection: TUIConnection?
        if case .use = request { connection = slowConnection() } else { connection = quick }
        guard let connection else {
            completion(.noDaemon)
            return true
        }
        return connection.ask(request) { [weak self] result in
            switch result {
            case .success: completion(nil)
            case .failure(let failure): completion(failure)
            }
            self?.askStatus()
        }
    }

    /// Listens for the devices at once, where that is wanted; with `isAnew` those heard earlier are forgotten.
    func rescan(isAnew: Bool) {
        if isAnew { wantsAnew = true }
        nextScan = .zero
        scan()
    }

    func end() {
        for connection in [quick, slow, events] { connection?.end() }
        (quick, slow, events) = (nil, nil, nil)
    }

    /// Looks for the daemon or asks it, now and in every period from now on.
    func start() {
        if quick == nil { attach() } else { askStatus() }
        askBeacons()
        scan()
        _ = loop.schedule(at: MonotonicClock.now + Self.period) { [weak self] in self?.start() }
    }

    private func attach() {
        var failure = CommandFailure.noDaemon
        for path in paths {
            do throws(CommandFailure) {
                let quick = try TUIConnection(to: path, on: loop)
                let events = try TUIConnection(to: path, on: loop)
                quick.onEnd = { [weak self] failure in self?.lose(failure) }
                events.onEnd = { [weak self] failure in self?.lose(failure) }
                events.onEvent = { [weak self] event in self?.take(event) }
                (self.quick, self.events) = (quick, events)
                _ = events.ask(.events) { _ in }
                askStatus()
                return
            } catch {
                if error.kind != .noDaemon { failure = error }
            }
        }
        onAbsence?(failure)
    }

    private func lose(_ failure: CommandFailure) {
        end()
        isAsking = false
        isAskingBeacons = false
        isScanning = false
        state = nil
        onAbsence?(failure)
    }

    private func take(_ event: JSONValue) {
        if event["event"]?.string == "received" { onReceived?() } else { askBeacons() }
        askStatus()
    }

    private func askStatus() {
        guard !isAsking, let quick else { return }
        isAsking = quick.ask(.status) { [weak self] result in
            guard let self else { return }
            isAsking = false
            switch result {
            case .failure(let failure): onAbsence?(failure)
            case .success(let answer):
                guard let status = StatusAnswer(answer) else {
                    let name = answer["state"]?.string ?? ""
                    onAbsence?(CommandFailure(.unavailable, ControlFaultText.unknownState, name))
                    return
                }
                state = status.state
                onStatus?(status)
            }
        }
    }

    private func askBeacons() {
        guard wantsBeacons, !isAskingBeacons, let quick else { return }
        isAskingBeacons = quick.ask(.beacons(.status)) { [weak self] result in
            guard let self else { return }
            isAskingBeacons = false
            onBeacons?(result.map { BeaconsAnswer($0) })
        }
    }

    // MARK: Devices

    /// A connection for what takes its time: the daemon closes one that is silent for long.
    private func slowConnection() -> TUIConnection? {
        if let slow { return slow }
        guard quick != nil else { return nil }
        for path in paths {
            guard let connection = try? TUIConnection(to: path, on: loop) else { continue }
            connection.onEnd = { [weak self] _ in
                self?.slow = nil
                self?.isScanning = false
            }
            slow = connection
            return connection
        }
        return nil
    }

    private func scan() {
        guard wantsDevices, !isScanning, MonotonicClock.now >= nextScan, let slow = slowConnection() else { return }
        let isAnew = wantsAnew
        wantsAnew = false
        isScanning = slow.ask(.scan(for: scanTime, isAnew: isAnew)) { [weak self] result in
            guard let self else { return }
            isScanning = false
            // While the daemon looks for its own device, these looks at all devices keep it from that.
            let isLooking = state == .connecting || state == .lost || state == .failed
            if isLooking { nextScan = MonotonicClock.now + Self.scanPause }
            switch result {
            case .success(let answer):
                if !wantsAnew { onDevices?(answer) }
                scan()
            case .failure(let failure):
                nextScan = MonotonicClock.now + Self.period
                onScanFailure?(failure)
            }
        }
    }
}
