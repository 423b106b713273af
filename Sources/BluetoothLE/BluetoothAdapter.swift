// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import BluetoothHost
public import BluetoothPackets
package import LinuxIO

/// A Bluetooth adapter of this machine.
///
/// Pass it to the initialiser of a `Central` or a `PeripheralServer`.
///
/// The adapter and the objects created from it run on one thread, which reads the sockets. A lost adapter is reopened
/// as soon as it is available again; the application must restart scans, connections and advertising.
public actor BluetoothAdapter {
    nonisolated let thread: LoopThread
    nonisolated let roles: LoopBound<AdapterRoles>

    /// The executor of the thread on which the adapter and the objects created from it run.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe thread.executor.asUnownedSerialExecutor()
    }

    /// Creates an adapter that `opener` opens on the given thread; other adapters may use the same thread.
    package init(on thread: LoopThread, opener: @escaping SendableAdapterOpener) {
        self.thread = thread
        roles = LoopBound(to: thread.executor) { loop in AdapterRoles(AdapterCore(loop, opener)) }
    }

    /// Creates an adapter that `opener` opens on a thread of its own; throws if the thread cannot be created.
    package init(opener: @escaping SendableAdapterOpener) throws(BluetoothError) {
        self.init(on: try Self.makeThread(), opener: opener)
    }

    package static func makeThread() throws(BluetoothError) -> LoopThread {
        do {
            return try LoopThread(name: "bluetooth")
        } catch {
            throw .unavailable(
                .unknown,
                cause: AdapterErrorDescription.system("make an event loop", "\(error)"),
                remedy: nil
            )
        }
    }

    /// Creates an adapter that `start` opens; its state is `unknown` until then.
    ///
    /// Throws if the adapter's event loop cannot be created.
    public init(_ transport: AdapterTransport = .any) throws(BluetoothError) {
        try self.init { (loop, completion) throws(AdapterError) in
            try LowEnergyAdapters.open(transport, on: loop, completion: completion)
        }
    }

    /// Finds an adapter and powers it on.
    ///
    /// Throws `unavailable`, with the cause and a remedy, if the adapter cannot be used now.
    public static func open(_ transport: AdapterTransport = .any) async throws(BluetoothError) -> BluetoothAdapter {
        let adapter = try BluetoothAdapter(transport)
        try await adapter.start()
        return adapter
    }

    /// Opens the adapter.
    ///
    /// Throws `unavailable`, with the cause and a remedy, if the adapter cannot be used now. In that case, attempts to
    /// open it continue, and `states` reports when one succeeds.
    public func start() async throws(BluetoothError) {
        let reply = Reply<Void>()
        roles.value.start(reply)
        try await reply.value()
    }

    private var core: AdapterCore { roles.value.core }

    /// The current state.
    public var state: BluetoothState { core.state }

    /// The adapter's public address; nil while no adapter is open.
    public var address: BluetoothAddress? { core.adapter?.address }

    /// The adapter's name, such as `hci0`; nil while no adapter is open.
    public var name: String? { core.adapter?.name }

    /// Returns a sequence of the current state and each new state (CB-1).
    ///
    /// At most 64 states are buffered; on overflow the oldest is discarded.
    public func states() -> BoundedSequence<BluetoothState> {
        let roles = roles
        let identifier = roles.value.nextWatcher()
        let executor = thread.executor
        let states = BoundedSequence<BluetoothState>(capacity: 64, dropping: .oldest) { [weak roles] in
            executor.submit { [weak roles] in roles?.value.unwatch(identifier) }
        }
        _ = roles.value.watch(states.source)
        return states
    }
}
