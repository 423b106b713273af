// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
package import BluetoothPackets
package import LinuxIO

/// A scanner of devices, over the kernel's raw HCI sockets or the host stack of this library.
package protocol DeviceScanner: AnyObject {
    /// The handler of the reports that pass the filter.
    var onUpdate: ((DeviceTable.Update) -> Void)? { get set }
    /// The handler that is called once after each `start`, when the controller scans.
    var onStarted: (() -> Void)? { get set }
    /// The handler that is called when the scan has failed, which ends it.
    var onFailure: ((ScanError) -> Void)? { get set }
    /// The handler that is called when another program, or the kernel, has switched the scan: it may be off since.
    var onDisturbed: (() -> Void)? { get set }

    /// The handler of every packet with advertising reports, its indicator included; nil where nobody else listens.
    var onPacket: ((Span<UInt8>, _ now: Duration) -> Void)? { get set }

    /// Scans until `stop`; replaces a scan that runs.
    func start(_ parameters: ScanParameters, devices: DeviceTable)
    /// Ends the scan; `completion` is called when the controller has stopped.
    func stop(completion: @escaping () -> Void)
    /// Ends the scan at once; no handler is called any more.
    func close()

    /// The devices that were heard since the start.
    var devices: DeviceTable { get }
    /// Removes the devices that have not been heard for long (LK-3); it is called before the devices are shown.
    func expireDevices()
    /// The number of reports that were lost because they were not read in time.
    var droppedReports: UInt32 { get }
}

/// An advertisement as the bytes of its two packets.
package struct Advertisement: Equatable, Sendable {
    /// The advertising data, at most 31 bytes.
    package var data: [UInt8]
    /// The scan response, at most 31 bytes.
    package var scanResponse: [UInt8]
    package var isConnectable: Bool
    /// The time between advertising events, 20 ms to 10.24 s.
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

/// An adapter in both roles, over any transport.
///
/// It is used on the event loop's thread, as is every class of this module whose comment does not name another.
package protocol LowEnergyAdapter: AnyObject {
    /// The adapter's name, such as `hci0`.
    var name: String { get }
    /// The adapter's public address.
    var address: BluetoothAddress { get }
    /// The handler that is called once, when the adapter was lost.
    var onLoss: ((AdapterLoss) -> Void)? { get set }
    /// The handler that is called when the machine has woken from sleep, in which the controller forgets its scan.
    var onWake: (() -> Void)? { get set }
    /// The handler that is called when a connection that was asked for has not been begun by the kernel.
    var onStalledConnection: (() -> Void)? { get set }
    var isConnected: Bool { get }
    /// What was done so that the controller goes on, since the adapter was made.
    var controllerCounts: ControllerCounts { get }

    /// Ends what a process that did not end by itself has left in the controller, before the adapter is used; `completion`
    /// gets false where nothing was done.
    func renew(completion: @escaping (Bool) -> Void)

    /// What is known of the link with a device; nil where there is no such link.
    ///
    /// Answers at once; what is older than `LinkQuality.life` is read anew for the next call.
    func quality(of device: DeviceAddress) -> LinkQuality?

    /// Makes the adapter know these bonds, and no others; those of other adapters are left out.
    ///
    /// It is called before the first connection, and again when they have changed.
    func use(_ bonds: [Bond])
    /// False for an adapter that has another address after each start, by which no bond is found again.
    var keepsAddress: Bool { get }
    /// Makes a pairing, which begins with `begin`.
    func makePairing(_ wish: PairingOptions) -> any DevicePairing
    /// Makes a time in which centrals may pair with this host, which begins with `open`.
    func makePairableMode(_ offer: PairableOptions) -> any PairableMode
    /// Has what is below this process forget the keys of a device, and ends a link with it; `completion` gets false where
    /// there were none.
    func unpair(_ device: DeviceAddress, completion: @escaping (Bool) -> Void)
    /// Makes a scanner, which begins with `start`.
    func makeScanner() throws(ScanError) -> any DeviceScanner
    /// Connects to a device; `completion` is called once, later.
    func connect(
        to device: DeviceAddress,
        timeout: Duration,
        completion: @escaping (Result<any ATTChannel, LinkFailure>) -> Void
    ) throws(LinkFailure) -> any ConnectionAttempt
    /// Ends the connection with a device at once; `completion` is called when the controller has ended it.
    func disconnect(_ device: DeviceAddress, completion: @escaping () -> Void)
    /// Advertises until `stopAdvertising`, and again after each connection; replaces an advertisement before it.
    ///
    /// `onConnection` gets the channel of each central; `completion` gets the start of the advertising, or its
    /// failure.
    func advertise(
        _ advertisement: Advertisement,
        onConnection: @escaping (any ATTChannel) -> Void,
        completion: @escaping (Result<Void, AdapterError>) -> Void
    )
    /// Ends the advertising; connections stay.
    func stopAdvertising(completion: @escaping () -> Void)
    /// Switches the adapter off where the kernel has it, and gives it up: `onLoss` follows, with this cause.
    func restart(_ cause: String)
    /// Releases the adapter at once, in any state; no handler is called any more.
    func close()
    /// Releases the adapter, in any state; `completion` is called, now or later, when somebody else may use it.
    ///
    /// No other handler is called any more.
    func release(completion: @escaping () -> Void)
}

extension LowEnergyAdapter {
    package func quality(of device: DeviceAddress) -> LinkQuality? { nil }

    package func use(_ bonds: [Bond]) {}

    /// True: the address is the controller's.
    package var keepsAddress: Bool { true }

    /// Nothing below this process keeps keys.
    package func unpair(_ device: DeviceAddress, completion: @escaping (Bool) -> Void) { completion(false) }

    package var controllerCounts: ControllerCounts { ControllerCounts() }

    /// Does nothing: a controller that this process alone drives begins with a Reset.
    package func renew(completion: @escaping (Bool) -> Void) { completion(false) }

    /// Releases an adapter that is free as soon as it is closed.
    package func release(completion: @escaping () -> Void) {
        close()
        completion()
    }
}

/// The opening of adapters, over any transport.
package enum LowEnergyAdapters {
    /// Finds an adapter and makes it ready; `completion` is called once, later, on the loop's thread.
    ///
    /// An adapter of the kernel with the `known` address is taken under whatever number it has come back.
    /// `capture` records its packets; for the kernel's sockets its `listen` has to be called before. Throws the
    /// errors that are known at once.
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
            // The recorded packets carry this index; the monitor channel is not used.
            capture?.follow(index)
            start(try UserChannelTransport(controller: index, on: loop), "\(transport)", loop, capture, completion)
        case .h4(let address):
            start(try H4StreamTransport(to: address, on: loop), "\(transport)", loop, capture, completion)
        }
    }

    /// Starts the host stack of this library above a controller.
    private static func start(
        _ transport: any PacketTransport,
        _ name: String,
        _ loop: EventLoop,
        _ capture: TrafficCapture?,
        _ completion: @escaping (Result<any LowEnergyAdapter, AdapterError>) -> Void
    ) {
        let adapter = HostAdapter(name: name, transport: transport, on: loop)
        adapter.onPacket = { [weak capture] isSent, packet in capture?.record(isSent ? .sent : .received, packet) }
        // The completion handler keeps the adapter alive until it is called.
        adapter.start { result in
            completion(
                result.map { adapter }.mapError { error in
                    // With several controllers in use, the message has to name the one that failed.
                    if case .controller(let what) = error { .controller("\(name): \(what)") } else { error }
                }
            )
        }
    }
}

