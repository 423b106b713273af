// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
package import BluetoothPackets
package import LinuxIO

/// A scanner for devices, over the kernel's raw HCI sockets or this library's host stack.
package protocol DeviceScanner: AnyObject {
    /// The handler of reports that pass the filter.
    var onUpdate: ((DeviceTable.Update) -> Void)? { get set }
    /// The handler that is called once after each `start`, as soon as the controller is scanning.
    var onStarted: (() -> Void)? { get set }
    /// The handler that is called when the scan fails, which ends it.
    var onFailure: ((ScanError) -> Void)? { get set }
    /// The handler that is called when another program or the kernel has enabled or disabled scanning.
    ///
    /// This scan may then be off.
    var onDisturbed: (() -> Void)? { get set }

    /// The handler of every packet that contains advertising reports; nil if no other scan needs the packets.
    ///
    /// The first byte of the packet is its indicator.
    var onPacket: ((Span<UInt8>, _ now: Duration) -> Void)? { get set }

    /// Scans until `stop`; replaces a running scan.
    func start(_ parameters: ScanParameters, devices: DeviceTable)
    /// Stops the scan; `completion` is called when the controller has stopped scanning.
    func stop(completion: @escaping () -> Void)
    /// Stops the scan immediately; no handler is called afterwards.
    func close()

    /// Devices heard since the scan was started.
    var devices: DeviceTable { get }
    /// Removes devices that have not been heard recently (LK-3); called before the devices are shown.
    func expireDevices()
    /// Number of reports lost because they were not read in time.
    var droppedReports: UInt32 { get }
}

/// An advertisement: the payloads of its two packets and its parameters.
package struct Advertisement: Equatable, Sendable {
    /// The advertising data, at most 31 bytes.
    package var data: [UInt8]
    /// The scan response, at most 31 bytes.
    package var scanResponse: [UInt8]
    package var isConnectable: Bool
    /// Interval between advertising events, 20 ms to 10.24 s.
    package var interval: Duration

    package init(
        data: [UInt8],
        scanResponse: [UInt8] = [],
        isConnectable: Bool = true,
        interval: Duration = .milliseconds(100)
    ) {
        self.data = data
        self.scanResponse = scanResponse
        self.isConnectable = isConnectable
        self.interval = interval
    }

    /// The interval in units of 0.625 ms, limited to 20 ms to 10.24 s.
    var intervalSlots: UInt16 {
        let (seconds, attoseconds) = max(.zero, min(interval, .seconds(11))).components
        let slots = (seconds &* 1_000_000 &+ attoseconds / 1_000_000_000_000) / 625
        let range = AdvertisingParameters.intervals
        return UInt16(truncatingIfNeeded: min(max(slots, Int64(range.lowerBound)), Int64(range.upperBound)))
    }
}

package protocol ConnectionAttempt: AnyObject {
    /// Cancels the attempt; its completion handler is not called.
    func cancel()
}

