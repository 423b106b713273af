// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
package import BluetoothPackets
import LinuxIO
import SystemPackage

/// An attempt to connect to a device, queued in a `RadioArbiter`.
package final class RadioAttempt {
    package enum Patience: Equatable, Sendable {
        /// A single connection attempt with this time-out.
        case once(Duration)
        /// Repeated connection attempts, alternating with the attempts for other devices (CB-6).
        ///
        /// The repetition ends when a connection succeeds, when it fails for a permanent reason, or when it is
        /// cancelled.
        case forever
    }

    /// The pause between a failed connection with `Patience.forever` and the start of the next queued attempt.
    static let pause = Duration.seconds(1)
    /// The time-out of each connection attempt with `Patience.forever`.
    private static let turn = Duration.seconds(10)

    package let device: DeviceAddress
    let patience: Patience
    /// The current connection; nil while the attempt is queued.
    var connection: (any ConnectionAttempt)?
    private var completion: ((Result<ATTLink, LinkFailure>) -> Void)?

    init(
        _ device: DeviceAddress,
        _ patience: Patience,
        _ completion: @escaping (Result<ATTLink, LinkFailure>) -> Void
    ) {
        self.device = device
        self.patience = patience
        self.completion = completion
    }

    var timeout: Duration {
        switch patience {
        case .once(let timeout): timeout
        case .forever: Self.turn
        }
    }

    func isWorthTryingAgain(after failure: LinkFailure) -> Bool {
        patience == .forever && failure.isPassing
    }

    /// Calls the completion handler with the result; only the first call has an effect.
    func finish(_ result: Result<ATTLink, LinkFailure>) {
        connection = nil
        let handler = completion
        completion = nil
        handler?(result)
    }

    /// Cancels the attempt; the completion handler is not called.
    func abandon() {
        completion = nil
        connection?.cancel()
        connection = nil
    }
}

extension LinkFailure {
    /// True if the failure may be temporary: the device may be out of range, or the controller busy.
    fileprivate var isPassing: Bool {
        switch self {
        case .timedOut, .closedByPeer, .notEstablished, .refused: true
        case .system(let error):
            switch error {
            case .timedOut, .connectionRefused, .connectionReset, .connectionAbort, .hostIsDown, .noRouteToHost,
                .resourceBusy, .alreadyInProcess:
                true
            default: false
            }
        case .bearer, .adapterLost, .notSecured: false
        }
    }
}

/// A scan in a `RadioArbiter`: it runs when the radio is free, or shares the reports of another running scan.
package final class RadioScan {
    package let parameters: ScanParameters

    /// The handler of reports that pass the filter.
    package var onUpdate: ((DeviceTable.Update) -> Void)?
    /// The handler of raw packets that contain advertising reports.
    ///
    /// A scan with this handler stores no devices while it shares another scan's reports.
    package var onPacket: ((Span<UInt8>, _ now: Duration) -> Void)?
    /// The handler that is called once, when the controller starts scanning for the first time.
    package var onStarted: (() -> Void)?
    /// The handler that is called when the scan fails, which ends it.
    package var onFailure: ((ScanError) -> Void)?

    /// The arbiter's handler, called each time the controller has started scanning.
    var onArmed: (() -> Void)?

    /// The scanner that runs the scan; nil while the scan is paused or shares another scan's reports.
    var scanner: (any DeviceScanner)?
    /// The devices and the number of dropped reports, kept while the scan has no scanner.
    private var last: (devices: DeviceTable, droppedReports: UInt32)

    /// Creates a scan, which `RadioArbiter.start` starts.
    ///
    /// The table determines which devices are reported, and if repeated reports of a device are passed on.
    package init(_ parameters: ScanParameters, devices: DeviceTable) {
        self.parameters = parameters
        last = (devices, 0)
    }

    /// The initial devices of the scan, and the devices heard since it was started.
    package var devices: DeviceTable { scanner?.devices ?? last.devices }

    /// Number of reports that were lost, since the scan last started running, because they were not read in time.
    package var droppedReports: UInt32 { scanner?.droppedReports ?? last.droppedReports }

    /// Removes devices that have not been heard recently (LK-3); called before the devices are shown.
    package func expireDevices() {
        if let scanner { scanner.expireDevices() } else { _ = last.devices.expire(now: MonotonicClock.now) }
    }

    /// Starts or resumes the scan with a scanner that the arbiter provides.
    func begin(_ scanner: any DeviceScanner) {
        self.scanner = scanner
        scanner.onUpdate = { [weak self] update in self?.onUpdate?(update) }
        scanner.onStarted = { [weak self] in self?.onArmed?() }
        scanner.start(parameters, devices: last.devices)
    }

    /// Calls `onStarted` once, when the controller has started this scan or the scan whose reports it shares.
    func noteStart() {
        let handler = onStarted
        onStarted = nil
        handler?()
    }

    /// Handles a packet of advertising reports from the running scan.
    func overhear(_ packet: Span<UInt8>, now: Duration) {
        if let onPacket { return onPacket(packet, now) }
        // The updates are collected first and then passed on, because a handler may end the scan.
        var updates: [DeviceTable.Update] = []
        last.devices.handle(packet, now: now) { update in updates.append(update) }
        for update in updates { onUpdate?(update) }
    }

    /// Restarts the scan in the controller; the devices are kept.
    func arm() {
        guard let scanner else { return }
        scanner.start(parameters, devices: scanner.devices)
    }

    /// Pauses the scan and releases the scanner, but keeps its devices and its number of dropped reports.
    func rest() {
        guard let scanner else { return }
        scanner.onUpdate = nil
        scanner.onStarted = nil
        scanner.onPacket = nil
        onArmed = nil
        last = (scanner.devices, scanner.droppedReports)
        self.scanner = nil
    }

    /// Ends the scan, and calls `onFailure` with the error.
    func fail(_ error: ScanError) {
        rest()
        let handler = onFailure
        onFailure = nil
        handler?(error)
    }
}

