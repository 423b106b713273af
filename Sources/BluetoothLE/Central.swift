// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
public import BluetoothHost
public import BluetoothPackets
import LinuxIO

/// The central role: scans for devices and connects to them.
///
/// It runs on its adapter's thread. Cancelling a waiting task cancels its operation.
public actor Central {
    /// The adapter.
    public nonisolated let adapter: BluetoothAdapter

    /// The executor of the adapter's thread.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe adapter.unownedExecutor }

    /// Creates the central role of an adapter; several centrals of one adapter share its scan and its connections.
    public init(_ adapter: BluetoothAdapter) {
        self.adapter = adapter
    }

    private var core: CentralCore { adapter.roles.value.central }

    /// Scans until the returned sequence is released, or until another scan replaces this one (CB-2).
    ///
    /// Throws `unavailable` if there is no adapter.
    ///
    /// Each device is reported when it is first heard and when its data changes; with `duplicates`, every advertisement
    /// is reported. The scan pauses while a connection is being made or a device is being paired; devices that it has
    /// reported before are not reported as new afterwards. At most `capacity` reports are buffered; on overflow the
    /// oldest is discarded and counted.
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

    /// Stops the adapter's scan, even if another `Central` started it.
    public func stopScan() {
        core.stopScan()
    }

    /// Connects to a device, without a time limit unless one is given (CB-6).
    ///
    /// The attempt ends with success, `timedOut`, cancellation, loss of the adapter, or a permanent failure.
    ///
    /// Before the method returns, the link is secured to the `required` level with the keys of a bond, the MTU is
    /// exchanged, and the subscriptions of earlier connections are renewed. Throws `notSecured` for a device without
    /// such a bond. Joins an existing connection or an attempt in progress.
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

    /// Returns the device with this address, connected or not (CB-14).
    ///
    /// An application can store a device's address as text, such as `"\(peripheral.address)"`, and find the device
    /// again in a later run with `DeviceAddress(text)`. A device that uses private addresses has the address stored in
    /// its bond.
    public nonisolated func peripheral(_ device: DeviceAddress) -> Peripheral {
        Peripheral(device, adapter)
    }

    /// The devices to which a connection was attempted and those used through a `Peripheral`, since the adapter object
    /// was created, sorted by address (CB-14).
    public var knownDevices: [DeviceAddress] {
        core.peripherals.keys.sorted { $0.address < $1.address }
    }

    /// The connected devices, sorted by address (CB-14).
    public var connectedDevices: [DeviceAddress] {
        core.peripherals.values.filter(\.isConnected).map(\.device).sorted { $0.address < $1.address }
    }

    /// Returns all devices that this or any other program has connected to the adapter, sorted by address (CB-14).
    ///
    /// `connect` joins such a connection. Throws `unavailable` if there is no adapter, or if the kernel does not
    /// answer, which happens without CAP_NET_ADMIN.
    public func allConnectedDevices() async throws(BluetoothError) -> [DeviceAddress] {
        let reply = Reply<[DeviceAddress]>()
        try core.radio.ready().connections { devices in
            reply.give(devices.map { .success($0) } ?? .failure(Self.connectionsUnknown))
        }
        return try await reply.value().sorted { $0.address < $1.address }
    }

    private static let connectionsUnknown = BluetoothError.unavailable(
        .unknown,
        cause: "the kernel does not say which devices are connected",
        remedy: "run the program with CAP_NET_ADMIN"
    )
}

/// A report about a device during a scan: the device's current state, and the changes that the report has made.
public typealias Discovery = DeviceTable.Update

/// The central role on the loop's thread: the scan, the sequence of its reports, and the known devices.
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
    /// The devices to which a connection was attempted, and those used through a `Peripheral`, by address.
    private(set) var peripherals: [DeviceAddress: PeripheralCore] = [:]

    init(_ radio: RadioArbiter) {
        self.radio = radio
    }

    /// Returns a unique identifier for a scan, a connection or a subscription.
    func makeIdentifier() -> UInt64 {
        lastIdentifier &+= 1
        return lastIdentifier
    }

    /// Returns the device with this address; the first call creates it.
    func peripheral(_ device: DeviceAddress) -> PeripheralCore {
        if let known = peripherals[device] { return known }
        let peripheral = PeripheralCore(device, radio)
        peripherals[device] = peripheral
        return peripheral
    }

    // MARK: Scanning

    /// Starts a scan that sends its reports to `source`, after stopping the previous scan (CB-2).
    ///
    /// Throws `unavailable` if there is no adapter.
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

    /// Stops the scan with this identifier, or any scan if the identifier is nil; does nothing if another scan has
    /// replaced it.
    func stopScan(_ identifier: UInt64? = nil) {
        guard let reading, identifier == nil || reading.identifier == identifier else { return }
        reading.source.finish()
        self.reading = nil
        radio.stop(reading.scan)
    }

    // MARK: Connecting

    /// Connects to a device (CB-6), or joins the attempt in progress; without a `timeout` there is no time limit.
    ///
    /// Returns the identifier for `cancel`; throws `unavailable` if there is no adapter.
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

    /// Closes all connections after a loss of the adapter.
    func adapterLost(_ reason: String) {
        for peripheral in peripherals.values { peripheral.closed(.adapterLost(reason)) }
    }
}
