// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

extension ConnectionRole {
    var other: ConnectionRole { self == .central ? .peripheral : .central }
}

extension ConnectionParameters {
    /// Reads the connection parameters from a command (Core 6.0, Vol 4, Part E, 7.8.12).
    ///
    /// They are Interval_Min, Interval_Max, Max_Latency, Supervision_Timeout, and the connection event lengths; this
    /// controller ignores the lengths.
    init(_ command: inout CommandReader) throws(Refusal) {
        self.init(
            minimumInterval: try command.readUInt16(),
            maximumInterval: try command.readUInt16(),
            latency: try command.readUInt16(),
            supervisionTimeout: try command.readUInt16()
        )
        guard isValid else { throw .invalid }
        let minimum = try command.readUInt16()
        guard minimum <= (try command.readUInt16()) else { throw .invalid }
    }
}

/// Connection between two controllers.
final class Link {
    /// Data of one packet sent over the air.
    struct Fragment {
        /// Maximum data length without Data Length Extension (Core 6.0, Vol 6, Part B, 4.5.10).
        private static let minimumLength = 27

        let isFirst: Bool
        let payload: [UInt8]

        /// Splits a payload into fragments of at most `limit` bytes, or 27 bytes if `limit` is less.
        static func cut(_ payload: [UInt8], isFirst: Bool, _ limit: Int) -> [Fragment] {
            let limit = max(limit, minimumLength)
            return stride(from: 0, to: payload.count, by: limit).map { start in
                let part = payload[start..<min(start + limit, payload.count)]
                return Fragment(isFirst: isFirst && start == 0, payload: [UInt8](part))
            }
        }
    }

    /// Procedure that one end of the connection starts at the next connection event.
    enum Operation: Equatable {
        case readVersion
        case readFeatures
        case update(ConnectionParameters)
        case requestUpdate(ConnectionParameters)
        case rejectUpdate(HCIStatus)
        case terminate(HCIStatus)
        case encrypt(key: UInt128, random: UInt64, diversifier: UInt16)
        /// The peripheral's host has answered the key request; the key is nil if the host has none.
        case startEncryption(key: UInt128?)
    }

    struct End {
        let controller: VirtualController
        let handle: UInt16
        let address: DeviceAddress
        /// False once the disconnection was reported to the host, or the controller was reset.
        var isAlive = true
        /// Packets queued by the host, each split into fragments for transmission.
        var queue: [[Fragment]] = []
        var operations: [Operation] = []

        /// Sends the host an event that contains this end's handle; returns false if the host has masked it.
        @discardableResult
        func emit(_ now: Duration, _ event: (UInt16) -> ControllerEvent) -> Bool {
            controller.emit(event(handle), now: now)
        }
    }

    /// Time-out of a procedure that requires an answer (Core 6.0, Vol 6, Part B, 5.2).
    private static let procedureTimeout = Duration.seconds(40)
    /// Number of connection events from the announcement of a parameter change until it takes effect (Core 6.0, Vol 6,
    /// Part B, 5.1.1).
    private static let instantDistance = 6
    /// Number of connection intervals within which a new connection must be established (Core 6.0, Vol 6, Part B,
    /// 4.5.2).
    private static let establishmentEvents = 6

    private(set) var central: End
    private(set) var peripheral: End
    private var parameters: ConnectionParameters
    /// Time of the connection event from which later connection events are counted.
    private var anchor: Duration
    private var lastHeard: Duration
    private var isEstablished = false
    /// True while the two controllers are out of range of each other.
    private var isCut = false
    /// Time of the next connection event with pending work; nil if none is scheduled.
    private var nextExchange: Duration?
    private var update: (parameters: ConnectionParameters, instant: Duration)?
    private var isEncrypted = false
    /// Encryption procedure in progress, with the central's key.
    ///
    /// `isAsked` is true until the peripheral's host answers the key request.
    private var encryption: (key: UInt128, isAsked: Bool)?
    /// Deadline for the central's host to answer the peripheral's parameter request.
    private var requestDeadline: Duration?
    /// True while a parameter request waits for an answer from the central's host.
    private var isHostAsked = false

    init(central: End, peripheral: End, parameters: ConnectionParameters, anchor: Duration) {
        self.central = central
        self.peripheral = peripheral
        self.parameters = parameters
        self.anchor = anchor
        lastHeard = anchor
        nextExchange = anchor
    }

    private(set) subscript(role: ConnectionRole) -> End {
        get { role == .central ? central : peripheral }
        set { if role == .central { central = newValue } else { peripheral = newValue } }
    }

