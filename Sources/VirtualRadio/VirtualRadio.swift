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
    private(set) var links: [Link] = []

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
        func consider(_ time: Duration?, _ what: Happening) {
            if let time, next.map({ time < $0.time }) ?? true { next = (time, what) }
        }
        for controller in controllers { consider(controller.deadline, .controller(controller)) }
        for link in links { consider(link.deadline, .link(link)) }
        return next
    }

    private func perform(_ happening: Happening) {
        switch happening {
        case .controller(let controller): controller.expire(self)
        case .link(let link): link.perform(now: now)
        }
        removeDeadLinks()
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
        for link in links where link.connects(left, right) { link.cut(now: now) }
    }

    /// Brings two controllers back into range; a connection that has not timed out yet goes on.
    public func join(_ left: VirtualController, _ right: VirtualController) {
        guard separated.remove(Pair(left, right)) != nil else { return }
        for link in links where link.connects(left, right) { link.mend(now: now) }
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

    // MARK: Connections

    func add(_ link: Link) {
        links.append(link)
    }

    func removeDeadLinks() {
        links.removeAll { $0.isDead }
    }

    // MARK: Chance

    func random<Value: FixedWidthInteger>(in range: ClosedRange<Value>) -> Value {
        Value.random(in: range, using: &generator)
    }
}

extension Duration {
    /// The earlier of two times, of which nil stands for never.
    static func earliest(_ left: Duration?, _ right: Duration?) -> Duration? {
        guard let left, let right else { return left ?? right }
        return left < right ? left : right
    }
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
