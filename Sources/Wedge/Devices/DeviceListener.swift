// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import LinuxIO

/// Listens for the device that is meant, on the event loop: a scan, and the chooser that picks out of what it hears.
///
/// To be used on the loop's thread.
final class DeviceListener {
    /// The device that is meant was heard, and accepts connections.
    var onHeard: ((DeviceAddress) -> Void)?
    /// Two devices claim to be the one that is meant.
    var onAmbiguity: (([DeviceAddress]) -> Void)?
    /// The scan has ended by itself.
    var onFailure: ((ScanError) -> Void)?

    /// Whether devices are asked for more than they say by themselves, though the choice needs no asking.
    ///
    /// After an attempt that failed: a kernel that still takes an earlier active scan for a discovery of its own begins no
    /// connection, and only the end of another active scan makes it think again.
    var isThorough = false

    private let loop: EventLoop
    private let place: AdvertisedAddress?
    private var chooser: DeviceChooser
    private var timer: EventLoop.Timer?
    private var scanner: (any DeviceScanner)?
    /// Called when the scanner that is being stopped has stopped; nil while none is.
    private var waiting: [() -> Void]?
    /// Where to listen again after that.
    private var restart: (any LowEnergyAdapter)?

    /// A listener for one device; another may be meant later.
    init(_ choice: DeviceChoice, advertisedAt place: AdvertisedAddress?, on loop: EventLoop) {
        self.loop = loop
        self.place = place
        chooser = DeviceChooser(choice, advertisedAt: place)
    }

    /// Who is meant; what was heard of another is forgotten.
    var choice: DeviceChoice {
        get { chooser.choice }
        set { chooser = DeviceChooser(newValue, advertisedAt: place) }
    }

    /// Listens, once an earlier scan has stopped.
    func start(_ adapter: any LowEnergyAdapter) {
        guard waiting == nil else {
            restart = adapter
            return
        }
        guard scanner == nil else { return }
        chooser.begin()
        do throws(ScanError) {
            let scanner = try adapter.makeScanner()
            self.scanner = scanner
            scanner.onUpdate = { [unowned self] update in
                take(chooser.heard(update.device, now: MonotonicClock.now))
            }
            scanner.onFailure = { [unowned self] error in
                abandon()
                onFailure?(error)
            }
            var parameters = chooser.scanParameters
            if isThorough {
                parameters = ScanParameters(type: .active, interval: parameters.interval, window: parameters.window)
            }
            scanner.start(parameters, devices: choice.devices)
        } catch {
            // Not from within the call that asks for it.
            _ = loop.schedule(at: .zero) { [weak self] in self?.onFailure?(error) }
        }
    }

    /// Listens no more; `completion` is called when the controller scans no more.
    func stop(completion: @escaping () -> Void) {
        quiet()
        restart = nil
        if waiting != nil {
            waiting?.append(completion)
            return
        }
        guard let scanner else { return completion() }
        waiting = [completion]
        scanner.stop { [weak self] in
            // Its sockets would hear every report of the kernel's own scans.
            scanner.close()
            guard let self else { return }
            if self.scanner === scanner { self.scanner = nil }
            stopped()
        }
    }

    /// Listens no more, at once: the adapter is gone.
    func abandon() {
        quiet()
        scanner?.close()
        scanner = nil
        restart = nil
        stopped()
    }

    private func stopped() {
        let callers = waiting ?? []
        waiting = nil
        for caller in callers { caller() }
        if let adapter = restart {
            restart = nil
            start(adapter)
        }
    }

    private func quiet() {
        if let timer { loop.cancel(timer) }
        timer = nil
        chooser.begin()
        scanner?.onUpdate = nil
    }

    private func take(_ verdict: DeviceChooser.Verdict) {
        switch verdict {
        case .listen:
            guard timer == nil, let deadline = chooser.deadline else { return }
            timer = loop.schedule(at: deadline) { [unowned self] in
                timer = nil
                take(chooser.decide(now: MonotonicClock.now))
            }
        case .take(let device):
            quiet()
            onHeard?(device)
        case .ambiguous(let devices):
            quiet()
            onAmbiguity?(devices)
        }
    }
}