    /// Returns the role of the controller on this link, or nil if the controller has no live end of it.
    func role(of controller: VirtualController) -> ConnectionRole? {
        if central.controller === controller, central.isAlive { return .central }
        if peripheral.controller === controller, peripheral.isAlive { return .peripheral }
        return nil
    }

    var isEncrypting: Bool { encryption != nil }
    /// True if neither end is alive.
    var isDead: Bool { !central.isAlive && !peripheral.isAlive }

    /// Returns true if the link connects these two controllers, in either role.
    func connects(_ left: VirtualController, _ right: VirtualController) -> Bool {
        (central.controller === left && peripheral.controller === right)
            || (central.controller === right && peripheral.controller === left)
    }

    private var interval: Duration { .microseconds(1250) * Int(parameters.maximumInterval) }
    private var timeout: Duration { .milliseconds(10) * Int(parameters.supervisionTimeout) }
    private var isWhole: Bool { !isCut && central.isAlive && peripheral.isAlive }

    private var hasWork: Bool {
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

    /// Time at which a lost connection times out for the ends that are still alive.
    private var lossDeadline: Duration {
        isEstablished ? lastHeard + timeout : anchor + interval * Self.establishmentEvents
    }

    /// Time at which `perform` must be called; nil if nothing is scheduled.
    var deadline: Duration? {
        guard isWhole else { return lossDeadline }
        return .earliest(nextExchange, .earliest(update?.instant, requestDeadline))
    }

    /// Returns the number and the time of the first connection event at or after `time`; events are counted from the
    /// anchor.
    private func event(atOrAfter time: Duration) -> (number: Int128, time: Duration) {
        guard time > anchor else { return (0, anchor) }
        let step = interval.attoseconds
        let number = ((time - anchor).attoseconds + step - 1) / step
        return (number, Duration(attoseconds: anchor.attoseconds + number * step))
    }

    /// Schedules the next connection event after `now`, in which pending operations and data are processed.
    ///
    /// A peripheral that uses latency and has nothing to send listens only at the events that it must not skip.
    private func wake(now: Duration) {
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

    /// Marks the two controllers as out of range; the last contact was the most recent connection event.
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

    /// Removes one end; the other end receives nothing more from it.
    func kill(_ role: ConnectionRole, now: Duration) {
        if isWhole { noteLastHeard(now) }
        self[role].isAlive = false
        self[role].queue = []
        self[role].operations = []
        nextExchange = nil
    }

    /// Applies new connection parameters, starting with the connection event at `time`.
    private func apply(_ new: ConnectionParameters, at time: Duration) {
        parameters = new
        anchor = time
        lastHeard = time
        update = nil
        nextExchange = nil
        wake(now: time)
    }

    private func noteLastHeard(_ now: Duration) {
        guard isEstablished, now >= anchor else { return }
        let (_, next) = event(atOrAfter: now)
        lastHeard = max(lastHeard, next > now ? next - interval : next)
    }

    /// Queues an ACL packet, split into fragments, for transmission from one end.
    func send(_ fragments: [Fragment], from role: ConnectionRole, now: Duration) {
        self[role].queue.append(fragments)
        wake(now: now)
    }

    /// Schedules an operation for the next connection event; throws if the same operation or a disconnection is already
    /// scheduled.
    func begin(_ operation: Operation, _ role: ConnectionRole, now: Duration) throws(Refusal) {
        let isEnding = self[role].operations.contains { if case .terminate = $0 { true } else { false } }
        guard !isEnding, !self[role].operations.contains(operation) else { throw .disallowed }
        self[role].operations.append(operation)
        wake(now: now)
    }

    /// Handles the answer of the central's host to the peripheral's request for new parameters.
    func answerRequest(_ operation: Operation, _ role: ConnectionRole, now: Duration) throws(Refusal) {
        guard role == .central, isHostAsked else { throw .disallowed }
        try begin(operation, role, now: now)
        isHostAsked = false
        requestDeadline = nil
    }

    /// Handles the answer of the peripheral's host to a key request; the key is nil if the host has none.
    func answerKeyRequest(_ key: UInt128?, _ role: ConnectionRole, now: Duration) throws(Refusal) {
        guard role == .peripheral, encryption?.isAsked == true else { throw .disallowed }
        encryption?.isAsked = false
        try begin(.startEncryption(key: key), role, now: now)
    }

    func completion(for role: ConnectionRole) -> ConnectionCompletion {
        let peer = self[role.other].address
        return ConnectionCompletion(handle: self[role].handle, role: role, peer: peer, parameters: parameters)
    }

    // MARK: Events

    /// Performs the due action: a time-out, a parameter update, or a connection event.
    func perform(now: Duration) {
        guard isWhole else {
            return end(isEstablished ? .connectionTimeout : .connectionFailedToBeEstablished, now: now)
        }
        if let requestDeadline, requestDeadline <= now { return end(.linkLayerResponseTimeout, now: now) }
        if let update, update.instant <= now {
            apply(update.parameters, at: update.instant)
            for end in [central, peripheral] { end.emit(now) { .updateComplete($0, .success, parameters) } }
            return
        }
        exchange(now: now)
    }

    /// Disconnects all ends that are still alive, with the same reason.
    private func end(_ reason: HCIStatus, now: Duration) {
        for role in [ConnectionRole.central, .peripheral] where self[role].isAlive {
            kill(role, now: now)
            self[role].emit(now) { .disconnectionComplete($0, reason) }
        }
    }

    /// Runs a connection event, in which each end sends its queued data, the central first.
    private func exchange(now: Duration) {
        lastHeard = now
        isEstablished = true
        nextExchange = nil
        let completed = [(central, sendData(from: .central)), (peripheral, sendData(from: .peripheral))]
        for (end, count) in completed where count > 0 { end.emit(now) { .completedPackets($0, count) } }
        for role in [ConnectionRole.central, .peripheral] {
            let operations = self[role].operations
            self[role].operations = []
            for operation in operations where isWhole { perform(operation, role, now: now) }
        }
        if isWhole, hasWork { wake(now: now) }
    }

    /// Sends queued data in one direction; returns the number of host packets sent completely.
    ///
    /// The amount is limited by the number of packets per event and by the receiver's capacity.
    private func sendData(from role: ConnectionRole) -> Int {
        let receiver = self[role.other]
        var room = max(1, Int(self[role].controller.configuration.packetsPerEvent))
        var completed = 0
        while let packet = self[role].queue.first {
            var fragments = packet[...]
            while room > 0, !receiver.controller.isCongested, let fragment = fragments.first {
                fragments = fragments.dropFirst()
                room -= 1
                receiver.controller.deliver(fragment, handle: receiver.handle)
            }
            guard fragments.isEmpty else {
                self[role].queue[0] = Array(fragments)
                break
            }
            self[role].queue.removeFirst()
            completed += 1
        }
        return completed
    }

    /// Performs an operation that one end has scheduled.
    private func perform(_ operation: Operation, _ role: ConnectionRole, now: Duration) {
        let end = self[role]
        let other = self[role.other]
        switch operation {
        case .readVersion: end.emit(now) { .remoteVersion($0, other.controller.configuration.generation) }
        case .readFeatures: end.emit(now) { .remoteFeatures($0, other.controller.configuration.generation) }
        case .update(var wanted):
            // The controller chooses the longest interval within the host's range.
            wanted.minimumInterval = wanted.maximumInterval
            update = (wanted, instant: now + interval * Self.instantDistance)
        case .requestUpdate(let wanted):
            if update != nil {
                end.emit(now) { .updateComplete($0, .linkLayerCollision, parameters) }
            } else if other.emit(now, { .parameterRequest($0, wanted) }) {
                isHostAsked = true
                requestDeadline = now + Self.procedureTimeout
            } else {
                end.emit(now) { .updateComplete($0, .unsupportedRemoteFeature, parameters) }
            }
        case .rejectUpdate(let reason): other.emit(now) { .updateComplete($0, reason, parameters) }
        case .encrypt(let key, let random, let diversifier):
            // Request the key from the peripheral's host (LL_ENC_REQ).
            let isAsked = peripheral.emit(now) { .keyRequest($0, random: random, diversifier: diversifier) }
            encryption = (key, isAsked)
            if !isAsked { startEncryption(nil, now: now) }
        case .startEncryption(let key): startEncryption(key, now: now)
        case .terminate(let reason):
            kill(role, now: now)
            kill(role.other, now: now)
            end.emit(now) { .disconnectionComplete($0, .connectionTerminatedByLocalHost) }
            other.emit(now) { .disconnectionComplete($0, reason) }
        }
    }

    /// Encrypts the link if both ends have the same key; if the keys differ, the first packet fails the integrity
    /// check.
    private func startEncryption(_ key: UInt128?, now: Duration) {
        guard let wanted = encryption?.key else { return }
        encryption = nil
        guard let key else {
            central.emit(now) { .encryption($0, .keyMissing, isRefresh: false) }
            return
        }
        guard key == wanted else { return end(.integrityFailure, now: now) }
        for end in [central, peripheral] { end.emit(now) { .encryption($0, .success, isRefresh: isEncrypted) } }
        isEncrypted = true
    }
}
