// SPDX-License-Identifier: GPL-2.0-or-later

package import Keystrokes
package import LinuxIO
package import SystemPackage
package import Texts

/// The typing half of the wedge: a virtual keyboard with a thread of its own, and the way of the bytes to it.
///
/// To be used on the loop's thread.
package final class VirtualKeyboard {
    /// The ring's bytes: a burst of 2,000 scans of 13 characters waits in it while the typist paces.
    private static let ringCapacity = 1 << 16
    /// The bytes of the keypad's ring: the longest snippet with its cursor's way.
    private static let keypadCapacity = 1 << 14

    /// The event node where readers find it; nil where the kernel made none.
    package let node: String?

    private let loop: EventLoop
    private let onFailure: (Errno) -> Void
    private let ledger = Ledger()
    private let gate = Gate()
    private var feed: Feed
    private let typing: TypingThread
    private let finished: Waker
    private var registration: EventLoop.Registration?
    private let verifier: Verifier?
    private let lights: LightWatch?
    private var onEnd: (() -> Void)?
    private let keypadLedger = Ledger()
    private var keypadFeed: Feed?
    /// What takes the link's bytes out of their frames; nil where they come bare.
    private var deframer: Deframer?
    private var framing: Framing?
    /// What was typed into the field that has the focus; nil where nobody may ask for its deletion.
    private let field: TypedField?
    /// Where bytes go as they are, instead of being typed; answers how many it took.
    ///
    /// Its storage is private, so that reading it for each notification checks no exclusive access.
    package var rawEnd: ((Span<UInt8>) -> Int)? {
        get { untypedEnd }
        set { untypedEnd = newValue }
    }
    private var untypedEnd: ((Span<UInt8>) -> Int)?

    /// Makes the keyboard, and starts its thread; `onFailure` is called once if it can no longer be written to.
    ///
    /// With a `screen` there is no keyboard of the kernel: what is typed is shown there.
    package init(
        _ settings: TypingSettings,
        on loop: EventLoop,
        screen: TextKeyboard?,
        onFailure: @escaping (Errno) -> Void
    ) throws(CommandFailure) {
        self.loop = loop
        self.onFailure = onFailure
        let output = try KeyboardOutput(settings, screen: screen)
        node = output.eventNode
        let field = settings.keypad.map { TypedField($0.effects) }
        self.field = field
        do {
            let ring = try ByteRing(capacity: Self.ringCapacity)
            guard let producer = ring.takeProducer(), let consumer = ring.takeConsumer() else {
                throw CommandFailure(.internal, KeyboardFaultText.ringTaken)
            }
            feed = Feed(producer, ledger: ledger)
            if settings.capsLock == .auto, let found = try output.lights() {
                lights = try LightWatch(found, on: loop)
            } else {
                lights = nil
            }
            let typist = Typist(
                consumer,
                table: settings.table,
                pacer: settings.pacer,
                scans: settings.scans,
                maximumAge: settings.maximumAge?.nanoseconds,
                gate: gate,
                light: lights?.capsLock,
                ledger: ledger
            )
            var keypadTypist: Typist?
            if let keypad = settings.keypad {
                let ring = try ByteRing(capacity: Self.keypadCapacity)
                guard let producer = ring.takeProducer(), let consumer = ring.takeConsumer() else {
                    throw CommandFailure(.internal, KeyboardFaultText.ringTaken)
                }
                keypadFeed = Feed(producer, ledger: keypadLedger)
                keypadTypist = Typist(
                    consumer,
                    table: keypad.table,
                    pacer: settings.pacer,
                    maximumAge: nil,
                    gate: Gate(),
                    light: lights?.capsLock,
                    ledger: keypadLedger
                )
            }
            finished = try Waker()
            let meant = settings.verifies ? try MeantEvents() : nil
            verifier = try Self.makeVerifier(meant, node, loop)
            typing = try TypingThread(
                typist,
                device: FieldKeyboard(output: output, field: field),
                meant: meant?.takeWriter(),
                keypad: keypadTypist,
                separation: settings.pacer.pace.stall,
                finished: finished
            )
            registration = try loop.watch(finished.descriptor, for: .readable) { [unowned self] _ in typingEnded() }
        } catch let failure as CommandFailure {
            throw failure
        } catch {
            throw CommandFailure(.internal, KeyboardFaultText.noDataPath, "\(error)")
        }
    }

    /// The link's bytes come wrapped so, or bare; to be said before the first, and as often as one likes.
    package func useFraming(_ framing: Framing?) {
        guard framing != self.framing else { return }
        endFrame()
        self.framing = framing
        deframer = framing.map { Deframer($0) }
    }

    private func endFrame() {
        if let rest = deframer?.end() { feed.skip(wrapping: 0, bad: rest) }
    }

    /// Takes what a notification brought on the link `epoch`: one copy into the ring, and out of it at once where nothing
    /// waits before it.
    package func receive(_ value: Span<UInt8>, epoch: UInt32) {
        if case .none = framing, case .none = untypedEnd {
            push(value, epoch: epoch)
            return
        }
        guard let result = deframer?.receive(value, now: MonotonicClock.now) else {
            pass(value, epoch: epoch)
            return
        }
        feed.skip(wrapping: result.wrapping, bad: result.bad)
        pass(result.payload.span, epoch: epoch)
    }

    private func pass(_ value: Span<UInt8>, epoch: UInt32) {
        guard let untypedEnd else {
            push(value, epoch: epoch)
            return
        }
        guard gate.isOpen else {
            feed.passed(0, refused: 0, gated: value.count)
            return
        }
        let count = untypedEnd(value)
        feed.passed(count, refused: value.count - count, gated: 0)
    }

    private func push(_ value: Span<UInt8>, epoch: UInt32) {
        let now = MonotonicClock.nanoseconds
        if unsafe feed.receive(value.bytes, epoch: epoch, now: now) == .acceptedMustWake {
            typing.typeIfAsleep(now: now)
        }
    }

    /// Types bytes of the keypad's table; false where there is no room for them, or no keypad.
    package func press(_ bytes: [UInt8]) -> Bool {
        let now = MonotonicClock.nanoseconds
        switch unsafe keypadFeed?.receive(bytes.span.bytes, epoch: 1, now: now) {
        case .accepted: return true
        case .acceptedMustWake:
            typing.wake()
            return true
        case .lost, nil: return false
        }
    }

    /// Tells the typist that nothing more comes from links through `epoch`: a scan that waits for its end is cut.
    package func endLink(through epoch: UInt32) {
        endFrame()
        gate.endLink(through: epoch)
        typing.wake()
    }

    /// Drops what waits of links through `epoch`.
    package func drop(through epoch: UInt32, _ cause: Gate.Drop) {
        gate.drop(through: epoch, cause)
        typing.wake()
    }

    /// Whether what comes is typed; while it is not, what waits and what comes is refused, for good (D-1).
    package var isGateOpen: Bool {
        get { gate.isOpen }
        set { if newValue { gate.open(now: MonotonicClock.nanoseconds) } else { gate.close() } }
    }

    /// Whether the typing thread has done something since the last `ping`.
    package var hasAnswered: Bool { typing.hasAnswered }

    /// Asks the typing thread for a sign of life.
    package func ping() { typing.ping() }

    /// Lets the thread finish what may still be typed, and calls `completion` when it has ended.
    package func stop(completion: @escaping () -> Void) {
        if typing.error != nil || registration == nil {
            completion()
        } else {
            onEnd = completion
            typing.stop()
        }
    }

    /// The bytes' account.
    package var bytes: Ledger.Snapshot { ledger.snapshot() }

    /// The keys of clients that wait to be pressed.
    package var waitingKeys: UInt64 { keypadLedger.snapshot().waiting }

    /// How many characters were typed into the field that has the focus.
    package var typedCharacters: Int { field?.characters ?? 0 }

    /// What the self-check found; nil without one.
    package var check: SelfCheck.Counts? { verifier?.counts }

    private static func makeVerifier(
        _ meant: MeantEvents?,
        _ node: String?,
        _ loop: EventLoop
    ) throws(CommandFailure) -> Verifier? {
        guard let reader = meant?.takeReader() else { return nil }
        guard let node else {
            throw CommandFailure(.unavailable, KeyboardFaultText.noEventNode)
        }
        do {
            return try Verifier(node, meant: reader, on: loop)
        } catch {
            throw CommandFailure(
                error == .permissionDenied ? .permission : .inputOutput,
                KeyboardFaultText.eventsUnreadable,
                node,
                "\(error)",
                remedy: error == .permissionDenied ? RemedyText.installRule.message() : nil
            )
        }
    }

    private func typingEnded() {
        finished.reset()
        if let registration { loop.unwatch(registration, finished.descriptor) }
        registration = nil
        lights?.end()
        if let onEnd {
            onEnd()
        } else if let error = typing.error {
            onFailure(error)
        }
    }
}

extension Duration {
    /// The whole nanoseconds, at most what fits.
    fileprivate var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? .max : product + attoseconds / 1_000_000_000
    }
}
