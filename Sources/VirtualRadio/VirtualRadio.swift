// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// The air between virtual controllers: their range, signal strengths and timing.
///
/// Nothing happens by itself: the owner calls `advance(to:)` when `deadline` has come, with a real clock or one that it
/// sets as it likes. All events follow from the seed, the calls and their times alone. Not for use from two threads
/// at once.
///
/// To join two hosts, add two controllers, hand each host's packets to its controller's `receive(_:now:)`, and bring
/// each controller's packets to its host, either by `onPacket` or by `nextPacket()` after every `receive` and
/// `advance`: what one host does may give packets to another.
public final class VirtualRadio {
    /// The time up to which everything has happened.
    public private(set) var now: Duration
    /// The controllers in the order in which they were added.
    public private(set) var controllers: [VirtualController] = []
    /// The connections that at least one side has not given up.
    var links: [Link] = []

    private var generator: RadioGenerator
    private var separated: Set<Pair> = []
    private var strengths: [Pair: Int8] = [:]
    private var isDispatching = false

    /// Two controllers, whichever comes first.
    private struct Pair: Hashable {
        let low: Int
        let high: Int

        init(_ left: VirtualController, _ right: VirtualController) {
            low = min(left.index, right.index)
            high = max(left.index, right.index)
        }
    }

    /// The strength of reception between two controllers without a setting of their own, in dBm.
    private static let standardStrength: Int8 = -50
    /// The variation of the strength from packet to packet, in dB either way.
    private static let fading: ClosedRange<Int8> = -3...3

    /// An empty radio whose time begins at `now` and whose random numbers follow from `seed`.
    public init(seed: UInt64 = 1, now: Duration = .zero) {
        generator = RadioGenerator(seed: seed)
        self.now = now
    }

    /// A new controller in range of all others, as it is after power-on.
    public func addController(_ configuration: VirtualController.Configuration) -> VirtualController {
        let controller = VirtualController(configuration, index: controllers.count, radio: self)
        controllers.append(controller)
        return controller
    }

    // MARK: Time

    /// The time at which `advance(to:)` has something to do; nil if nothing will happen until a host sends a packet.
    public var deadline: Duration? { nextHappening?.time }

    /// Lets everything happen up to and at `time`, in order; a time that has passed already does nothing.
    ///
    /// It takes as long as there are things to do: an advertiser at 20 ms makes fifty a second.
    public func advance(to time: Duration) {
        while let next = nextHappening, next.time <= time {
            now = max(now, next.time)
            perform(next.what)
            dispatch()
        }
        now = max(now, time)
    }

    /// A future event of the radio.
    private enum Happening {
        case controller(VirtualController)
        case link(Link)
    }

    /// The next event; of several at one time the controllers' in their order, then the oldest link's.
    private var nextHappening: (time: Duration, what: Happening)? {
        var next: (time: Duration, what: Happening)?
        for controller in controllers {
            guard let time = controller.deadline else { continue }
            if let next, next.time <= time { continue }
            next = (time, .controller(controller))
        }
        for link in links {
            guard let time = link.deadline else { continue }
            if let next, next.time <= time { continue }
            next = (time, .link(link))
        }
        return next
    }

    private func perform(_ happening: Happening) {
        switch happening {
        case .controller(let controller): controller.expire()
        case .link(let link): perform(link)
        }
        links.removeAll { !$0.central.isAlive && !$0.peripheral.isAlive }
    }

    /// Gives waiting packets to the hosts that have a closure for them.
    ///
    /// A host may answer at once, in its closure: the answer is carried out immediately, and the packets that follow
    /// are given out by the call that is under way.
    func dispatch() {
        guard !isDispatching else { return }
        isDispatching = true
        defer { isDispatching = false }
        var isQuiet = false
        while !isQuiet {
            isQuiet = true
            for controller in controllers {
                guard let onPacket = controller.onPacket, let packet = controller.nextPacket() else { continue }
                isQuiet = false
                onPacket(packet)
            }
        }
    }