/// An adapter in the central and peripheral roles, over any transport.
///
/// Used on the event loop's thread, like every class of this module unless its comment names another thread.
package protocol LowEnergyAdapter: AnyObject {
    /// The adapter's name, such as `hci0`.
    var name: String { get }
    /// The adapter's public address.
    var address: BluetoothAddress { get }
    /// The handler that is called once, when the adapter is lost.
    var onLoss: ((AdapterLoss) -> Void)? { get set }
    /// The handler that is called when the machine resumes from suspend, which ends the controller's scan.
    var onWake: (() -> Void)? { get set }
    /// The handler that is called when the kernel has not started a requested connection.
    var onStalledConnection: (() -> Void)? { get set }
    var isConnected: Bool { get }
    /// Counts of recovery measures for the controller since the adapter was created.
    var controllerCounts: ControllerCounts { get }

    /// Resets the controller state that a killed process has left behind; called before the adapter is used.
    ///
    /// `completion` receives false if nothing was done.
    func renew(completion: @escaping (Bool) -> Void)

    /// Returns the known radio properties of the link with a device; nil if the device is not connected.
    ///
    /// The call does not block: if a value is older than `LinkQuality.life`, it is read again for the next call.
    func quality(of device: DeviceAddress) -> LinkQuality?

    /// Replaces the adapter's bonds with `bonds`; bonds with other adapters are ignored.
    ///
    /// Called before the first connection, and again when the bonds have changed.
    func use(_ bonds: [Bond])
    /// False if the adapter gets a new address each time it starts, so that later runs could not recognise its bonds.
    var keepsAddress: Bool { get }
    /// Creates a pairing, which `begin` starts.
    func makePairing(_ wish: PairingOptions) -> any DevicePairing
    /// Creates a pairable mode, in which centrals may pair with this host; `open` starts the mode.
    func makePairableMode(_ offer: PairableOptions) -> any PairableMode
    /// Removes a device's keys from the kernel, and ends the link with it; `completion` receives false if there were no
    /// keys.
    func unpair(_ device: DeviceAddress, completion: @escaping (Bool) -> Void)
    /// Reads which devices are connected to the adapter by any program.
    ///
    /// `completion` receives nil if the kernel does not answer.
    func connections(completion: @escaping ([DeviceAddress]?) -> Void)
    /// Creates a scanner, which `start` starts.
    func makeScanner() throws(ScanError) -> any DeviceScanner
    /// Connects to a device; `completion` is called once, asynchronously.
    func connect(
        to device: DeviceAddress,
        timeout: Duration,
        completion: @escaping (Result<any ATTChannel, LinkFailure>) -> Void
    ) throws(LinkFailure) -> any ConnectionAttempt
    /// Ends the connection with a device immediately; `completion` is called when the controller has ended it.
    func disconnect(_ device: DeviceAddress, completion: @escaping () -> Void)
    /// Advertises until `stopAdvertising`, and again after each connection; replaces any previous advertisement.
    ///
    /// `onConnection` receives the channel of each central; `completion` receives the result of starting to
    /// advertise.
    func advertise(
        _ advertisement: Advertisement,
        onConnection: @escaping (any ATTChannel) -> Void,
        completion: @escaping (Result<Void, AdapterError>) -> Void
    )
    /// Stops advertising; existing connections stay open.
    func stopAdvertising(completion: @escaping () -> Void)
    /// Powers off an adapter managed by the kernel, and releases it; `onLoss` is called with `cause`.
    func restart(_ cause: String)
    /// Releases the adapter immediately, in any state; no handler is called afterwards.
    func close()
    /// Releases the adapter, in any state.
    ///
    /// `completion` is called, possibly immediately, when another program may use the adapter. No other handler is
    /// called after this method.
    func release(completion: @escaping () -> Void)
}

extension LowEnergyAdapter {
    package func quality(of device: DeviceAddress) -> LinkQuality? { nil }

    package func use(_ bonds: [Bond]) {}

    /// True by default, because the address belongs to the controller.
    package var keepsAddress: Bool { true }

    /// Does nothing by default, because only this process stores keys.
    package func unpair(_ device: DeviceAddress, completion: @escaping (Bool) -> Void) { completion(false) }

    package var controllerCounts: ControllerCounts { ControllerCounts() }

    /// Does nothing by default, because a controller used exclusively by this process is reset when it starts.
    package func renew(completion: @escaping (Bool) -> Void) { completion(false) }

    /// Closes the adapter and calls `completion` immediately, because by default a closed adapter is free at once.
    package func release(completion: @escaping () -> Void) {
        close()
        completion()
    }
}

