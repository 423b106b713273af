// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Control
import Daemon
import LinuxIO
import SystemPackage
import Texts

/// Client of the pages: finds the daemon, polls its status, and follows its events (LK-24, LK-25).
final class TUIDaemon {
    var onStatus: ((StatusAnswer) -> Void)?
    /// Called each time the daemon is not found or does not answer.
    var onAbsence: ((CommandFailure) -> Void)?
    /// Called when the daemon has received data.
    var onReceived: (() -> Void)?
    var onDevices: ((JSONValue) -> Void)?
    var onScanFailure: ((CommandFailure) -> Void)?
    /// Called with a function that returns the last received bytes in hexadecimal, or the reason why they are unknown.
    ///
    /// The function's argument is the language of the reason.
    var onHex: (((Language) -> String?) -> Void)?
    var onBeacons: ((Result<BeaconsAnswer, CommandFailure>) -> Void)?

    /// Interval at which the daemon is polled, or looked for.
    private static let period = Duration.seconds(1)
    /// Pause between two scans for these pages while the daemon looks for its own device.
    private static let scanPause = Duration.seconds(4)

    private let loop: EventLoop
    private let paths: [String]
    private let scanTime: Duration
    /// Connections: for quick requests, for slow requests, and for the event stream.
    private var quick: TUIConnection?
    private var slow: TUIConnection?
    private var events: TUIConnection?
    private var isAsking = false
    private var isAskingBeacons = false
    private var isAskingHex = false
    private(set) var isScanning = false
    /// True if the next scan starts a new list of devices.
    private var wantsAnew = false
    private var nextScan = Duration.zero
    private var state: Session.State?
    /// Name of the first device of a daemon with several devices, which the pages show; nil for the only device.
    private var firstName: String?

    /// True to scan for devices repeatedly.
    var wantsDevices = false { didSet { if wantsDevices { scan() } } }
    /// True to poll the daemon about beacons, too.
    var wantsBeacons = false { didSet { if wantsBeacons, !oldValue { askBeacons() } } }

    /// True to poll the daemon for the last received bytes, which it keeps only while a client requests them.
    var wantsHex = false { didSet { if wantsHex, !oldValue { askHex() } } }

    /// Creates a client for the daemon at the first path that accepts a connection; each scan lasts `scanTime`.
    init(at paths: [String], scanTime: Duration, on loop: EventLoop) {
        self.paths = paths
        self.scanTime = scanTime
        self.loop = loop
    }

    /// Sends a request and calls `completion` on the event loop; returns false if too many requests are pending.
    func ask(_ request: ControlRequest, completion: @escaping (CommandFailure?) -> Void) -> Bool {
        let connection: TUIConnection?
        if case .use = request { connection = slowConnection() } else { connection = quick }
        guard let connection else {
            completion(.noDaemon)
            return true
        }
        return connection.ask(ofFirst(request)) { [weak self] result in
            switch result {
            case .success: completion(nil)
            case .failure(let failure): completion(failure)
            }
            self?.askStatus()
        }
    }

    /// Scans at once, or after the current scan, if `wantsDevices` is true; `isAnew` forgets the devices heard earlier.
    func rescan(isAnew: Bool) {
        if isAnew { wantsAnew = true }
        nextScan = .zero
        scan()
    }

    func end() {
        for connection in [quick, slow, events] { connection?.end() }
        (quick, slow, events) = (nil, nil, nil)
    }

    /// Connects to the daemon or polls it, now and once per period.
    func start() {
        if quick == nil { attach() } else { askStatus() }
        askBeacons()
        askHex()
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
        isAskingHex = false
        isScanning = false
        state = nil
        onAbsence?(failure)
    }

    private func take(_ event: JSONValue) {
        if event["event"]?.string == "received" {
            onReceived?()
            askHex()
        } else {
            askBeacons()
        }
        askStatus()
    }

    /// Returns the request for the first device if it concerns a device.
    private func ofFirst(_ request: ControlRequest) -> ControlRequest {
        request.concernsDevice ? request.of(firstName) : request
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
                firstName = answer["devices"]?.array?.first?["name"]?.string
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

    private func askHex() {
        guard wantsHex, !isAskingHex, let quick else { return }
        isAskingHex = quick.ask(ofFirst(.received)) { [weak self] result in
            guard let self else { return }
            isAskingHex = false
            switch result {
            case .success(let answer):
                let text = answer["hex"]?.string.flatMap { Hexadecimal.bytes($0) }.map(Self.pairs)
                onHex? { _ in text }
            case .failure(let failure): onHex? { Reason(failure).line($0) }
            }
        }
    }

    /// Formats bytes as pairs of hexadecimal digits, with spaces between them.
    private static func pairs(_ bytes: [UInt8]) -> String {
        bytes.map { Hexadecimal.text([$0]) }.joined(separator: " ")
    }

    // MARK: Devices

    /// Returns the connection for slow requests; reopens it if the daemon has closed it for inactivity.
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
            // While the daemon looks for its own device, scans for all devices would keep it from doing so.
            let isLooking = state == .connecting || state == .lost || state == .failed
            if isLooking { nextScan = MonotonicClock.now + Self.scanPause }
            switch result {
            case .success(let answer):
                let isCurrent = !wantsAnew
                scan()
                if isCurrent { onDevices?(answer) }
            case .failure(let failure):
                nextScan = MonotonicClock.now + Self.period
                onScanFailure?(failure)
            }
        }
    }
}
