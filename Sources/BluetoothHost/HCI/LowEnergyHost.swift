// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// Bluetooth Low Energy host with exclusive use of its controller.
///
/// It implements the initialisation, scanning, both roles, the fixed L2CAP channels, and the flow control of the
/// controller's data buffers.
///
/// It is a pure state machine. The caller passes every packet from the controller to `receive`, sends the packets that
/// `nextOutgoing` returns, processes the events, and calls `handleDeadline` at `deadline`. All data that a controller
/// or a peer can cause the host to store is bounded. A controller that misbehaves, does not answer or loses data causes
/// a single `failed` event. Core 6.0, Vol 4, Part E (HCI) and Vol 3, Part A (L2CAP).
///
/// Each part of the host has its own state; `HostParts` routes events and packets to the parts.
public struct LowEnergyHost: Sendable {
    var parts: HostParts

    /// Creates a host that has not yet sent any command.
    ///
    /// `randomAddress` is used if the controller has no public address. Its two most significant bits are set to make
    /// it a static address.
    public init(randomAddress: BluetoothAddress? = nil) {
        self.init(randomAddress: randomAddress, random: PairingRandomness())
    }

    /// Creates a host for tests; the Security Manager of each connection starts with a copy of `random`.
    package init(randomAddress: BluetoothAddress? = nil, random: PairingRandomness) {
        parts = HostParts(randomAddress, random)
    }

    /// True while a Reset command is unanswered.
    public var isAwaitingReset: Bool { parts.core.output.commands.isAwaitingReset }

    /// Restarts the initialisation with Reset.
    ///
    /// Returns false and does nothing after `ready` or `failed`, or after too many restarts.
    public mutating func beginAnew() -> Bool {
        guard failure == nil, parts.core.controller.beginAnew() else { return false }
        parts.core.output.commands = HostCommands()
        parts.core.output.request(.reset, .initialise)
        return true
    }

    /// True between `ready` and `failed`.
    public var isReady: Bool { parts.isReady }
    /// Reason why the host failed; nil if it has not failed.
    public var failure: HostFailure? { parts.core.output.failure }
    /// Counters since the host was created.
    public var counters: Counters { parts.core.output.counters }
    /// Address of this host that peers see; nil before `ready`.
    public var ownAddress: DeviceAddress? { parts.core.controller.address }
    /// Data buffers of the controller; nil before `ready`.
    public var buffers: DataBuffers? { parts.core.controller.buffers }
    /// Number of free packet buffers in the controller.
    public var freeBufferCount: Int { Int(buffers?.packetCount ?? 0) - parts.core.links.inFlight }
    /// Approximate number of bytes stored for peers and the controller, for tests that check the bounds.
    public var storedBytes: Int { parts.core.links.storedBytes &+ parts.core.output.storedBytes }

    /// Returns the next event, or nil if there is none.
    public mutating func nextEvent() -> Event? {
        if !hasEvents { parts.securities.refuseRequests(&parts.core) }
        return parts.core.output.nextEvent()
    }

    /// True if `nextEvent` would return an event.
    public var hasEvents: Bool { parts.core.output.hasEvents }

    /// Returns the next packet for the controller, including its indicator, and counts it as sent; nil if there is
    /// none.
    ///
    /// Commands are sent before data, and data only if the controller has free buffers.
    public mutating func nextOutgoing(now: Duration) -> [UInt8]? {
        guard failure == nil else { return nil }
        if let command = parts.core.output.commands.next(&parts.core.scanner, now: now) { return command.encoded }
        return parts.core.links.nextPacket(buffers, now: now, &parts.core.output)
    }

    /// Time at which `handleDeadline` must be called if nothing happens before then; nil if there is no deadline.
    public var deadline: Duration? { parts.deadline }
    /// True while the controller is expected to send packets, because it is connected, connecting, scanning or
    /// advertising.
    package var isInUse: Bool { parts.isInUse }

    /// Ends commands, connection attempts and connections that have timed out.
    public mutating func handleDeadline(now: Duration) { parts.handleDeadline(now: now) }

    /// Processes a packet from the controller, including its indicator.
    ///
    /// A packet that cannot be parsed is counted and ignored.
    public mutating func receive(_ packet: Span<UInt8>, now: Duration) { parts.receive(packet, now: now) }

