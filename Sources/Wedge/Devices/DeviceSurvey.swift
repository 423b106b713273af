// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import LinuxIO

/// One look at the devices around, for a while, on the event loop.
///
/// To be used on the loop's thread.
final class DeviceSurvey {
    /// The devices that were heard, the strongest first; or why there is no look.
    typealias Completion = (Result<[DiscoveredDevice], ScanError>) -> Void

    /// The most devices that are kept.
    private static let most = 512

    private let loop: EventLoop
    private let completion: Completion
    private var isEnough: ((DiscoveredDevice) -> Bool)?
    private var scanner: (any DeviceScanner)?
    private var timer: EventLoop.Timer?
    private var heard: [DeviceAddress: DiscoveredDevice] = [:]
    private var isDone = false

    /// A look that has not begun; `completion` is called once, unless it is abandoned.
    init(on loop: EventLoop, completion: @escaping Completion) {
        self.loop = loop
        self.completion = completion
    }

    /// Begins; it ends after `duration`, or as soon as a device is heard that is enough.
    func start(
        _ adapter: any LowEnergyAdapter,
        for duration: Duration,
        until isEnough: ((DiscoveredDevice) -> Bool)?
    ) throws(ScanError) {
        let scanner = try adapter.makeScanner()
        self.scanner = scanner
        self.isEnough = isEnough
        scanner.onUpdate = { [unowned self] update in take(update.device) }
        scanner.onFailure = { [unowned self] error in
            self.scanner = nil
            finish(.failure(error))
        }
        timer = loop.schedule(at: MonotonicClock.now + duration) { [unowned self] in
            timer = nil
            stop()
        }
        scanner.start(.discovery, devices: DeviceTable(filter: ScanFilter(), reportsDuplicates: true))
    }

    /// Ends it at once, for that reason.
    func fail(_ error: ScanError) { finish(.failure(error)) }

    /// Ends it at once, and says nothing.
    func abandon() {
        isDone = true
        if let timer { loop.cancel(timer) }
        timer = nil
        scanner?.close()
        scanner = nil
    }

    private func take(_ device: DiscoveredDevice) {
        if heard.count < Self.most || heard[device.address] != nil { heard[device.address] = device }
        if isEnough?(device) == true { stop() }
    }

    private func stop() {
        guard let scanner, !isDone else { return }
        scanner.onUpdate = nil
        scanner.stop { [weak self] in
            scanner.close()
            guard let self else { return }
            finish(
                .success(
                    heard.values.sorted {
                        ($0.rssi ?? .min, $1.address.address) > ($1.rssi ?? .min, $0.address.address)
                    }
                )
            )
        }
    }

    private func finish(_ result: Result<[DiscoveredDevice], ScanError>) {
        guard !isDone else { return }
        abandon()
        completion(result)
    }
}