/// Functions that open adapters over any transport.
package enum LowEnergyAdapters {
    /// Finds an adapter and prepares it for use; `completion` is called once, asynchronously, on the loop's thread.
    ///
    /// A kernel adapter with the `known` address is preferred, even if its index has changed. `capture` records the
    /// adapter's packets; if the transport uses the kernel's sockets, call `capture.listen` first. Throws the errors
    /// that are detected immediately.
    package static func open(
        _ transport: AdapterTransport,
        on loop: EventLoop,
        known: BluetoothAddress? = nil,
        capture: TrafficCapture? = nil,
        completion: @escaping (Result<any LowEnergyAdapter, AdapterError>) -> Void
    ) throws(AdapterError) {
        switch transport {
        case .kernel(let selector):
            try KernelAdapter.open(selector, known: known, on: loop) { result in
                if case .success(let adapter) = result { capture?.follow(adapter.index) }
                completion(result.map { $0 })
            }
        case .userChannel(let index):
            // The host stack's packets are recorded with this index; the monitor channel is not used.
            capture?.follow(index)
            start(try UserChannelTransport(controller: index, on: loop), "\(transport)", loop, capture, completion)
        case .h4(let address):
            start(try H4StreamTransport(to: address, on: loop), "\(transport)", loop, capture, completion)
        case .memory:
            throw .controller("an adapter in memory belongs to the program's rehearsal; SimulatedRadio makes others")
        }
    }

    /// Starts this library's host stack on a controller; `completion` is called once, asynchronously.
    package static func start(
        _ transport: any PacketTransport,
        _ name: String,
        _ loop: EventLoop,
        _ capture: TrafficCapture? = nil,
        _ completion: @escaping (Result<any LowEnergyAdapter, AdapterError>) -> Void
    ) {
        let adapter = HostAdapter(name: name, transport: transport, on: loop)
        adapter.onPacket = { [weak capture] isSent, packet in capture?.record(isSent ? .sent : .received, packet) }
        // The completion handler keeps the adapter alive until it is called.
        adapter.start { result in
            completion(
                result.map { adapter }.mapError { error in
                    // Name the controller that failed in the message, because several may be in use.
                    if case .controller(let what) = error { .controller("\(name): \(what)") } else { error }
                }
            )
        }
    }
}

/// Parameters of a pairing started by the user.
package struct PairingOptions: Sendable {
    package var device: DeviceAddress
    /// The ways in which this host can show the user a number and accept an answer.
    package var capability: IOCapability
    /// Minimum security level of the bond; in addition, a bond requires a 16-byte key.
    package var required: GATTLinkSecurity.Level
    /// Time-out after which the pairing is cancelled.
    package var limit: Duration

    package init(
        _ device: DeviceAddress,
        _ capability: IOCapability,
        required: GATTLinkSecurity.Level,
        limit: Duration
    ) {
        self.device = device
        self.capability = capability
        self.required = required
        self.limit = limit
    }
}

/// A pairing with one device, started by the user, over the kernel's Security Manager or this library's.
///
/// Used on the event loop's thread; the radio arbiter starts and closes it, as a `RadioPairing`.
package protocol DevicePairing: AnyObject {
    /// The handler of events; the last event is the end of the pairing.
    var onNews: ((ManagedPairing.News) -> Void)? { get set }

    /// Starts the pairing; it is cancelled after its time limit.
    func begin()
    /// Passes on the user's answer to `compare`.
    func answer(_ isSame: Bool)
    /// Passes on the user's answer to `enter`; nil means that the user declines.
    func answer(passkey: UInt32?)
    /// Cancels the pairing; the end event follows, unless the pairing has ended already.
    func cancel()
    /// Restores the adapter's state and ends the link, and then calls `completion`.
    ///
    /// If `forgetting` is true, it also removes the device's keys from the kernel or the host stack.
    func close(forgetting: Bool, completion: @escaping () -> Void)
}

/// Conditions under which a central may pair with this host, the peripheral.
package struct PairableOptions: Sendable {
    /// The ways in which this host can show the user a number and accept an answer.
    package var capability: IOCapability
    /// Minimum security level of the bond.
    package var required: GATTLinkSecurity.Level
    /// Time-out after which centrals may no longer pair.
    package var limit: Duration

    package init(_ capability: IOCapability, required: GATTLinkSecurity.Level, limit: Duration) {
        self.capability = capability
        self.required = required
        self.limit = limit
    }
}

/// A mode, started by the user, in which one central may pair with this host.
///
/// The mode ends with the first bond, at its time limit, or when it is closed; at other times pairing requests are
/// rejected. A central that is already bonded is rejected too, because a key is never replaced.
package protocol PairableMode: AnyObject {
    /// The handler of events; the last event is the end of the mode.
    var onNews: ((PairableEvent) -> Void)? { get set }

    /// Starts the mode; it replaces any other pairable mode of this adapter.
    func open()
    /// Passes on the user's answer to `compare`.
    func answer(_ isSame: Bool)
    /// Passes on the user's answer to `enter`; nil means that the user declines.
    func answer(passkey: UInt32?)
    /// Ends the mode and any pairing in progress immediately; no event follows.
    func close()
}
