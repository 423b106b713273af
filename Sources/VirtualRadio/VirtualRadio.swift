// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// Simulated radio channel between virtual controllers, with their ranges, signal strengths and timing.
///
/// The owner drives the simulation by calling `advance(to:)` at `deadline`, with a real or a simulated clock. All
/// events are determined by the seed, the calls and the times of the calls. The radio is not thread-safe.
///
/// To connect two hosts, add two controllers, and pass each host's packets to its controller's `receive(_:now:)`. Pass
/// each controller's packets to its host, either in `onPacket` or by calling `nextPacket()`. When polling, call
/// `nextPacket()` for all controllers after every `receive` and `advance`, because an action of one host may produce
/// packets for another.
public final class VirtualRadio {
    /// Current time of the simulation; all events up to this time have been processed.
    public private(set) var now: Duration
    /// Controllers in the order in which they were added.
    public private(set) var controllers: [VirtualController] = []
    /// Connections with at least one live end.
    private(set) var links: [Link] = []

    private var generator: RadioGenerator
    private var separated: Set<Pair> = []
    private var strengths: [Pair: Int8] = [:]
    private var isDispatching = false

    /// Unordered pair of controllers.
    private struct Pair: Hashable {
        let low: Int
        let high: Int

        init(_ left: VirtualController, _ right: VirtualController) {
            low = min(left.index, right.index)
            high = max(left.index, right.index)
        }
    }

    /// Default signal strength between two controllers, in dBm.
    private static let standardStrength: Int8 = -50
    /// Random variation of the signal strength between packets, in dB.
    private static let fading: ClosedRange<Int8> = -3...3

    /// Creates a radio without controllers; the simulation starts at `now`, and `seed` determines its random numbers.
    public init(seed: UInt64 = 1, now: Duration = .zero) {
        generator = RadioGenerator(seed: seed)
        self.now = now
    }

    /// Adds a controller in its power-on state, in range of all others.
    public func addController(_ configuration: VirtualController.Configuration) -> VirtualController {
        let controller = VirtualController(configuration, index: controllers.count, radio: self)
        controllers.append(controller)
        return controller
    }

    // MARK: Time

    /// Time of the next event, at which `advance(to:)` must be called; nil if no event occurs before a host sends a
    /// packet.
    public var deadline: Duration? { nextHappening?.time }

    /// Processes all events up to and including `time` in order; does nothing if `time` is in the past.
    ///
    /// The cost is proportional to the number of events: an advertiser with an interval of 20 ms causes fifty events
    /// per second.
    public func advance(to time: Duration) {
        while let next = nextHappening, next.time <= time {
            now = max(now, next.time)
            perform(next.what)
            dispatch()
        }
        now = max(now, time)
    }

    /// Future event of the radio.
    private enum Happening {
        case controller(VirtualController)
        case link(Link)
    }

    /// Next event.
    ///
    /// If several events have the same time, controllers precede links, and both are ordered by the time when they were
    /// added.
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

    /// Passes queued packets to the hosts' `onPacket` closures.
    ///
    /// If a host sends a packet from within its closure, that packet is processed immediately; the resulting packets
    /// are passed on by the outermost call.
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

    /// Moves two controllers out of range of each other: their packets are lost, and their connections time out.
    public func separate(_ left: VirtualController, _ right: VirtualController) {
        separated.insert(Pair(left, right))
        for link in links where link.connects(left, right) { link.cut(now: now) }
    }

    /// Moves two controllers back into range; connections that have not yet timed out resume.
    public func join(_ left: VirtualController, _ right: VirtualController) {
        guard separated.remove(Pair(left, right)) != nil else { return }
        for link in links where link.connects(left, right) { link.mend(now: now) }
    }

    /// Sets the signal strength between two controllers, in dBm, clamped to -127 … 20.
    public func setSignalStrength(_ dBm: Int8, _ left: VirtualController, _ right: VirtualController) {
        strengths[Pair(left, right)] = min(max(dBm, -127), 20)
    }

    /// Returns true if two controllers are in range of each other.
    func isInRange(_ left: VirtualController, _ right: VirtualController) -> Bool {
        left !== right && !separated.contains(Pair(left, right))
    }

    /// Returns a signal strength for a packet received between two controllers, in dBm: -127 … 20.
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

    // MARK: Random numbers

    func random<Value: FixedWidthInteger>(in range: ClosedRange<Value>) -> Value {
        Value.random(in: range, using: &generator)
    }
}

extension Duration {
    /// Returns the earlier of two times; nil means never.
    static func earliest(_ left: Duration?, _ right: Duration?) -> Duration? {
        guard let left, let right else { return left ?? right }
        return left < right ? left : right
    }
}

/// Deterministic random number generator of a radio (SplitMix64).
struct RadioGenerator: RandomNumberGenerator {
    private var state: UInt64

    /// Creates a generator whose numbers are determined by `seed`.
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
