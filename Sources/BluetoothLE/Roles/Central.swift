// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothHost
public import BluetoothPackets
import LinuxIO

/// The central role: scans for devices and connects to them.
///
/// It runs on its adapter's thread. Cancelling a task that waits here cancels the operation.
public actor Central {
    /// The adapter that is used.
    public nonisolated let adapter: BluetoothAdapter

    /// The executor of the adapter's thread.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe adapter.unownedExecutor }

    /// Makes the central role of an adapter; several of one adapter share its scan and its connections.
    public init(_ adapter: BluetoothAdapter) {
        self.adapter = adapter
    }

    private var core: CentralCore { adapter.roles.value.central }

    /// Scans until the reader of the returned sequence ends, or until another scan replaces this one (CB-2).
    ///
    /// Throws `unavailable` without an adapter.
    ///
    /// Each device is reported when it is first heard and when its data changes, or with `duplicates` at every
    /// advertisement. The scan pauses while a connection is being made, after which every device is reported as new.
    /// At most `capacity` reports wait for the reader; beyond that the oldest is dropped and counted.
    public func scan(
        _ filter: ScanFilter = ScanFilter(),
        duplicates: Bool = false,
        parameters: ScanParameters = .discovery,
        capacity: Int = 256
    ) throws(BluetoothError) -> BoundedSequence<Discovery> {
        let identifier = core.makeIdentifier()
        let bound = adapter.roles
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

    /// Ends the adapter's scan, even one that another `Central` started.
    public func stopScan() {
        core.stopScan()
    }

    /// Connects to a device, without a time limit unless one is given (CB-6).
    ///
    /// The attempt ends by success, `timedOut`, cancellation, the loss of the adapter, or a failure that another attempt
    /// would not change.
    ///
    /// Before it returns, the link has the `required` security by the keys of a bond, the MTU is exchanged, and the
    /// subscriptions of earlier connections are made again. Throws `notSecured` for a device without that bond.
    @discardableResult
    public func connect(
        to device: DeviceAddress,
        timeout: Duration? = nil,
        requiring required: GATTLinkSecurity.Level = .none
    ) async throws(BluetoothError) -> Peripheral {
        let reply = Reply<Void>()
        let attempt = try core.connect(device, timeout, required, reply)
        do throws(BluetoothError) {
            try await reply.value()
        } catch {
            core.peripheral(device).cancel(attempt)
            throw error
        }
        return Peripheral(device, adapter)
    }

    /// The device with this address, connected or not (CB-14).
    public nonisolated func peripheral(_ device: DeviceAddress) -> Peripheral {
        Peripheral(device, adapter)
    }

    /// The addresses of the devices that were connected to, or tried, since the adapter was opened, sorted (CB-14).
    public var knownDevices: [DeviceAddress] {
        core.peripherals.keys.sorted { $0.address < $1.address }
    }

    /// The addresses of the devices that are connected now, sorted (CB-14).
    public var connectedDevices: [DeviceAddress] {
        core.peripherals.values.filter(\.isConnected).map(\.device).sorted { $0.address < $1.address }
    }
}

/// The report of a device in a scan: its data, and which of them are new.
public typealias Discovery = DeviceTable.Update

/// The central role on the loop's thread: the scan with its reader, and the known devices.
///
/// Every method is called on the loop's thread.
final class CentralCore {
    private struct Reading {
        var identifier: UInt64
        var scan: RadioScan
        var source: BoundedSequence<Discovery>.Source
    }

    /// The arbiter of the adapter's radio.
    let radio: RadioArbiter
    private var reading: Reading?
    private var lastIdentifier: UInt64 = 0
    /// The devices that were connected to, tried, or used through a `Peripheral`, by address.
    private(set) var peripherals: [DeviceAddress: PeripheralCore] = [:]

    init(_ radio: RadioArbiter) {
        self.radio = radio
    }

    /// A number for a scan, a connection or a subscription, which no other has.
    func makeIdentifier() -> UInt64 {
        lastIdentifier &+= 1
        return lastIdentifier
    }

    /// The device with this address; it is made at the first call.
    func peripheral(_ device: DeviceAddress) -> PeripheralCore {
        if let known = peripherals[device] { return known }
        let peripheral = PeripheralCore(device, radio)
        peripherals[device] = peripheral
        return peripheral
    }

    // MARK: Scanning

    /// Starts a scan whose reports go to `source`, after ending the scan before it (CB-2).
    ///
    /// Throws `unavailable` without an adapter.
    func start(
        _ scan: RadioScan,
        _ identifier: UInt64,
        _ source: BoundedSequence<Discovery>.Source
    ) throws(BluetoothError) {
        _ = try radio.ready()
        scan.onUpdate = { update in source.send(update) }
        scan.onFailure = { [weak self] error in
            source.finish(error == .adapterGone ? self?.radio.absence ?? BluetoothError(error) : BluetoothError(error))
            if self?.reading?.identifier == identifier { self?.reading = nil }
        }
        radio.together {
            stopScan()
            reading = Reading(identifier: identifier, scan: scan, source: source)
            radio.start(scan)
        }
    }

    /// Ends the scan with this number, or any scan without one; does nothing if another scan has replaced it.
    func stopScan(_ identifier: UInt64? = nil) {
        guard let reading, identifier == nil || reading.identifier == identifier else { return }
        reading.source.finish()
        self.reading = nil
        radio.stop(reading.scan)
    }

    // MARK: Connecting

    /// Connects to a device (CB-6), or joins the attempt under way; without a `timeout` there is no limit.
    ///
    /// Returns the number for `cancel`; throws `unavailable` without an adapter.
    func connect(
        _ device: DeviceAddress,
        _ timeout: Duration?,
        _ required: GATTLinkSecurity.Level,
        _ reply: Reply<Void>
    ) throws(BluetoothError) -> UInt64 {
        _ = try radio.ready()
        let identifier = makeIdentifier()
        peripheral(device).connect(identifier, timeout, required, reply)
        return identifier
    }

    /// Closes every connection, after the adapter was lost.
    func adapterLost(_ reason: String) {
        for peripheral in peripherals.values { peripheral.closed(.adapterLost(reason)) }
    }
}
