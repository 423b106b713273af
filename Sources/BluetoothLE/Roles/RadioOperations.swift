// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
package import BluetoothPackets
import LinuxIO
import SystemPackage

/// An attempt to connect to a device, which waits in a `RadioArbiter` for its turn on the radio.
package final class RadioAttempt {
    package enum Patience: Equatable, Sendable {
        /// One connection, with this timeout.
        case once(Duration)
        /// Connections one after another, in turn with the attempts for other devices, until one succeeds, the
        /// attempt is cancelled, or a connection fails for a reason that another would not change (CB-6).
        case forever
    }

    /// The pause after a failed attempt with `Patience.forever`, before the next attempt in the queue begins.
    static let pause = Duration.seconds(1)
    /// The timeout of each connection under `Patience.forever`.
    private static let turn = Duration.seconds(10)

    package let device: DeviceAddress
    let patience: Patience
    /// The connection being made; nil while the attempt waits for its turn.
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

    /// Calls the completion handler with the result; calls after the first do nothing.
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
    /// True for a failure that may pass: the device may be out of reach, or the controller busy.
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

/// A scan, which a `RadioArbiter` runs while the radio is free for it, or which overhears another one that runs.
package final class RadioScan {
    package let parameters: ScanParameters

    /// The handler of the reports that pass the filter.
    package var onUpdate: ((DeviceTable.Update) -> Void)?
    /// The handler of the packets of advertising reports, as the controller sends them; where there is one, the scan keeps no
    /// devices while another scan runs.
    package var onPacket: ((Span<UInt8>, _ now: Duration) -> Void)?
    /// The handler that is called once, when the controller has first started scanning.
    package var onStarted: (() -> Void)?
    /// The handler that is called when the scan has failed, which ends it.
    package var onFailure: ((ScanError) -> Void)?

    /// The handler that is called each time that the controller has begun to scan, for the arbiter.
    var onArmed: (() -> Void)?

    /// The scanner that runs the scan; nil while the scan is paused, or overhears another.
    var scanner: (any DeviceScanner)?
    /// What is known while there is no scanner.
    private var last: (devices: DeviceTable, droppedReports: UInt32)

    /// Makes a scan, which begins with `RadioArbiter.start`.
    ///
    /// The table's filter decides which devices are reported, and if each of their reports is.
    package init(_ parameters: ScanParameters, devices: DeviceTable) {
        self.parameters = parameters
        last = (devices, 0)
    }

    /// The devices that the scan began with, and those that were heard since.
    package var devices: DeviceTable { scanner?.devices ?? last.devices }

    /// The number of reports that were lost since the scan last got the radio because they were not read in time.
    package var droppedReports: UInt32 { scanner?.droppedReports ?? last.droppedReports }

    /// Removes the devices that have not been heard for long (LK-3); it is called before the devices are shown.
    package func expireDevices() {
        if let scanner { scanner.expireDevices() } else { _ = last.devices.expire(now: MonotonicClock.now) }
    }

    /// Begins or resumes the scan with this scanner, which the arbiter has lent.
    func begin(_ scanner: any DeviceScanner) {
        self.scanner = scanner
        scanner.onUpdate = { [weak self] update in self?.onUpdate?(update) }
        scanner.onStarted = { [weak self] in self?.onArmed?() }
        scanner.start(parameters, devices: last.devices)
    }

    /// Notes that the controller has begun to scan, for this scan or for another that it overhears.
    func noteStart() {
        let handler = onStarted
        onStarted = nil
        handler?()
    }

    /// Takes a packet of advertising reports from the scan that runs.
    func overhear(_ packet: Span<UInt8>, now: Duration) {
        if let onPacket { return onPacket(packet, now) }
        // The updates are passed on after the table has returned, because a handler may end the scan.
        var updates: [DeviceTable.Update] = []
        last.devices.handle(packet, now: now) { update in updates.append(update) }
        for update in updates { onUpdate?(update) }
    }

    /// Makes the controller begin the scan anew; the devices stay.
    func arm() {
        guard let scanner else { return }
        scanner.start(parameters, devices: scanner.devices)
    }

    /// Pauses the scan, and gives the scanner up; its devices and its count are kept.
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

/// A pairing, which waits in a `RadioArbiter` for its turn on the radio, and has the radio alone until `RadioArbiter.end`.
package final class RadioPairing {
    /// The device, and what the user wants of its keys.
    package let wish: PairingOptions
    /// The handler of questions, numbers and the result, as of `DevicePairing`.
    package var onNews: ((ManagedPairing.News) -> Void)?
    /// The handler that is called once if the adapter is lost, which ends the pairing without a result.
    package var onLoss: ((AdapterLoss) -> Void)?

    /// The adapter's pairing; nil while this one waits for its turn.
    private var pairing: (any DevicePairing)?
    private var onClosed: (() -> Void)?

    /// Makes a pairing, which begins with `RadioArbiter.start`.
    package init(_ wish: PairingOptions) { self.wish = wish }

    /// Answers the comparison of two numbers.
    package func answer(_ isSame: Bool) { pairing?.answer(isSame) }

    /// Answers the question for a passkey; nil declines.
    package func answer(passkey: UInt32?) { pairing?.answer(passkey: passkey) }

    /// Begins, on an adapter that neither scans nor connects.
    func begin(on adapter: any LowEnergyAdapter) {
        let pairing = adapter.makePairing(wish)
        self.pairing = pairing
        pairing.onNews = { [weak self] news in self?.onNews?(news) }
        pairing.begin()
    }

    /// Reports the time-out of an adapter that reports no result.
    func giveUp() { onNews?(.ended(.failure(.cancelled))) }

    /// Ends the pairing and its link; `completion` is called once, at the latest by `noteClosed`.
    func close(forgetting: Bool, completion: @escaping () -> Void) {
        (onNews, onLoss) = (nil, nil)
        onClosed = completion
        let ended = pairing
        pairing = nil
        ended?.close(forgetting: forgetting) { [self] in noteClosed() }
        if ended == nil { noteClosed() }
    }

    /// Completes `close`, whether the adapter has answered or not.
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
    /// The present use of the radio.
    enum Radio {
        case idle
        case scanning
        case stopping(any DeviceScanner)
        case connecting(RadioAttempt)
        case pairing(RadioPairing)
    }

    /// The times after which the arbiter goes on without an adapter's word; each adapter has shorter ones of its own.
    struct Limits: Sendable {
        /// The time in which a scanner has to stop.
        var stop = Duration.seconds(15)
        /// The time, beyond its own, in which a connection has to be made or to fail.
        var connection = Duration.seconds(5)
        /// The time, beyond its own, in which a pairing has to end.
        var pairing = Duration.seconds(20)
    }
}
