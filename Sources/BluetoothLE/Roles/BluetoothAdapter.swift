// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets
import LinuxIO

/// A Bluetooth adapter of this machine.
///
/// A `Central` and a `PeripheralServer` are made from it.
///
/// The adapter and everything made from it run on one thread, which reads the sockets. An adapter that was lost is
/// opened again as soon as it is back; scans, connections and advertising have to be started again by the
/// application.
public actor BluetoothAdapter {
    nonisolated let thread: LoopThread
    nonisolated let core: LoopBound<AdapterCore>

    /// The executor of the thread on which the adapter and everything made from it run.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe thread.executor.asUnownedSerialExecutor()
    }

    /// Makes an adapter that `opener` opens, on the thread of the adapter's loop.
    ///
    /// Throws if the loop cannot be made.
    package init(opener: @escaping SendableAdapterOpener) throws(BluetoothError) {
        do {
            thread = try LoopThread(name: "bluetooth")
        } catch {
            throw .unavailable(.unknown, cause: AdapterSentence.system("make an event loop", "\(error)"), remedy: nil)
        }
        core = LoopBound(to: thread.executor) { loop in AdapterCore(loop, opener) }
    }

    /// Makes an adapter that is not opened before `start`; its state is `unknown` until then.
    ///
    /// Throws if the adapter's event loop cannot be made.
    public init(_ transport: AdapterTransport = .any) throws(BluetoothError) {
        try self.init { (loop, completion) throws(AdapterError) in
            try LowEnergyAdapters.open(transport, on: loop, completion: completion)
        }
    }

    /// Finds an adapter and switches it on.
    ///
    /// Throws `unavailable`, with the cause and a remedy, if it cannot be used now.
    public static func open(_ transport: AdapterTransport = .any) async throws(BluetoothError) -> BluetoothAdapter {
        let adapter = try BluetoothAdapter(transport)
        try await adapter.start()
        return adapter
    }

    /// Opens the adapter.
    ///
    /// Throws `unavailable`, with the cause and a remedy, if it cannot be used now; attempts to open it go on all the
    /// same, and `states` tells of their end.
    public func start() async throws(BluetoothError) {
        let reply = Reply<Void>()
        core.value.start(reply)
        try await reply.value()
    }

    /// The present state.
    public var state: BluetoothState { core.value.state }

    /// The adapter's public address; nil while the adapter is lost.
    public var address: BluetoothAddress? { core.value.adapter?.address }

    /// The adapter's name, such as `hci0`; nil while the adapter is lost.
    public var name: String? { core.value.adapter?.name }

    /// The present state, followed by each new one (CB-1).
    ///
    /// At most 64 states wait for the reader; beyond that the oldest is dropped.
    public func states() -> BoundedSequence<BluetoothState> {
        let core = core
        let identifier = core.value.nextWatcher()
        let executor = thread.executor
        let states = BoundedSequence<BluetoothState>(capacity: 64, dropping: .oldest) { [weak core] in
            executor.submit { [weak core] in core?.value.unwatch(identifier) }
        }
        _ = core.value.watch(states.source)
        return states
    }
}
