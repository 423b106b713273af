// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets
import LinuxIO

/// A Bluetooth adapter of this machine: what `Central` and `PeripheralServer` work through.
///
/// All of them run on one thread of their own, on which the sockets are read. A lost adapter is looked for again until it
/// is back; what it was doing has to be asked for again.
public actor BluetoothAdapter {
    nonisolated let thread: LoopThread
    nonisolated let core: LoopBound<AdapterCore>

    /// The thread that everything of this adapter runs on.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe thread.executor.asUnownedSerialExecutor()
    }

    /// An adapter that is opened by `opener`, on its loop's thread.
    package init(opener: @escaping SendableAdapterOpener) throws(BluetoothError) {
        do {
            thread = try LoopThread(name: "bluetooth")
        } catch {
            throw .unavailable(.unknown, cause: AdapterSentence.system("make an event loop", "\(error)"), remedy: nil)
        }
        core = LoopBound(to: thread.executor) { loop in AdapterCore(loop, opener) }
    }

    /// Finds an adapter, switches it on, and throws what is in the way if it cannot be used now.
    public static func open(_ transport: AdapterTransport = .any) async throws(BluetoothError) -> BluetoothAdapter {
        let adapter = try BluetoothAdapter { (loop, completion) throws(AdapterError) in
            try LowEnergyAdapters.open(transport, on: loop, completion: completion)
        }
        try await adapter.start()
        return adapter
    }

    /// Opens the adapter, and throws what is in the way if it cannot be used now; it is looked for again all the same.
    package func start() async throws(BluetoothError) {
        let reply = Reply<Void>()
        core.value.start(reply)
        try await reply.value()
    }

    /// Whether it can be used now.
    public var state: BluetoothState { core.value.state }

    /// Its public address; nil while it is lost.
    public var address: BluetoothAddress? { core.value.adapter?.address }

    /// What people call it, such as `hci0`; nil while it is lost.
    public var name: String? { core.value.adapter?.name }

    /// Every state from now on, the present one first (CB-1).
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
