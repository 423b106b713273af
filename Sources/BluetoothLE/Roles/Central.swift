// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothHost
public import BluetoothPackets
import LinuxIO

/// The central role: finds devices and connects to them.
///
/// Runs on its adapter's thread. Cancelling a task cancels what it waits for.
public actor Central {
    /// The adapter.
    public nonisolated let adapter: BluetoothAdapter

    /// The adapter's thread.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe adapter.unownedExecutor }

    /// The central role of an adapter; several of one adapter share its scan and its connections.
    public init(_ adapter: BluetoothAdapter) {
        self.adapter = adapter
    }

    private var core: CentralCore { adapter.core.value.central }

    /// Scans until the reader of the result ends, or until another scan replaces this one (CB-2).
    ///
    /// Each device is reported once and again when what it says changes, or with `duplicates` at every advertisement. While
    /// a connection is being made the scan rests; after that devices are reported anew. Of more than `capacity` reports
    /// that wait, the oldest are dropped and counted.
    public func scan(
        _ filter: ScanFilter = ScanFilter(),
        duplicates: Bool = false,
        parameters: ScanParameters = .discovery,
        capacity: Int = 256
    ) throws(BluetoothError) -> BoundedSequence<Discovery> {
        let identifier = core.makeIdentifier()
        let bound = adapter.core
        let executor = adapter.thread.executor
        let reports = BoundedSequence<Discovery>(capacity: capacity, dropping: .oldest) { [weak bound] in
            executor.submit { [weak bound] in bound?.value.central.stopScan(identifier) }
        }
        try core.start(
            RadioScan(parameters, devices: DeviceTable(filter: filter, reportsDuplicates: duplicates)),
            identifier,
            reports.source
        )
        return reports
    }

    /// Ends the scan, whoever began it.
    public func stopScan() {
        core.stopScan()
    }

    /// Connects to a device, for as long as it takes (CB-6): only success, cancellation, the adapter's loss, or a refusal
    /// that trying again would not change ends it.
    ///
    /// The MTU is exchanged and subscriptions of earlier connections are made again before it returns.
    @discardableResult
    public func connect(to device: DeviceAddress) async throws(BluetoothError) -> Peripheral {
        let reply = Reply<Void>()
        let attempt = try core.connect(device, reply)
        do throws(BluetoothError) {
            try await reply.value()
        } catch {
            core.cancel(attempt)
            throw error
        }
        return Peripheral(device, adapter)
    }

    /// A device by its address, connected or not (CB-14).
    public nonisolated func peripheral(_ device: DeviceAddress) -> Peripheral {
        Peripheral(device, adapter)
    }

    /// The devices that were connected to, or tried, since the adapter was opened (CB-14).
    public var knownDevices: [DeviceAddress] {
        core.peripherals.keys.sorted { $0.address < $1.address }
    }

    /// The devices that are connected now (CB-14).
    public var connectedDevices: [DeviceAddress] {
        core.peripherals.values.filter(\.isConnected).map(\.device).sorted { $0.address < $1.address }
    }
}
