// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// A Low Energy host above a controller that nobody else uses: initialisation, scanning, both roles, L2CAP's fixed
/// channels, and the controller's buffers.
///
/// A pure state machine. The caller passes every packet from the controller to `receive`, sends what `nextOutgoing`
/// returns, takes the events, and calls `handleDeadline` at `deadline`. Everything that a controller or a peer can make
/// it keep is bounded, and a controller that is wrong, silent or forgetful ends in one `failed` event. Core 6.0, Vol 4,
/// Part E (HCI) and Vol 3, Part A (L2CAP).
///
/// Its parts have a state of their own each; `HostParts` routes to them.
public struct LowEnergyHost: Sendable {
    var parts: HostParts

    /// A host that has told its controller nothing yet.
    ///
    /// `randomAddress` is used where the controller has no public one; its two highest bits are set to make it static.
    public init(randomAddress: BluetoothAddress? = nil) {
        self.init(randomAddress: randomAddress, random: PairingRandomness())
    }

    /// A host for tests: the Security Manager of each connection begins with a copy of `random`.
    package init(randomAddress: BluetoothAddress? = nil, random: PairingRandomness) {
        parts = HostParts(randomAddress, random)
    }

    /// True while Reset was sent and is not answered.
    public var isAwaitingReset: Bool { parts.core.output.commands.isAwaitingReset }

    /// Begins the initialisation anew, with Reset; false, and nothing done, after `ready`, `failed`, or too many times.
    public mutating func beginAnew() -> Bool {
        guard failure == nil, parts.core.controller.beginAnew() else { return false }
        parts.core.output.commands = HostCommands()
        parts.core.output.request(.reset, .initialise)
        return true
    }

    /// True between `ready` and `failed`.
    public var isReady: Bool { parts.isReady }
    /// The reason why the host has given up; nil as long as it has not.
    public var failure: HostFailure? { parts.core.output.failure }
    /// The counts so far.
    public var counters: Counters { parts.core.output.counters }
    /// The address that peers see; nil before `ready`.
    public var ownAddress: DeviceAddress? { parts.core.controller.address }
    /// The controller's buffers for data; nil before `ready`.
    public var buffers: DataBuffers? { parts.core.controller.buffers }
    /// The number of packets that the controller has room for.
    public var freeBufferCount: Int { Int(buffers?.packetCount ?? 0) - parts.core.links.inFlight }
    /// About how many bytes are kept for others, for tests of its bounds.
    public var storedBytes: Int { parts.core.links.storedBytes &+ parts.core.output.storedBytes }

    /// The next event; nil for none.
    public mutating func nextEvent() -> Event? {
        if !hasEvents { parts.securities.refuseRequests(&parts.core) }
        return parts.core.output.nextEvent()
    }

    /// True when `nextEvent` has one.
    public var hasEvents: Bool { parts.core.output.hasEvents }

    /// The next packet for the controller, its indicator included, which counts as sent; nil for none.
    ///
    /// Commands come before data, and data no more than the controller has buffers for.
    public mutating func nextOutgoing(now: Duration) -> [UInt8]? {
        guard failure == nil else { return nil }
        if let command = parts.core.output.commands.next(&parts.core.scanner, now: now) { return command.encoded }
        return parts.core.links.nextPacket(buffers, now: now, &parts.core.output)
    }

    /// The time at which `handleDeadline` must be called, if nothing comes before.
    public var deadline: Duration? { parts.deadline }
    /// True while silence of the controller is no matter of course: it is connected, connects, scans or advertises.
    package var isInUse: Bool { parts.isInUse }

    /// Gives up commands, attempts and connections that take too long.
    public mutating func handleDeadline(now: Duration) { parts.handleDeadline(now: now) }

    /// Takes a packet from the controller, its indicator included.
    ///
    /// A packet that cannot be read is counted and not used.
    public mutating func receive(_ packet: Span<UInt8>, now: Duration) { parts.receive(packet, now: now) }

    /// Begins to scan, or with other parameters; false as long as the host is not ready, or cannot scan.
    public mutating func startScanning(_ parameters: ScanParameters, devices: DeviceTable) -> Bool {
        guard isReady else { return false }
        var parameters = parameters
        if ownAddress?.type == .random { parameters.ownAddressType = .random }
        return parts.core.scanner.start(parameters, devices, &parts.core.output)
    }

    /// Ends scanning; `scanStopped` follows unless no scan was running.
    public mutating func stopScanning() { parts.core.scanner.stop(&parts.core.output) }

    /// The devices that were heard.
    public var scannedDevices: DeviceTable? { parts.core.scanner.devices }

    /// Forgets devices that have not been heard for long.
    public mutating func expireDevices(now: Duration) { parts.core.scanner.expireDevices(now: now) }

    /// True when the controller does not scan, and is not about to.
    public var isScanIdle: Bool { parts.core.scanner.isIdle }

    /// Advertises until `stopAdvertising`, again after each connection; replaces what was advertised.
    ///
    /// `advertisingStarted` or `advertisingFailed` follows. Returns false, and does nothing, when data or scan response
    /// is longer than 31 bytes, or the host is not ready.
    public mutating func advertise(_ parameters: AdvertisingParameters, data: [UInt8], scanResponse: [UInt8]) -> Bool {
        let limit = HCICommand.maximumAdvertisingDataLength
        guard isReady, data.count <= limit, scanResponse.count <= limit else { return false }
        var parameters = parameters
        if ownAddress?.type == .random { parameters.ownAddressType = .random }
        let setup = HostAdvertising.Setup(parameters: parameters, data: data, scanResponse: scanResponse)
        parts.advertising.replace(setup, &parts.core)
        return true
    }