/// A pairing, queued in a `RadioArbiter`; once started, it has exclusive use of the radio until `RadioArbiter.end`.
package final class RadioPairing {
    /// The device, and the user's options for the pairing.
    package let wish: PairingOptions
    /// The handler of questions, numbers and the result, like `DevicePairing.onNews`.
    package var onNews: ((ManagedPairing.News) -> Void)?
    /// The handler that is called once if the adapter is lost, which ends the pairing without a result.
    package var onLoss: ((AdapterLoss) -> Void)?

    /// The adapter's pairing; nil while this pairing is queued.
    private var pairing: (any DevicePairing)?
    private var onClosed: (() -> Void)?

    /// Creates a pairing, which `RadioArbiter.start` starts.
    package init(_ wish: PairingOptions) { self.wish = wish }

    /// Answers the comparison of two numbers.
    package func answer(_ isSame: Bool) { pairing?.answer(isSame) }

    /// Answers the request for a passkey; nil means that the user declines.
    package func answer(passkey: UInt32?) { pairing?.answer(passkey: passkey) }

    /// Starts the pairing on an adapter that is neither scanning nor connecting.
    func begin(on adapter: any LowEnergyAdapter) {
        let pairing = adapter.makePairing(wish)
        self.pairing = pairing
        pairing.onNews = { [weak self] news in self?.onNews?(news) }
        pairing.begin()
    }

    /// Reports that the pairing was cancelled, because the adapter has not reported a result in time.
    func giveUp() { onNews?(.ended(.failure(.cancelled))) }

    /// Ends the pairing and its link; `completion` is called once, by `noteClosed` at the latest.
    func close(forgetting: Bool, completion: @escaping () -> Void) {
        (onNews, onLoss) = (nil, nil)
        onClosed = completion
        let ended = pairing
        pairing = nil
        ended?.close(forgetting: forgetting) { [self] in noteClosed() }
        if ended == nil { noteClosed() }
    }

    /// Calls the completion handler of `close`, even if the adapter has not answered.
    func noteClosed() {
        let completion = onClosed
        onClosed = nil
        completion?()
    }

    func lose(_ loss: AdapterLoss) {
        if onClosed != nil { return noteClosed() }
        let handler = onLoss
        close(forgetting: true) {}
        handler?(loss)
    }
}

extension RadioArbiter {
    /// The current use of the radio.
    enum Radio {
        case idle
        case scanning
        case stopping(any DeviceScanner)
        case connecting(RadioAttempt)
        case pairing(RadioPairing)
    }

    /// The arbiter's time-outs for an adapter's operations; the adapter's own time-outs are shorter.
    struct Limits: Sendable {
        /// Maximum time for a scanner to stop.
        var stop = Duration.seconds(15)
        /// Additional time for a connection to succeed or fail after its own time-out.
        var connection = Duration.seconds(5)
        /// Additional time for a pairing to end after its own time limit.
        var pairing = Duration.seconds(20)
    }
}
