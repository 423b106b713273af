// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// A Low Energy host above a controller that nobody else uses: initialisation, scanning, both roles, L2CAP's fixed
/// channels, and the controller's buffers.
///
/// A pure state machine. The caller passes every packet from the controller to `receive`, sends what `nextOutgoing`
/// returns, takes the events, and calls `handleDeadline` at `deadline`. Everything that a controller or a peer can make
/// it keep is bounded, and a controller that is wrong, silent or forgetful ends in one `failed` event. Core 6.0, Vol 4,
/// Part E (HCI) and Vol 3, Part A (L2CAP).
public struct LowEnergyHost: Sendable {
    /// An established connection.
    public struct Connection: Hashable, Sendable {
        /// The connection handle, 12 bits; free for another connection as soon as this one has ended.
        public let handle: UInt16
        /// The host's own role.
        public let role: ConnectionRole
        /// The peer.
        public let peer: DeviceAddress
    }

    /// The reason why an attempt to connect failed.
    public enum ConnectionFailure: Error, Hashable, Sendable {
        case timedOut
        case status(HCIStatus)
        case refused(HCIOpcode, HCIStatus)
    }

    /// News for the caller.
    public enum Event: Hashable, Sendable {
        case ready
        /// The host has given up; no event follows.
        case failed(HostFailure)
        /// A connection was established, in either role.
        case connected(Connection)
        case connectionFailed(DeviceAddress, ConnectionFailure)
        case disconnected(Connection, reason: HCIStatus)
        case timed(handle: UInt16, ConnectionTiming)
        /// A PDU of the Attribute Protocol.
        case received(handle: UInt16, pdu: [UInt8])
        /// News of a connection's encryption or pairing.
        case security(handle: UInt16, SecurityEvent)
        /// There is room again for a PDU that was not taken.
        case writable(handle: UInt16)
        case advertisingStarted
        case advertisingFailed(HostFailure)
        case advertisingStopped
        case scanStarted
        case scanStopped
        case scanFailed(Scanner.Failure)
        /// A report that the filter lets through.
        case scanned(DeviceTable.Update)
    }

    /// Counts for the log.
    public struct Counters: Hashable, Sendable {
        /// Packets from the controller that could not be read.
        public internal(set) var badPackets: UInt64 = 0
        /// Fragments and frames that broke L2CAP's rules.
        public internal(set) var badFrames: UInt64 = 0
        /// Data for connections that do not exist.
        public internal(set) var strayPackets: UInt64 = 0
        /// Frames for channels that do not exist.
        public internal(set) var unknownChannels: UInt64 = 0
        /// Completions of packets that were not under way.
        public internal(set) var falseCompletions: UInt64 = 0
        /// Events and answers that were not kept because the caller or the controller was too slow.
        public internal(set) var dropped: UInt64 = 0
        /// Data Buffer Overflow events.
        public internal(set) var overflows: UInt64 = 0
        /// Resets that were sent again because the one before was not answered.
        public internal(set) var repeatedResets: UInt64 = 0
        /// Times that a controller in use was asked whether it is there, after `silence`.
        public internal(set) var probes: UInt64 = 0
        /// Peers' wishes for other connection parameters that were granted, as a whole or in part.
        public internal(set) var grantedParameters: UInt64 = 0
        /// Peers' wishes for other connection parameters that were refused.
        public internal(set) var refusedParameters: UInt64 = 0
        /// Connections that could not be established and were tried again.
        public internal(set) var repeatedConnections: UInt64 = 0
    }

    enum State: Sendable, Equatable {
        case initialising
        case ready
        case failed(HostFailure)
    }

    /// The most connections; a controller that makes more is told to end them.
    public static let maximumConnections = 16
    /// The most connections that are asked for at a time.
    public static let maximumAttempts = 16
    /// The longest time that the controller may keep data, or a connection that ends: more than the longest supervision
    /// time-out (32 s).
    public static let patience = Duration.seconds(40)
    /// The longest time that a connection which is to end goes on for the data that waits: longer than a device with the usual
    /// timing takes for the keys of a pairing.
    public static let drainTime = Duration.seconds(2)
    /// The number of times that Reset is sent before its answer is given up.
    public static let resetAttempts = 2
    /// The number of times that an initialisation is begun anew, with the first.
    public static let mostBeginnings = 4
    /// The longest silence of a controller in use before it is asked for a sign of life.
    public static let silence = Duration.seconds(10)
    /// The most events that wait for the caller, and the most commands that wait for the controller.
    static let eventCapacity = 1024
    static let commandCapacity = 64
    /// More commands than all connections and attempts together can need: a controller that asks for more is given up.
    static let commandLimit = 256
    /// The most packets kept for a connection that is not known yet, and how long they are kept: older ones belong to a
    /// connection that has ended.
    static let earlyCapacity = 8
    static let earlyLife = Duration.milliseconds(500)