    /// Starts a scan, or restarts it with other parameters; returns false if the host is not ready or cannot scan.
    public mutating func startScanning(_ parameters: ScanParameters, devices: DeviceTable) -> Bool {
        guard isReady else { return false }
        var parameters = parameters
        if ownAddress?.type == .random { parameters.ownAddressType = .random }
        return parts.core.scanner.start(parameters, devices, &parts.core.output)
    }

    /// Stops the scan; `scanStopped` follows if a scan was running.
    public mutating func stopScanning() { parts.core.scanner.stop(&parts.core.output) }

    /// Table of the devices that the scanner has heard; nil if the controller cannot scan.
    public var scannedDevices: DeviceTable? { parts.core.scanner.devices }

    /// Removes devices that have not been heard for `DeviceTable.lifetime`.
    public mutating func expireDevices(now: Duration) { parts.core.scanner.expireDevices(now: now) }

    /// True if no scan is in progress or starting.
    public var isScanIdle: Bool { parts.core.scanner.isIdle }

    /// Starts advertising, replacing any earlier advertising.
    ///
    /// Advertising continues until `stopAdvertising`, and resumes after each connection. `advertisingStarted` or
    /// `advertisingFailed` follows. Returns false and does nothing if the data or the scan response is longer than 31
    /// bytes, or if the host is not ready.
    public mutating func advertise(_ parameters: AdvertisingParameters, data: [UInt8], scanResponse: [UInt8]) -> Bool {
        let limit = HCICommand.maximumAdvertisingDataLength
        guard isReady, data.count <= limit, scanResponse.count <= limit else { return false }
        var parameters = parameters
        if ownAddress?.type == .random { parameters.ownAddressType = .random }
        let setup = HostAdvertising.Setup(parameters: parameters, data: data, scanResponse: scanResponse)
        parts.advertising.replace(setup, &parts.core)
        return true
    }

    /// Stops advertising but keeps the connections.
    ///
    /// `advertisingStopped` follows.
    public mutating func stopAdvertising() {
        guard isReady else { return }
        parts.advertising.replace(nil, &parts.core)
    }

    /// Established connections.
    public var connections: [Connection] { parts.core.links.connections }

    /// Sends an ATT PDU; returns false if the PDU was rejected, in which case a `writable` event reports when to retry.
    public mutating func send(_ pdu: [UInt8], on handle: UInt16) -> Bool {
        guard let frame = L2CAPFrame.encoded(.attribute, pdu) else { return false }
        return parts.core.links[handle]?.enqueue(frame) ?? false
    }

    /// Returns the PHY on which the connection's peer sends; nil if the controller has reported no change.
    public func phy(of handle: UInt16) -> PHY? { parts.core.links[handle]?.phy }
    /// Returns the maximum data length of packets from the connection's peer, in bytes; nil if the controller has
    /// reported no change.
    public func receivedDataLength(of handle: UInt16) -> UInt16? { parts.core.links[handle]?.receivedDataLength }
    /// Returns the current connection parameters; nil if the connection is unknown.
    public func timing(of handle: UInt16) -> ConnectionTiming? { parts.core.links[handle]?.timing }
    /// Returns the latest RSSI of the connection's peer, in dBm; nil if it has not been read.
    public func rssi(of handle: UInt16) -> Int8? { parts.core.links[handle]?.rssi }

    /// Requests the RSSI of the connection's peer from the controller, unless it was already requested within `life`.
    ///
    /// If the controller does not answer the request, it is not repeated.
    public mutating func readRSSI(of handle: UInt16, life: Duration, now: Duration) {
        guard isReady, parts.core.links[handle]?.asksSignal(life, now: now) == true else { return }
        parts.core.controller.requestOptional(.readRSSI(handle: handle), .readRSSI, handle, &parts.core.output)
    }

