// SPDX-License-Identifier: GPL-2.0-or-later

package import Keystrokes
package import LinuxIO
package import SystemPackage
import Texts

/// The virtual keyboard with its typing thread, and the path of the received bytes to it.
package final class VirtualKeyboard {
    package static let name = "blewedge keyboard"
    /// The size of the ring in bytes: room for a burst of 2,000 barcodes of 13 characters while the typist paces.
    private static let ringCapacity = 1 << 16
    /// How long a keyboard stands after which the next one is made at once.
    private static let provenTime = Duration.seconds(10)

    package enum Change {
        /// It takes no more keys for this reason: another is made.
        case gone(KeyboardError)
        case remade
    }

    /// The size of the keypad's ring in bytes: room for the longest snippet with the moves of its cursor.
    private static let keypadCapacity = 1 << 14

    /// The path of the keyboard's event node; nil if the kernel made none, or the keyboard is gone.
    package private(set) var node: String?
    /// The number of keyboards that were made after the first, each because the one before it was gone.
    package private(set) var remakes: UInt64 = 0
    private var isGone = false
    /// True where the end waits for its readers: a ring that is full says nothing of the device then.
    package var isPatient = false
    /// Called when the keyboard is gone, and when there is another (`node` is its own then).
    package var onChange: ((Change) -> Void)?

    private let loop: EventLoop
    private let makeOutput: () throws(KeyboardError) -> KeyboardOutput
    private let onFailure: (Errno) -> Void
    private let remakeTimer = LoopTimer()
    private var backoff = Backoff(.milliseconds(100)...Duration.seconds(30))
    private var remadeAt = Duration.seconds(-3600)
    private let ledger: Ledger
    private let lines: LineBuffer?
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
    /// The length of the text in the field with the focus; nil if no client may delete it.
    private let field: TypedField?
    /// The function that gets the bytes instead of the typist, for raw output.
    ///
    /// It returns false where it took none of them; it tells later what became of those that it took (`settle`). Its
    /// storage is private, so that reading it for each notification checks
    /// no exclusive access.
    package var rawEnd: ((Span<UInt8>) -> Bool)? {
        get { untypedEnd }
        set { untypedEnd = newValue }
    }
    private var untypedEnd: ((Span<UInt8>) -> Bool)?

    /// Makes the keyboard, and starts its thread.
    ///
    /// `onFailure` is called once, if the keyboard can no longer be written to, and another would be no better.
    ///
    /// With a `screen` there is no keyboard of the kernel; the typed text is shown on the screen. Where that has lines for
    /// another end, nothing counts as typed before `settle` says so. `makeDevice` makes another keyboard than the kernel's,
    /// each time that one is needed.
    package init(
        _ settings: TypingSettings,
        on loop: EventLoop,
        screen: TextKeyboard?,
        makeDevice: (() throws(KeyboardError) -> any KeyboardDevice)? = nil,
        onFailure: @escaping (Errno) -> Void
    ) throws(KeyboardError) {
        self.loop = loop
        self.onFailure = onFailure
        lines = screen?.lines
        ledger = Ledger(handsOver: screen?.lines != nil)
        let field = settings.keypad.map { TypedField($0.effects) }
        self.field = field
        makeOutput = { () throws(KeyboardError) in
            if let makeDevice { return KeyboardOutput(try makeDevice(), field: field) }
            return try KeyboardOutput(settings, screen: screen, field: field)
        }
        let output = try makeOutput()
        node = output.eventNode
        do {
            let ring = try ByteRing(capacity: Self.ringCapacity)
            guard let producer = ring.takeProducer(), let consumer = ring.takeConsumer() else {
                throw KeyboardError.ringTaken
            }
            feed = Feed(
                producer,
                ledger: ledger,
                open: settings.barcodes == nil ? OpenDeviceRules(settings.table) : nil
            )
            if settings.capsLock == .auto, let found = try output.lights() {
                lights = try LightWatch(found, on: loop)
            } else {
                lights = nil
            }
            let typist = Typist(
                consumer,
                table: settings.table,
                pacer: settings.pacer,
                barcodes: settings.barcodes,
                maximumAge: settings.maximumAge?.inNanoseconds,
                gate: gate,
                light: lights?.capsLock,
                keepsLines: lines != nil,
                ledger: ledger
            )
            var keypadTypist: Typist?
            if let keypad = settings.keypad {
                let ring = try ByteRing(capacity: Self.keypadCapacity)
                guard let producer = ring.takeProducer(), let consumer = ring.takeConsumer() else {
                    throw KeyboardError.ringTaken
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
            let meant = settings.verifies ? try ExpectedEvents() : nil
            verifier = try Self.makeVerifier(meant, node, loop)
            typing = try TypingThread(
                typist,
                device: output,
                meant: meant?.takeWriter(),
                keypad: keypadTypist,
                separation: settings.pacer.pace.stall,
                screen: screen,
                finished: finished
            )
            registration = try loop.watch(finished.descriptor, for: .readable) { [unowned self] _ in typingEnded() }
        } catch let failure as KeyboardError {
            throw failure
        } catch {
            throw .noDataPath(reason: "\(error)")
        }
    }

    /// Joins a line feed to the carriage return before it where it comes within this time, or within 100 ms (D-35).
    package func joinLineFeeds(within time: Duration) { gate.joinLineFeeds(within: time.inNanoseconds) }

    /// Takes the bytes of a notification on the link with the number `epoch`; false where they came faster than they can be
    /// typed, and are lost.
    ///
    /// They are copied once, into the ring, and typed at once if no others wait. Of a device that anybody may be, because
    /// its link has no security, Enter is pressed as D-2 says, and neither Escape nor Ctrl.
    @discardableResult
    package func receive(_ value: Span<UInt8>, epoch: UInt32, isFromOpenDevice: Bool) -> Bool {
        if let untypedEnd {
            pass(value, to: untypedEnd)
            return true
        }
        let now = MonotonicClock.nanoseconds
        // Lines for another end than a keyboard press nothing.
        let isRestricted = isFromOpenDevice && lines == nil
        switch unsafe feed.receive(value.bytes, epoch: epoch, now: now, isFromOpenDevice: isRestricted) {
        case .accepted: return true
        case .acceptedMustWake:
            typing.typeIfAsleep(now: now)
            return true
        case .lost: return isGone
        }
    }

    /// Counts bytes of frames that are no text: what wraps it, and broken frames.
    package func skip(wrapping: Int, bad: Int) { feed.skip(wrapping: wrapping, bad: bad) }

    /// Notes that values of this link were lost before the next one: what has begun is not continued by that.
    package func noteMissing(epoch: UInt32) {
        feed.noteMissing(epoch: epoch)
    }

    private func pass(_ value: Span<UInt8>, to end: (Span<UInt8>) -> Bool) {
        guard gate.isOpen else {
            feed.gate(value.count)
            return
        }
        feed.pass(value.count)
        if !end(value) { feed.refuse(value.count) }
    }

    /// Counts what became of bytes that were handed to another end.
    package func settle(delivered: Int, undelivered: Int) {
        feed.settle(delivered: delivered, undelivered: undelivered)
    }

    /// Lets the typist go on that has waited for its lines to be taken.
    package func goOn() { typing.wake() }

    /// Types bytes of the keypad's table.
    ///
    /// Returns false if there is no room for them, or no keypad.
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

    /// Notes that no more bytes come from the links up to number `epoch`; a barcode without its end is cut.
    package func endLink(through epoch: UInt32) {
        gate.endLink(through: epoch)
        typing.wake()
    }

    /// Drops the bytes that wait from the links up to number `epoch`, and counts them under `cause`.
    package func drop(through epoch: UInt32, _ cause: Gate.Drop) {
        gate.drop(through: epoch, cause)
        typing.wake()
    }

    /// True while received bytes are typed.
    ///
    /// While it is false, the bytes that wait or come are discarded for good (D-1).
    package var isGateOpen: Bool {
        get { gate.isOpen }
        set {
            guard newValue != gate.isOpen else { return }
            if newValue { gate.open(now: MonotonicClock.nanoseconds) } else { gate.close() }
        }
    }

    /// True if the typing thread has had a turn since the last `ping`.
    package var hasAnswered: Bool { typing.hasAnswered }

    package func ping() { typing.ping() }

    /// Makes the thread type the bytes that may still be typed, and calls `completion` when it has ended.
    package func stop(completion: @escaping () -> Void) {
        remakeTimer.cancel()
        if registration == nil {
            completion()
        } else {
            onEnd = completion
            lines?.finish()
            typing.stop()
        }
    }

    package var bytes: Ledger.Snapshot { ledger.snapshot() }

    package var waitingKeys: UInt64 { keypadLedger.snapshot().waiting }

    package var typedCharacters: Int { field?.characters ?? 0 }

    package var check: SelfCheck.Counts? { verifier?.counts }

    private static func makeVerifier(
        _ meant: ExpectedEvents?,
        _ node: String?,
        _ loop: EventLoop
    ) throws(KeyboardError) -> Verifier? {
        guard let reader = meant?.takeReader() else { return nil }
        guard let node else { throw .noEventNode }
        do {
            return try Verifier(node, meant: reader, on: loop)
        } catch {
            throw .eventsUnreadable(node: node, error)
        }
    }

    /// The thread has ended, or can type no more.
    private func typingEnded() {
        finished.reset()
        guard typing.hasEnded else {
            guard onEnd == nil, let error = typing.error else { return }
            // Another keyboard would not be understood either.
            if error.recovery(of: .keyboard) == .unfit { return onFailure(error) }
            node = nil
            isGone = true
            onChange?(.gone(.notWritten(error)))
            // One that is gone at once is followed at once; those that fail one after the other, ever later.
            guard MonotonicClock.now - remadeAt >= Self.provenTime else { return remakeLater() }
            backoff.reset()
            remake()
            return
        }
        if let registration { loop.unwatch(registration, finished.descriptor) }
        registration = nil
        lights?.end()
        onEnd?()
    }

    /// Makes another keyboard in the place of the one that is gone, or tries again later.
    private func remake() {
        do {
            let output = try makeOutput()
            // Neither is worth a keyboard: without them letters may be of the wrong case, or are not checked.
            if let found = try? output.lights() { try? lights?.follow(found) }
            if let path = output.eventNode { try? verifier?.follow(path) }
            node = output.eventNode
            isGone = false
            remakes &+= 1
            remadeAt = MonotonicClock.now
            typing.resume(on: output)
            onChange?(.remade)
        } catch {
            remakeLater()
        }
    }

    private func remakeLater() {
        remakeTimer.set(on: loop, after: backoff.next()) { [unowned self] in remake() }
    }
}