    /// The counts so far.
    public internal(set) var counters = Counters()
    /// The address that peers see; nil before `ready`.
    public internal(set) var ownAddress: DeviceAddress?
    /// The controller's buffers for data; nil before `ready`.
    public internal(set) var buffers: DataBuffers?
    /// The commands that the controller knows; nil before `ready`.
    public internal(set) var supportedCommands: SupportedCommands?

    /// What is allowed and offered where a later connection pairs; the identity is filled in.
    public var pairingPolicy = PairingPolicy(identity: DeviceAddress(BluetoothAddress(rawValue: 0), .public))
    /// What is allowed and offered to a central that asks for a pairing, on every connection as its peripheral; nil leaves
    /// that to `pairingPolicy`.
    ///
    /// One such pairing is accepted at a time: a user can be asked for one number only.
    public var acceptance: PairingPolicy?
    /// The bonds that count for later connections; those of other controllers are left out.
    public var bonds: [Bond] = [] {
        didSet {
            guard bonds != oldValue else { return }
            resolver = AddressResolver(ownBonds)
            scanner?.devices.resolver = resolver
        }
    }
    /// The resolver of the bonds, for the next scan and for those who connect by themselves.
    var resolver: AddressResolver?

    let randomAddress: BluetoothAddress?
    let random: PairingRandomness
    var securities: [UInt16: HostSecurity] = [:]
    /// The connections whose Security Request is refused unless the caller pairs when it hears of what came before.
    var securityRequests: Set<UInt16> = []
    var backoffs = PairingBackoffs()
    /// The time at which the first pairing under way is given up.
    var pairingDeadline: Duration?
    var state = State.initialising
    var events: [Event] = []
    var commands = HCICommandQueue()
    var waiting: [(command: HCICommand, purpose: Purpose)] = []
    /// The purpose of the command in the queue, which holds one at a time.
    var current: Purpose?
    var scanner: Scanner?
    var links: [UInt16: HostLink] = [:]
    var announced: Set<UInt16> = []
    var freeBuffers = 0
    /// The connection that was served last; the next one in order comes first.
    var lastServed: UInt16 = 0
    var early: [(handle: UInt16, packet: [UInt8], time: Duration)] = []
    var attempts: [Attempt] = []
    var advertising = Advertising()
    var isExtended = false
    /// The number of times that the initialisation was begun.
    var beginnings = 1
    /// The number of times that Reset was sent since then.
    var resets = 1
    /// The time of the last packet from the controller, or of the last command to it.
    var lastTalk = Duration.zero
    /// True from the question for a sign of life to its answer.
    var isProbing = false
    var leFeatures: UInt64 = 0
    /// The optional commands that the controller left without an answer.
    var unanswered: Set<HCIOpcode> = []

    enum Purpose: Sendable {
        case initialise
        case advertise
        case connect
        case cancelConnection
        case disconnect(UInt16)
        case update(UInt16)
        case reply
        case probe
        case encrypt(UInt16)
        /// For a connection, which goes on whatever becomes of it.
        case optional(UInt16)
    }

    /// A host that has told its controller nothing yet.
    ///
    /// `randomAddress` is used where the controller has no public one; its two highest bits are set to make it static.
    public init(randomAddress: BluetoothAddress? = nil) {
        self.init(randomAddress: randomAddress, random: PairingRandomness())
    }

    /// A host for tests: the Security Manager of each connection begins with a copy of `random`.
    package init(randomAddress: BluetoothAddress? = nil, random: PairingRandomness) {
        self.random = random
        self.randomAddress = randomAddress.map { BluetoothAddress(rawValue: $0.rawValue | 0xC000_0000_0000) }
        request(.reset, .initialise)
    }

    /// True while Reset was sent and is not answered.
    public var isAwaitingReset: Bool { commands.outstandingOpcode == .reset }

    /// Begins the initialisation anew, with Reset; false, and nothing done, after `ready`, `failed`, or too many times.
    public mutating func beginAnew() -> Bool {
        guard state == .initialising, beginnings < Self.mostBeginnings else { return false }
        beginnings &+= 1
        resets = 1
        commands = HCICommandQueue()
        waiting = []
        current = nil
        request(.reset, .initialise)
        return true
    }

    /// True between `ready` and `failed`.
    public var isReady: Bool { state == .ready }

    /// The reason why the host has given up; nil as long as it has not.
    public var failure: HostFailure? {
        if case .failed(let failure) = state { failure } else { nil }
    }

    /// The established connections.
    public var connections: [Connection] { links.values.map { $0.connection } }

    /// The number of packets that the controller has room for.
    public var freeBufferCount: Int { freeBuffers }

    /// About how many bytes are kept for others, for tests of its bounds.
    public var storedBytes: Int {
        links.values.reduce(0) { $0 &+ $1.storedBytes }
            &+ events.reduce(0) { if case .received(_, let pdu) = $1 { $0 &+ pdu.count } else { $0 &+ 16 } }
            &+ early.reduce(0) { $0 &+ $1.packet.count } &+ waiting.reduce(0) { $0 &+ $1.command.parameters.count }
    }