/// What the user wants of a pairing.
package struct PairingOptions: Sendable {
    package var device: DeviceAddress
    /// What the user sees of this host, and can tell it.
    package var capability: IOCapability
    /// The level below which there is no bond; a key of less than 16 bytes makes none either.
    package var required: GATTLinkSecurity.Level
    /// The time after which the pairing is called off.
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

/// A pairing with one device that the user has begun, by the kernel's Security Manager or this library's.
///
/// It is used on the event loop's thread, and begun and closed by the arbiter of the radio, as `RadioPairing`.
package protocol DevicePairing: AnyObject {
    /// The handler of news; the last is the end.
    var onNews: ((ManagedPairing.News) -> Void)? { get set }

    /// Begins; it is called off after its limit.
    func begin()
    /// The user's answer to `compare`.
    func answer(_ isSame: Bool)
    /// The user's answer to `enter`; nil for none.
    func answer(passkey: UInt32?)
    /// Calls it off; the end follows, unless it was there already.
    func cancel()
    /// Puts the adapter back as it was and ends the link, with `forgetting` without a key left below this process;
    /// `completion` is called when that is done.
    func close(forgetting: Bool, completion: @escaping () -> Void)
}

/// What a central may agree on with this host, the peripheral.
package struct PairableOptions: Sendable {
    /// What the user sees of this host, and can tell it.
    package var capability: IOCapability
    /// The level below which there is no bond.
    package var required: GATTLinkSecurity.Level
    /// The time after which nobody may pair any more.
    package var limit: Duration

    package init(_ capability: IOCapability, required: GATTLinkSecurity.Level, limit: Duration) {
        self.capability = capability
        self.required = required
        self.limit = limit
    }
}

/// A time in which one central that asks for it pairs with this host: begun by the user, and off otherwise.
///
/// It ends with the first bond, at its limit, or when it is closed; who asks before or behind it is refused. A central that
/// has a bond already is refused too: a key is never replaced.
package protocol PairableMode: AnyObject {
    /// The handler of news; the last is the end.
    var onNews: ((PairableEvent) -> Void)? { get set }

    /// Begins; it takes the place of another window of this adapter.
    func open()
    /// The user's answer to `compare`.
    func answer(_ isSame: Bool)
    /// The user's answer to `enter`; nil for none.
    func answer(passkey: UInt32?)
    /// Ends it at once, and a pairing that is under way; no news follows.
    func close()
}