    /// Queues a connection attempt; `connected` or `connectionFailed` follows.
    ///
    /// Connection attempts are performed one at a time.
    public mutating func connect(
        to device: DeviceAddress,
        _ parameters: ConnectionParameters = .standard,
        timeout: Duration,
        now: Duration
    ) {
        var refusal: HCIStatus?
        if parts.attempts.contains(device) || connections.contains(where: { $0.peer == device }) {
            refusal = .connectionAlreadyExists
        } else if !isReady {
            refusal = .commandDisallowed
        } else if parts.attempts.count >= Self.maximumAttempts || parts.core.links.count >= Self.maximumConnections {
            refusal = .connectionLimitExceeded
        }
        if let refusal { return parts.core.output.emit(.connectionFailed(device, .status(refusal))) }
        parts.attempts.add(device, parameters, until: now + timeout)
        parts.beginAttempt()
    }

    /// Cancels a connection attempt; no event reports its end.
    public mutating func cancelConnection(to device: DeviceAddress, now: Duration) {
        parts.attempts.cancel(device, now: now, &parts.core.output)
        parts.beginAttempt()
    }

    /// Ends a connection when its queued data has been sent, but no later than after `drainTime`; `disconnected`
    /// follows.
    ///
    /// Without this delay, the peer would miss the last PDUs, such as keys to store or the reason for a failed pairing.
    public mutating func disconnect(
        _ handle: UInt16,
        reason: HCIStatus = .remoteUserTerminatedConnection,
        now: Duration
    ) {
        parts.core.links.end(handle, reason, now: now, &parts.core.output)
    }

    /// Pairing policy for later connections; the host fills in the identity.
    public var pairingPolicy: PairingPolicy {
        get { parts.securities.policy }
        set { parts.securities.policy = newValue }
    }

    /// Pairing policy for requests from centrals, on all connections in the peripheral role; nil to use
    /// `pairingPolicy`.
    ///
    /// Only one such pairing is accepted at a time, because the user can enter or compare only one number at a time.
    public var acceptance: PairingPolicy? {
        get { parts.securities.acceptance }
        set { parts.securities.acceptance = newValue }
    }

    /// Bonds for later connections; bonds of other controllers are ignored.
    public var bonds: [Bond] {
        get { parts.securities.bonds }
        set { parts.securities.use(newValue, &parts.core) }
    }

    /// Returns the security of a connection's link.
    public func security(of handle: UInt16) -> GATTLinkSecurity {
        parts.securities[handle]?.inForce ?? GATTLinkSecurity()
    }

    /// Encrypts a link as the central with the bond's key, or refreshes its encryption; `SecurityEvent.changed`
    /// follows.
    ///
    /// Returns false and does nothing if there is no bond, a pairing is in progress, or the encryption is already being
    /// changed.
    public mutating func encrypt(_ handle: UInt16) -> Bool { parts.securities.encrypt(handle, &parts.core) }

    /// Returns true while the outcome of an encryption is pending, regardless of the side that started the encryption.
    public func isEncrypting(_ handle: UInt16) -> Bool { parts.securities[handle]?.isEncrypting == true }

    /// Starts a pairing: a central sends a Pairing Request, a peripheral sends a Security Request.
    ///
    /// `SecurityEvent.paired`, `pairingFailed` or the end of the connection follows.
    public mutating func pair(_ handle: UInt16, now: Duration) throws(SecurityManager.Refusal) {
        try parts.securities.pair(handle, &parts.core, now: now)
    }

    /// Passes on the passkey that the user has entered, 0 to 999999, or nil if the user has declined.
    public mutating func enter(passkey: UInt32?, of handle: UInt16, now: Duration) {
        parts.securities.instruct(handle, &parts.core) { $0.enter(passkey: passkey, now: now) }
    }

    /// Passes on the user's answer to the numeric comparison.
    public mutating func compare(isSame: Bool, of handle: UInt16, now: Duration) {
        parts.securities.instruct(handle, &parts.core) { $0.compare(isSame: isSame, now: now) }
    }

    /// Cancels the current pairing.
    public mutating func cancelPairing(of handle: UInt16, now: Duration) {
        parts.securities.instruct(handle, &parts.core) { $0.cancel(now: now) }
    }

    /// Cancels all pairings that centrals have requested.
    public mutating func cancelAcceptedPairings(now: Duration) {
        for connection in connections where connection.role == .peripheral {
            cancelPairing(of: connection.handle, now: now)
        }
    }
}