    /// The next event; nil for none.
    public mutating func nextEvent() -> Event? {
        if events.isEmpty { refuseSecurityRequests() }
        return events.isEmpty ? nil : events.removeFirst()
    }

    /// True when `nextEvent` has one.
    public var hasEvents: Bool { !events.isEmpty }

    /// The next packet for the controller, its indicator included, which counts as sent; nil for none.
    ///
    /// Commands come before data, and data no more than the controller has buffers for.
    public mutating func nextOutgoing(now: Duration) -> [UInt8]? {
        if case .failed = state { return nil }
        if let command = nextCommand(now: now) { return command.encoded }
        return nextData(now: now)
    }

    /// Sends a PDU of the Attribute Protocol; false when it was not taken, and `writable` will tell when to try again.
    public mutating func send(_ pdu: [UInt8], on handle: UInt16) -> Bool {
        guard let frame = L2CAPFrame.encoded(.attribute, pdu) else { return false }
        return links[handle]?.enqueue(frame) ?? false
    }

    /// The time at which `handleDeadline` must be called, if nothing comes before.
    public var deadline: Duration? {
        if case .failed = state { return nil }
        var times: [Duration] = []
        if let time = commandDeadline { times.append(time) }
        if isInUse, !isProbing { times.append(lastTalk + Self.silence) }
        for attempt in attempts { times.append(attempt.nextDeadline) }
        for link in links.values {
            if let time = link.disconnectDeadline { times.append(time) }
            if let time = link.draining?.until { times.append(time) }
            if link.inFlight > 0 { times.append(link.lastProgress + Self.patience) }
        }
        if let time = pairingDeadline { times.append(time) }
        return times.min()
    }

    /// Gives up commands, attempts and connections that take too long.
    public mutating func handleDeadline(now: Duration) {
        if case .failed = state { return }
        if let outcome = commands.expire(now: now) { take(outcome, now: now) }
        if scanner != nil { updateScanner { $0.advance(now: now) } }
        expireAttempts(now: now)
        probe(now: now)
        expirePairings(now: now)
        for link in links.values.sorted(by: { $0.connection.handle < $1.connection.handle }) {
            let handle = link.connection.handle
            endDrained(handle, now: now)
            if let deadline = link.disconnectDeadline, deadline <= now {
                fail(.lostDisconnection(handle: handle))
            } else if link.inFlight > 0, link.lastProgress + Self.patience <= now {
                fail(.lostCompletions(handle: handle))
            }
        }
    }

    /// Begins to scan, or with other parameters; false as long as the host is not ready, or cannot scan.
    public mutating func startScanning(_ parameters: ScanParameters, devices: DeviceTable) -> Bool {
        guard isReady, scanner != nil else { return false }
        var parameters = parameters
        if ownAddress?.type == .random { parameters.ownAddressType = .random }
        updateScanner { scanner in
            let resolver = scanner.devices.resolver
            scanner.devices = devices
            scanner.devices.resolver = resolver
            scanner.start(parameters)
        }
        return true
    }

    /// Ends scanning; `scanStopped` follows unless no scan was running.
    public mutating func stopScanning() {
        updateScanner { $0.stop() }
    }

    /// The devices that were heard.
    public var scannedDevices: DeviceTable? { scanner?.devices }

    /// Forgets devices that have not been heard for long.
    public mutating func expireDevices(now: Duration) {
        _ = scanner?.devices.expire(now: now)
    }

    /// True when the controller does not scan, and is not about to.
    public var isScanIdle: Bool { scanner == nil || scanner?.state == .idle }

    /// Calls `body` with the scanner, and reports the changes of its state.
    mutating func updateScanner(_ body: (inout Scanner) -> Void) {
        guard var scanner else { return }
        self.scanner = nil
        let before = scanner.state
        body(&scanner)
        let after = scanner.state
        self.scanner = scanner
        // The controller does not know the extended commands, whatever it says.
        if scanner.generation == .legacy, advertising.state == .idle { isExtended = false }
        guard before != after else { return }
        switch after {
        case .scanning: emit(.scanStarted)
        case .idle: emit(.scanStopped)
        case .failed(let failure): emit(.scanFailed(failure))
        case .starting, .stopping: break
        }
    }

    /// Keeps an event for the caller; data is dropped when the caller takes no events.
    mutating func emit(_ event: Event) {
        // After a failure no event follows.
        if case .failed = state { return }
        var isExpendable = false
        switch event {
        case .received, .scanned: isExpendable = true
        default: break
        }
        if isExpendable, events.count >= Self.eventCapacity {
            counters.dropped &+= 1
        } else {
            events.append(event)
        }
    }

    /// Ends connections, attempts, scanning and advertising.
    mutating func fail(_ failure: HostFailure) {
        if case .failed = state { return }
        state = .failed(failure)
        waiting = []
        current = nil
        links = [:]
        securities = [:]
        securityRequests = []
        pairingDeadline = nil
        announced = []
        attempts = []
        early = []
        advertising = Advertising()
        events.append(.failed(failure))
    }
}