    // MARK: Range

    /// Takes two controllers out of each other's range: their packets are lost, and connections time out.
    public func separate(_ left: VirtualController, _ right: VirtualController) {
        separated.insert(Pair(left, right))
        for link in links where connects(link, left, right) { link.cut(now: now) }
    }

    /// Brings two controllers back into range; a connection that has not timed out yet goes on.
    public func join(_ left: VirtualController, _ right: VirtualController) {
        guard separated.remove(Pair(left, right)) != nil else { return }
        for link in links where connects(link, left, right) { link.mend(now: now) }
    }

    /// Sets the signal strength between two controllers, in dBm: -127 … 20.
    public func setSignalStrength(_ dBm: Int8, _ left: VirtualController, _ right: VirtualController) {
        strengths[Pair(left, right)] = min(max(dBm, -127), 20)
    }

    /// True when two controllers hear each other.
    func isInRange(_ left: VirtualController, _ right: VirtualController) -> Bool {
        left !== right && !separated.contains(Pair(left, right))
    }

    /// The strength of a received packet, in dBm: -127 … 20.
    func signalStrength(_ left: VirtualController, _ right: VirtualController) -> Int8 {
        let strength = Int(strengths[Pair(left, right)] ?? Self.standardStrength) + Int(random(in: Self.fading))
        return Int8(clamping: min(max(strength, -127), 20))
    }

    private func connects(_ link: Link, _ left: VirtualController, _ right: VirtualController) -> Bool {
        (link.central.controller === left && link.peripheral.controller === right)
            || (link.central.controller === right && link.peripheral.controller === left)
    }

    // MARK: Chance

    func random<Value: FixedWidthInteger>(in range: ClosedRange<Value>) -> Value {
        Value.random(in: range, using: &generator)
    }

    /// Carries out the due action of a link: its end, a change of its parameters, or a connection event.
    func perform(_ link: Link) {
        guard link.isWhole else {
            return end(link, link.isEstablished ? .connectionTimeout : .connectionFailedToBeEstablished)
        }
        if let deadline = link.requestDeadline, deadline <= now {
            return end(link, .linkLayerResponseTimeout)
        }
        if let update = link.update, update.instant <= now {
            link.apply(update.parameters, at: update.instant)
            for role in [ConnectionRole.central, .peripheral] {
                link[role].controller.emitUpdate(handle: link[role].handle, .success, link.parameters)
            }
            return
        }
        exchange(link)
    }

    /// Ends a link on both sides, or the one that is left, for the same reason.
    private func end(_ link: Link, _ reason: HCIStatus) {
        for role in [ConnectionRole.central, .peripheral] where link[role].isAlive {
            link.kill(role, now: now)
            link[role].controller.emitDisconnection(handle: link[role].handle, reason: reason)
        }
    }

    /// A connection event: each side sends its waiting data, the central first.
    private func exchange(_ link: Link) {
        link.noteExchange(at: now)
        var completed: [ConnectionRole: Int] = [:]
        for role in [ConnectionRole.central, .peripheral] {
            completed[role] = sendData(link, from: role)
        }
        for role in [ConnectionRole.central, .peripheral] {
            link[role].controller.emitCompleted(handle: link[role].handle, count: completed[role] ?? 0)
        }
        for role in [ConnectionRole.central, .peripheral] {
            let operations = link[role].operations
            link[role].operations = []
            for operation in operations where link.isWhole { perform(operation, link, role) }
        }
        if link.isWhole, link.hasWork { link.wake(now: now) }
    }

    /// Sends waiting data one way, as far as the event's length and the receiver's room go; returns how many of the
    /// host's packets are done.
    private func sendData(_ link: Link, from role: ConnectionRole) -> Int {
        let receiver = link[role.other]
        var room = max(1, Int(link[role].controller.configuration.packetsPerEvent))
        var completed = 0
        while let packet = link[role].queue.first {
            var fragments = packet.fragments[...]
            while room > 0, !receiver.controller.isCongested, let fragment = fragments.first {
                fragments = fragments.dropFirst()
                room -= 1
                receiver.controller.deliver(fragment, handle: receiver.handle)
            }
            guard fragments.isEmpty else {
                link[role].queue[0].fragments = Array(fragments)
                break
            }
            link[role].queue.removeFirst()
            completed += 1
        }
        return completed
    }