    /// Advertises no more; connections stay.
    ///
    /// `advertisingStopped` follows.
    public mutating func stopAdvertising() {
        guard isReady else { return }
        parts.advertising.replace(nil, &parts.core)
    }

    /// The established connections.
    public var connections: [Connection] { parts.core.links.connections }

    /// Sends a PDU of the Attribute Protocol; false when it was not taken, and `writable` will tell when to try again.
    public mutating func send(_ pdu: [UInt8], on handle: UInt16) -> Bool {
        guard let frame = L2CAPFrame.encoded(.attribute, pdu) else { return false }
        return parts.core.links[handle]?.enqueue(frame) ?? false
    }

    /// The PHY on which a connection's peer sends; nil as long as no change was told.
    public func phy(of handle: UInt16) -> PHY? { parts.core.links[handle]?.phy }
    /// The longest data of one packet from a connection's peer, in bytes; nil as long as no change was told.
    public func receivedDataLength(of handle: UInt16) -> UInt16? { parts.core.links[handle]?.receivedDataLength }
    /// The timing in force on a connection; nil where there is none.
    public func timing(of handle: UInt16) -> ConnectionTiming? { parts.core.links[handle]?.timing }
    /// The signal strength of a connection's peer in dBm, as it was read last; nil before that.
    public func rssi(of handle: UInt16) -> Int8? { parts.core.links[handle]?.rssi }

    /// Asks the controller for the signal strength of a connection's peer, unless that was done within `life`.
    ///
    /// A controller that does not answer is not asked again.
    public mutating func readRSSI(of handle: UInt16, life: Duration, now: Duration) {
        guard isReady, parts.core.links[handle]?.asksSignal(life, now: now) == true else { return }
        parts.core.controller.requestOptional(.readRSSI(handle: handle), .readRSSI, handle, &parts.core.output)
    }

    /// Connects, one device after the other; `connected` or `connectionFailed` follows.
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

    /// Gives an attempt up; no event follows.
    public mutating func cancelConnection(to device: DeviceAddress, now: Duration) {
        parts.attempts.cancel(device, now: now, &parts.core.output)
        parts.beginAttempt()
    }

    /// Ends a connection when what waits to be sent has left, or after `drainTime`; `disconnected` follows.
    ///
    /// The peer would not get the last PDUs otherwise: keys that it has to keep, or why a pairing has failed.
    public mutating func disconnect(
        _ handle: UInt16,
        reason: HCIStatus = .remoteUserTerminatedConnection,
        now: Duration
    ) {
        parts.core.links.end(handle, reason, now: now, &parts.core.output)
    }

    /// The policy for pairings on later connections; the host fills in the identity.
    public var pairingPolicy: PairingPolicy {
        get { parts.securities.policy }
        set { parts.securities.policy = newValue }
    }

    /// The policy for pairings that a central asks for, on every connection as its peripheral; nil for `pairingPolicy`.
    ///
    /// One such pairing is accepted at a time: a user can be asked for one number only.
    public var acceptance: PairingPolicy? {
        get { parts.securities.acceptance }
        set { parts.securities.acceptance = newValue }
    }

    /// The bonds that count for later connections; those of other controllers are left out.
    public var bonds: [Bond] {
        get { parts.securities.bonds }
        set { parts.securities.use(newValue, &parts.core) }
    }

    /// The security of a connection's link.
    public func security(of handle: UInt16) -> GATTLinkSecurity {
        parts.securities[handle]?.inForce ?? GATTLinkSecurity()
    }

    /// Encrypts a link as its central with the key of the bond, or has it encrypted anew; `SecurityEvent.changed` follows.
    ///
    /// False, and nothing done, without such a bond, during a pairing, or while the link is being encrypted.
    public mutating func encrypt(_ handle: UInt16) -> Bool { parts.securities.encrypt(handle, &parts.core) }

    /// True from the controller's instruction to encrypt a link to its outcome, whoever has asked for it.
    public func isEncrypting(_ handle: UInt16) -> Bool { parts.securities[handle]?.isEncrypting == true }

    /// Begins a pairing: the central with a Pairing Request, the peripheral with a Security Request.
    ///
    /// `SecurityEvent.paired` or `pairingFailed` follows, or the end of the connection.
    public mutating func pair(_ handle: UInt16, now: Duration) throws(SecurityManager.Refusal) {
        try parts.securities.pair(handle, &parts.core, now: now)
    }

    /// The passkey that the user has entered, 0 to 999999; nil for none.
    public mutating func enter(passkey: UInt32?, of handle: UInt16, now: Duration) {
        parts.securities.instruct(handle, &parts.core) { $0.enter(passkey: passkey, now: now) }
    }

    /// Takes the user's answer whether both devices show the same number.
    public mutating func compare(isSame: Bool, of handle: UInt16, now: Duration) {
        parts.securities.instruct(handle, &parts.core) { $0.compare(isSame: isSame, now: now) }
    }

    /// Ends a pairing that is under way.
    public mutating func cancelPairing(of handle: UInt16, now: Duration) {
        parts.securities.instruct(handle, &parts.core) { $0.cancel(now: now) }
    }

    /// Ends the pairings that centrals have asked for.
    public mutating func cancelAcceptedPairings(now: Duration) {
        for connection in connections where connection.role == .peripheral {
            cancelPairing(of: connection.handle, now: now)
        }
    }
}
