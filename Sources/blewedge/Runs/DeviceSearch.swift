// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import LinuxIO
import Texts
import Wedge

/// Listens for the device that is meant, until it is heard or some seconds are over.
///
/// To be used on the event loop's thread.
final class DeviceSearch {
    /// How long the device is looked for.
    private static let limit = Duration.seconds(10)

    private let loop: EventLoop
    private let choice: DeviceChoice
    private let completion: (Result<DiscoveredDevice, CommandFailure>) -> Void
    private var chooser: DeviceChooser
    private var scanner: (any DeviceScanner)?
    private var timer: EventLoop.Timer?
    /// Those that may be meant: two are enough for a name.
    private var heard: [DeviceAddress: DiscoveredDevice] = [:]

    /// A search that has not begun; `completion` is called once, when nothing is scanned for any more.
    init(
        for choice: DeviceChoice,
        on loop: EventLoop,
        completion: @escaping (Result<DiscoveredDevice, CommandFailure>) -> Void
    ) {
        self.choice = choice
        self.loop = loop
        self.completion = completion
        chooser = DeviceChooser(choice)
    }

    /// Begins.
    func start(through adapter: any LowEnergyAdapter) {
        do throws(ScanError) {
            let scanner = try adapter.makeScanner()
            self.scanner = scanner
            scanner.onUpdate = { [unowned self] update in
                remember(update.device)
                take(chooser.heard(update.device, now: MonotonicClock.now))
            }
            scanner.onFailure = { [unowned self] error in end(.failure(CommandFailure(error))) }
            scanner.start(choice.scanParameters, devices: choice.devices)
        } catch {
            return end(.failure(CommandFailure(error)))
        }
        setTimer(Self.limit) { [unowned self] in
            end(
                .failure(
                    CommandFailure(
                        .timeout,
                        CommandFaultText.notHeard,
                        "\(choice)",
                        "\(Self.limit.components.seconds)"
                    )
                )
            )
        }
    }

    /// Ends the search without its completion; `stopped` is called when nothing is scanned for any more.
    func cancel(stopped: @escaping () -> Void) {
        quiet()
        guard let scanner else { return stopped() }
        self.scanner = nil
        scanner.stop {
            scanner.close()
            stopped()
        }
    }

    private func remember(_ device: DiscoveredDevice) {
        if case .address(let address) = choice, address != device.address.address { return }
        guard device.isConnectable, heard.count < 2 || heard[device.address] != nil else { return }
        heard[device.address] = device
    }

    private func take(_ verdict: DeviceChooser.Verdict) {
        switch verdict {
        case .listen:
            guard let deadline = chooser.deadline else { return }
            // Others may claim the same name until then.
            setTimer(deadline - MonotonicClock.now) { [unowned self] in take(chooser.decide(now: MonotonicClock.now)) }
        case .ambiguous(let devices):
            let list = Message.list(devices.map(\.description))
            end(.failure(CommandFailure(.usage, LinkFaultText.severalHeard, "\(choice)", list)))
        case .take(let address):
            if let device = heard[address] { end(.success(device)) }
        }
    }

    private func end(_ result: Result<DiscoveredDevice, CommandFailure>) {
        cancel { [completion] in completion(result) }
    }

    private func quiet() {
        if let timer { loop.cancel(timer) }
        timer = nil
        scanner?.onUpdate = nil
        scanner?.onFailure = nil
    }

    private func setTimer(_ time: Duration, _ handler: @escaping () -> Void) {
        if let timer { loop.cancel(timer) }
        timer = loop.schedule(at: MonotonicClock.now + time) { [unowned self] in
            timer = nil
            handler()
        }
    }
}