    /// Carries out a procedure that one side has begun.
    private func perform(_ operation: Link.Operation, _ link: Link, _ role: ConnectionRole) {
        let end = link[role]
        let other = link[role.other]
        switch operation {
        case .readVersion: end.controller.emitRemoteVersion(handle: end.handle, of: other.controller)
        case .readFeatures: end.controller.emitRemoteFeatures(handle: end.handle, of: other.controller)
        case .update(var parameters):
            // The controller chooses within the host's range: the longest interval.
            parameters.minimumInterval = parameters.maximumInterval
            link.update = Link.Update(parameters: parameters, instant: link.instant(after: now))
        case .requestUpdate(let parameters):
            guard link.update == nil else {
                return end.controller.emitUpdate(handle: end.handle, .linkLayerCollision, link.parameters)
            }
            if other.controller.emitParameterRequest(handle: other.handle, parameters) {
                link.isHostAsked = true
                link.requestDeadline = now + Link.procedureTimeout
            } else {
                end.controller.emitUpdate(handle: end.handle, .unsupportedRemoteFeature, link.parameters)
            }
        case .rejectUpdate(let reason):
            other.controller.emitUpdate(handle: other.handle, reason, link.parameters)
        case .encrypt(let key, let random, let diversifier):
            beginEncryption(link, key, random: random, diversifier: diversifier)
        case .startEncryption(let key): startEncryption(link, key)
        case .terminate(let reason):
            link.kill(role, now: now)
            link.kill(role.other, now: now)
            end.controller.emitDisconnection(handle: end.handle, reason: .connectionTerminatedByLocalHost)
            other.controller.emitDisconnection(handle: other.handle, reason: reason)
        }
    }

    /// The peripheral's host is asked for the key (LL_ENC_REQ).
    private func beginEncryption(_ link: Link, _ key: UInt128, random: UInt64, diversifier: UInt16) {
        link.encryption = Link.Encryption(key: key)
        let end = link.peripheral
        if end.controller.emitKeyRequest(handle: end.handle, random: random, diversifier: diversifier) {
            link.encryption?.isAsked = true
        } else {
            startEncryption(link, nil)
        }
    }

    /// With the same key at both ends the link is encrypted; with two, the first packet's integrity check fails.
    private func startEncryption(_ link: Link, _ key: UInt128?) {
        guard let wanted = link.encryption?.key else { return }
        link.encryption = nil
        guard let key else {
            let status = HCIStatus.keyMissing
            return link.central.controller.emitEncryption(handle: link.central.handle, status, isRefresh: false)
        }
        guard key == wanted else { return end(link, .integrityFailure) }
        let isRefresh = link.isEncrypted
        link.isEncrypted = true
        for role in [ConnectionRole.central, .peripheral] {
            link[role].controller.emitEncryption(handle: link[role].handle, .success, isRefresh: isRefresh)
        }
    }
}

extension HCIStatus {
    /// Both sides began a procedure of the link layer that exclude each other (0x23).
    static let linkLayerCollision = HCIStatus(rawValue: 0x23)
    /// The other side has no key (0x06).
    static let keyMissing = HCIStatus(rawValue: 0x06)
    /// A packet's integrity check was wrong (0x3D).
    static let integrityFailure = HCIStatus(rawValue: 0x3D)
}

/// The random numbers of a radio: the same for the same seed (SplitMix64).
struct RadioGenerator: RandomNumberGenerator {
    private var state: UInt64

    /// A generator whose numbers follow from `seed`.
    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value &>> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value &>> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value &>> 31
    }
}
