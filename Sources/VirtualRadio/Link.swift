// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

extension ConnectionRole {
    var other: ConnectionRole { self == .central ? .peripheral : .central }
}

extension ConnectionParameters {
    /// Reads Interval_Min, Interval_Max, Max_Latency and Supervision_Timeout (Core 6.0, Vol 4, Part E, 7.8.12).
    init(_ command: inout CommandParameters) throws(Refusal) {
        self.init(
            minimumInterval: try command.readUInt16(),
            maximumInterval: try command.readUInt16(),
            latency: try command.readUInt16(),
            supervisionTimeout: try command.readUInt16()
        )
        guard isValid else { throw .invalid }
    }
}

/// A connection between two controllers.
final class Link {
    /// A packet of the host, cut into pieces that fit the air.
    struct OutgoingPacket {
        var fragments: [Fragment]
    }

    /// The data of one packet on the air.
    struct Fragment {
        var isFirst: Bool
        var payload: [UInt8]
    }

    /// A procedure that one end begins at the next connection event.
    enum Operation: Hashable {
        case readVersion
        case readFeatures
        case update(ConnectionParameters)
        case requestUpdate(ConnectionParameters)
        case rejectUpdate(HCIStatus)
        case terminate(HCIStatus)
        case encrypt(key: UInt128, random: UInt64, diversifier: UInt16)
        /// The peripheral's host has given the key, or has none.
        case startEncryption(key: UInt128?)
    }

    /// An encryption that has begun: what the central's host has given.
    struct Encryption {
        var key: UInt128
        /// True while the peripheral's host was asked and has not answered.
        var isAsked = false
    }

    struct End {
        let controller: VirtualController
        let handle: UInt16
        let address: DeviceAddress
        /// False once its host was told that the link is over, or its controller was reset.
        var isAlive = true
        var queue: [OutgoingPacket] = []
        var operations: [Operation] = []
    }

    struct Update {
        var parameters: ConnectionParameters
        var instant: Duration
    }

    /// The longest time of a procedure that needs an answer (Core 6.0, Vol 6, Part B, 5.2).
    static let procedureTimeout = Duration.seconds(40)
    /// The number of connection events that a change is announced ahead (Core 6.0, Vol 6, Part B, 5.1.1).
    static let instantDistance = 6
    /// The number of intervals within which a new connection must be established (Core 6.0, Vol 6, Part B, 4.5.2).
    static let establishmentEvents = 6

    private(set) var central: End
    private(set) var peripheral: End
    private(set) var parameters: ConnectionParameters
    /// The time of a connection event, from which the others are counted.
    private(set) var anchor: Duration
    private(set) var lastHeard: Duration
    private(set) var isEstablished = false
    /// True while the two do not hear each other.
    private(set) var isCut = false
    /// The next connection event at which something happens.
    private(set) var nextExchange: Duration?
    var update: Update?
    var isEncrypted = false
    var encryption: Encryption?
    /// The time by which the central's host must answer the peripheral's request.
    var requestDeadline: Duration?
    /// True while the central's host was asked and has not answered.
    var isHostAsked = false

    init(central: End, peripheral: End, parameters: ConnectionParameters, anchor: Duration) {
        self.central = central
        self.peripheral = peripheral
        self.parameters = parameters
        self.anchor = anchor
        lastHeard = anchor
        nextExchange = anchor
    }

    subscript(role: ConnectionRole) -> End {
        get { role == .central ? central : peripheral }
        set { if role == .central { central = newValue } else { peripheral = newValue } }
    }

    /// The role of a controller on this link; nil where it has no living end of it.
    func role(of controller: VirtualController) -> ConnectionRole? {
        if central.controller === controller, central.isAlive { return .central }
        if peripheral.controller === controller, peripheral.isAlive { return .peripheral }
        return nil
    }

    var interval: Duration { .microseconds(1250) * Int(parameters.maximumInterval) }
    var timeout: Duration { .milliseconds(10) * Int(parameters.supervisionTimeout) }
    var isWhole: Bool { !isCut && central.isAlive && peripheral.isAlive }

    var hasWork: Bool {
        !central.queue.isEmpty || !peripheral.queue.isEmpty
            || !central.operations.isEmpty || !peripheral.operations.isEmpty
    }
    var isChanging: Bool {
        update != nil || requestDeadline != nil
            || (central.operations + peripheral.operations).contains { operation in
                switch operation {
                case .update, .requestUpdate, .rejectUpdate: true
                case .readVersion, .readFeatures, .terminate, .encrypt, .startEncryption: false
                }
            }
    }

    /// The time at which the two ends, or the one that is left, give the link up.
    var lossDeadline: Duration { isEstablished ? lastHeard + timeout : anchor + interval * Self.establishmentEvents }

    /// The time at which the radio has to act on the link; nil while nothing waits.
    var deadline: Duration? {
        guard isWhole else { return lossDeadline }
        return [nextExchange, update?.instant, requestDeadline].compactMap { $0 }.min()
    }

    /// The number of the connection event at or after `time`, counted from the anchor, and its time.
    private func event(atOrAfter time: Duration) -> (number: Int128, time: Duration) {
        guard time > anchor else { return (0, anchor) }
        let step = interval.attoseconds
        let number = ((time - anchor).attoseconds + step - 1) / step
        return (number, Duration(attoseconds: anchor.attoseconds + number * step))
    }

    /// Sets the next connection event after `now` at which waiting operations and data are handled.
    ///
    /// A peripheral with latency and nothing to send listens only to the events that it must not skip.
    func wake(now: Duration) {
        guard isWhole else { return }
        var (number, time) = event(atOrAfter: now + .nanoseconds(1))
        if !isEstablished { (number, time) = event(atOrAfter: now) }
        if peripheral.queue.isEmpty, peripheral.operations.isEmpty, parameters.latency > 0 {
            let stride = Int128(parameters.latency) + 1
            let skipped = (stride - number % stride) % stride
            time += Duration(attoseconds: skipped * interval.attoseconds)
        }
        nextExchange = min(nextExchange ?? time, time)
    }

    func noteExchange(at time: Duration) {
        lastHeard = time
        isEstablished = true
        nextExchange = nil
    }

    /// Notes that the two do not hear each other from now on: the last time was the last connection event.
    func cut(now: Duration) {
        guard isWhole else { return }
        noteLastHeard(now)
        isCut = true
        nextExchange = nil
    }

    func mend(now: Duration) {
        isCut = false
        wake(now: now)
    }

    /// Ends one side: the other receives nothing any more.
    func kill(_ role: ConnectionRole, now: Duration) {
        if isWhole { noteLastHeard(now) }
        self[role].isAlive = false
        self[role].queue = []
        self[role].operations = []
        nextExchange = nil
    }

    /// Takes new parameters, from the connection event at `time` on.
    func apply(_ new: ConnectionParameters, at time: Duration) {
        parameters = new
        anchor = time
        lastHeard = time
        update = nil
        nextExchange = nil
        wake(now: time)
    }

    /// The time at which a change that is announced now begins to count.
    func instant(after time: Duration) -> Duration { time + interval * Self.instantDistance }

    private func noteLastHeard(_ now: Duration) {
        guard isEstablished, now >= anchor else { return }
        let (_, next) = event(atOrAfter: now)
        lastHeard = max(lastHeard, next > now ? next - interval : next)
    }
}
