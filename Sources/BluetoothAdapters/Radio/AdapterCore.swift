// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
package import LinuxIO

/// A function that prepares an adapter for use on a loop.
///
/// It calls its completion handler once, asynchronously, on the loop's thread; it throws if opening cannot be started.
package typealias AdapterOpener =
    (EventLoop, @escaping (Result<any LowEnergyAdapter, AdapterError>) -> Void) throws(AdapterError) -> Void

/// An `AdapterOpener` that may be called on any thread.
package typealias SendableAdapterOpener =
    @Sendable (EventLoop, @escaping (Result<any LowEnergyAdapter, AdapterError>) -> Void) throws(AdapterError) -> Void

/// Opens one adapter and shares its radio through an arbiter; after a loss or a failure, tries again every 3 s.
///
/// Every method is called on the loop's thread.
package final class AdapterCore {
    /// A change of the adapter's availability, or a failed attempt to open it.
    package enum Event {
        case ready(any LowEnergyAdapter)
        /// The adapter could not be opened; the next attempt follows in 3 s.
        case failed(AdapterError)
        /// The adapter was lost; the next attempt to open it follows in 3 s.
        case lost(AdapterLoss)
    }

    /// Delay between a loss or a failed attempt and the next attempt to open the adapter.
    private static let interval = Duration.seconds(3)

    /// The loop whose thread calls all methods and handlers.
    package let loop: EventLoop
    /// The arbiter of the adapter's radio; all scans, connections and advertising go through it.
    package let radio: RadioArbiter
    /// The handler of events, called on the loop's thread.
    package var onEvent: ((Event) -> Void)?
    /// A function that decides, by name, if an adapter may be used.
    ///
    /// It is called before the adapter is used and, if the transport contains the name, before the adapter is opened.
    /// If it returns false, the adapter is not opened, or is closed again, and the next attempt follows in 3 s. Without
    /// this function, any adapter is used.
    package var isAdmitted: ((_ name: String) -> Bool)?
    /// A function that returns true if the adapter's previous user ended without releasing it, for example by SIGKILL.
    ///
    /// It is called after `isAdmitted`. Such an adapter is renewed before use, because its controller may still be
    /// executing the operations of the process that ended.
    package var isAbandoned: (() -> Bool)?

    private let opener: AdapterOpener
    /// The adapter's name if opening the adapter would disturb its current user; nil otherwise.
    private let exclusiveName: String?
    /// The current state.
    package private(set) var state = BluetoothState.unknown
    /// True while the adapter is being opened or renewed.
    package private(set) var isOpening = false
    private var isStarted = false
    private var isStopped = false
    private let timer = LoopTimer()

    /// Creates a core whose adapter `start` opens.
    package convenience init(_ loop: EventLoop, _ opener: @escaping AdapterOpener) {
        self.init(loop, watching: ScanWatch(), RadioArbiter.Limits(), opener)
    }

    init(
        _ loop: EventLoop,
        watching watch: ScanWatch,
        _ limits: RadioArbiter.Limits,
        exclusive name: String? = nil,
        _ opener: @escaping AdapterOpener
    ) {
        self.loop = loop
        self.opener = opener
        exclusiveName = name
        radio = RadioArbiter(on: loop, watch, limits)
        radio.onAdapterGone = { [weak self] in
            self?.lost(.failed(self?.adapter?.name ?? "", cause: ScanError.adapterGone.cause))
        }
    }

    /// Creates a core that opens its adapter over a transport; `capture` records the adapter's packets.
    package convenience init(_ loop: EventLoop, _ transport: AdapterTransport, capture: TrafficCapture? = nil) {
        // An adapter gets a new index each time it is plugged in, so it is identified by its address.
        var known: BluetoothAddress?
        self.init(loop, watching: ScanWatch(), RadioArbiter.Limits(), exclusive: transport.exclusiveName) {
            loop,
            completion throws(AdapterError) in
            try LowEnergyAdapters.open(transport, on: loop, known: known, capture: capture) { result in
                if case .success(let adapter) = result { known = adapter.address }
                completion(result)
            }
        }
    }

    /// Creates a core for an adapter of this process's host stack; `start` initialises it.
    package convenience init(_ loop: EventLoop, starting adapter: HostAdapter) {
        self.init(loop) { _, completion in adapter.start { result in completion(result.map { adapter }) } }
    }

    /// Creates a core for an open adapter.
    package convenience init(_ loop: EventLoop, using adapter: any LowEnergyAdapter) {
        self.init(loop) { _, completion in completion(.success(adapter)) }
    }

    package var adapter: (any LowEnergyAdapter)? { radio.adapter }

    /// Starts opening the adapter, and retries until `stop` is called; only the first call has an effect.
    package func start() {
        guard !isStarted else { return }
        isStarted = true
        open()
    }

    /// Stops the attempts to open an adapter; an open adapter remains open.
    package func stop() {
        isStopped = true
        timer.cancel()
    }

    /// Stops the attempts to open an adapter, and releases an open adapter.
    ///
    /// `completion` is called when other programs may use the adapter.
    package func release(completion: @escaping () -> Void) {
        stop()
        guard let adapter else { return completion() }
        adapter.release(completion: completion)
    }

    private func open() {
        guard !isStopped else { return }
        if let exclusiveName, let isAdmitted, !isAdmitted(exclusiveName) { return openLater() }
        isOpening = true
        do throws(AdapterError) {
            try opener(loop) { [weak self] result in self?.opened(result) }
        } catch {
            opened(.failure(error))
        }
    }

    private func opened(_ result: Result<any LowEnergyAdapter, AdapterError>) {
        isOpening = false
        switch result {
        case .success(let adapter):
            guard !isStopped, isAdmitted?(adapter.name) ?? true else {
                adapter.close()
                return openLater()
            }
            if isAbandoned?() == true { renew(adapter) } else { use(adapter) }
        case .failure(let error):
            radio.absence = BluetoothError(error)
            if case .unavailable(let state, _, _) = radio.absence { self.state = state }
            openLater()
            onEvent?(.failed(error))
        }
    }

    private func renew(_ adapter: any LowEnergyAdapter) {
        isOpening = true
        var loss: AdapterLoss?
        adapter.onLoss = { loss = $0 }
        adapter.renew { [weak self] isRestarted in
            guard let self, !isStopped else { return adapter.close() }
            isOpening = false
            if isRestarted { radio.noteRestart() }
            use(adapter)
            if let loss { lost(loss) }
        }
    }

    private func use(_ adapter: any LowEnergyAdapter) {
        adapter.onLoss = { [weak self] loss in self?.lost(loss) }
        radio.use(adapter)
        state = .poweredOn
        onEvent?(.ready(adapter))
    }

    private func lost(_ loss: AdapterLoss) {
        guard let adapter else { return }
        adapter.onLoss = nil
        radio.lose(loss)
        state = loss.state
        openLater()
        onEvent?(.lost(loss))
    }

    private func openLater() {
        guard !isStopped else { return }
        timer.set(on: loop, after: Self.interval) { [weak self] in self?.open() }
    }
}
