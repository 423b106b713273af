// SPDX-License-Identifier: GPL-2.0-or-later

package import Keystrokes
package import LinuxIO
package import SystemPackage
import Texts

/// Virtual keyboard with its typing thread, and the data path from the received bytes to it.
package final class VirtualKeyboard {
    package static let name = "blewedge keyboard"
    /// Capacity of the ring in bytes: room for 2,000 barcodes of 13 characters that arrive faster than they are typed.
    private static let ringCapacity = 1 << 16
    /// Minimum lifetime of a keyboard after which the back-off is reset and a replacement is created immediately.
    private static let provenTime = Duration.seconds(10)

    package enum Change {
        /// The keyboard failed with this error; it will be replaced.
        case gone(KeyboardError)
        case remade
    }

    /// Capacity of the keypad's ring in bytes: room for the longest snippet and its cursor movements.
    private static let keypadCapacity = 1 << 14

    /// Path of the keyboard's event node; nil if the kernel created none, or the keyboard has failed.
    package var node: String? { if let lane { lane.eventNode } else { ownNode } }
    private var ownNode: String?

    /// Access to a keyboard that several devices share; nil for a keyboard of its own.
    private let lane: KeyboardLane?
    /// Number of replacements of the shared keyboard when its lights were last followed.
    private var followed: UInt64 = 0
    /// Number of replacement keyboards created after failures.
    package private(set) var remakes: UInt64 = 0
    private var isGone = false
    /// True if the output waits for slow clients, so that a full ring does not mean that the device sends too fast.
    package var isPatient = false
    /// False for an output that types even while the gate is closed, and whose bytes a closing gate never drops.
    package var isGated = true
    /// Handler for the failure of the keyboard, and for its replacement; after a replacement, `node` is the new path.
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
    private let capsLock: CapsLockPolicy
    private var lights: LightWatch?
    /// CapsLock state that all lanes of a shared keyboard set; nil for a keyboard of its own.
    private let sharedLight: CapsLockLight?
    private var onEnd: (() -> Void)?
    private let keypadLedger = Ledger()
    private var keypadFeed: Feed?
    /// Length of the text in the focused field; nil if clients may not delete the text.
    private let field: TypedField?
    /// Function that receives the bytes in raw output, which does not use the typist.
    ///
    /// It returns false if it rejects the bytes; the fate of accepted bytes is reported later (`settle`). Its storage
    /// is private, so that reading it for each notification needs no check for exclusive access.
    package var rawEnd: ((Span<UInt8>) -> Bool)? {
        get { untypedEnd }
        set { untypedEnd = newValue }
    }
    private var untypedEnd: ((Span<UInt8>) -> Bool)?

    /// Creates the keyboard and starts its thread.
    ///
    /// `onFailure` is called once, if the keyboard can no longer be written to and a replacement would fail in the same
    /// way.
    ///
    /// With a `screen`, no kernel keyboard is created, and the typed text is shown on the screen. If the screen
    /// collects lines for an output, bytes count as typed only when `settle` reports them. `makeDevice` creates a
    /// device in place of the kernel's keyboard; it is called for the first keyboard and for each replacement. A keyboard
    /// given by `sharing` replaces both, and its events are not verified.
    package init(
        _ settings: TypingSettings,
        on loop: EventLoop,
        screen: TextKeyboard?,
        makeDevice: (() throws(KeyboardError) -> any KeyboardDevice)? = nil,
        sharing: SharedKeyboard? = nil,
        onFailure: @escaping (Errno) -> Void
    ) throws(KeyboardError) {
        self.loop = loop
        self.onFailure = onFailure
        let screen = sharing == nil ? screen : nil
        let lane = sharing?.addLane(settings.pacer.pace)
        self.lane = lane
        sharedLight = sharing?.capsLock
        capsLock = settings.capsLock
        lines = screen?.lines
        ledger = Ledger(handsOver: screen?.lines != nil)
        let field = sharing == nil ? settings.keypad.map { TypedField($0.effects) } : sharing?.field
        self.field = field
        makeOutput = { () throws(KeyboardError) in
            if let lane {
                try lane.renew()
                return KeyboardOutput(lane)
            }
            if let makeDevice { return KeyboardOutput(try makeDevice(), field: field) }
            return try KeyboardOutput([settings], screen: screen, field: field)
        }
        let output = try makeOutput()
        ownNode = output.eventNode
        followed = lane?.generation ?? 0
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
                lights = try LightWatch(found, on: loop, shared: sharedLight)
            }
            let light = capsLock == .auto ? sharedLight ?? lights?.capsLock : nil
            let typist = Typist(
                consumer,
                table: settings.table,
                pacer: settings.pacer,
                barcodes: settings.barcodes,
                maximumAge: settings.maximumAge?.inNanoseconds,
                gate: gate,
                light: light,
                keepsLines: lines != nil,
                separatesBarcodes: lane != nil,
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
                    light: light,
                    ledger: keypadLedger
                )
            }
            finished = try Waker()
            let meant = settings.verifies && lane == nil ? try ExpectedEvents() : nil
            verifier = try Self.makeVerifier(meant, ownNode, loop)
            typing = try TypingThread(
                typist,
                device: output,
                meant: meant?.takeWriter(),
                keypad: keypadTypist,
                separation: settings.pacer.pace.stall,
                screen: screen,
                lane: lane,
                finished: finished
            )
            registration = try loop.watch(finished.descriptor, for: .readable) { [unowned self] _ in typingEnded() }
        } catch let failure as KeyboardError {
            throw failure
        } catch {
            throw .noDataPath(reason: "\(error)")
        }
    }

    /// Sets how long after a carriage return a line feed may arrive and still be merged with it; at least 100 ms
    /// (D-35).
    package func joinLineFeeds(within time: Duration) { gate.joinLineFeeds(within: time.inNanoseconds) }

    /// Receives the bytes of a notification on the link with the number `epoch`.
    ///
    /// Returns false if they are lost because the device sends faster than this output can type. The bytes are copied
    /// once, into the ring, and are typed immediately if no other bytes are waiting. For an unpaired device, Enter is
    /// restricted as in D-2, and Escape and Ctrl are blocked.
    @discardableResult
    package func receive(_ value: Span<UInt8>, epoch: UInt32, isFromOpenDevice: Bool) -> Bool {
        if let untypedEnd {
            pass(value, to: untypedEnd)
            return true
        }
        let now = MonotonicClock.nanoseconds
        // Lines for an output press no keys, so the restrictions of unpaired devices do not apply.
        let isRestricted = isFromOpenDevice && lines == nil
        switch unsafe feed.receive(value.bytes, epoch: epoch, now: now, isFromOpenDevice: isRestricted) {
        case .accepted: return true
        case .acceptedMustWake:
            typing.typeIfAsleep(now: now)
            return true
        case .lost: return isGone || isPatient || lane?.isFailed == true
        }
    }

    /// Counts the bytes of frames that are not text: wrapping, and invalid frames.
    package func skip(wrapping: Int, bad: Int) { feed.skip(wrapping: wrapping, bad: bad) }

    /// Records that values of this link were lost before the next value.
    ///
    /// The next value then does not continue a partial barcode.
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

    /// Counts the delivered and undelivered bytes of an output that is not the keyboard.
    package func settle(delivered: Int, undelivered: Int) {
        feed.settle(delivered: delivered, undelivered: undelivered)
    }

    /// Wakes a typist that was waiting for the output to accept its lines.
    package func goOn() { typing.wake() }

    /// Types bytes of the keypad's table.
    ///
    /// Returns false if the ring is full or there is no keypad.
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

    /// Ends the links up to number `epoch`, which deliver no more bytes; a barcode without its terminator is cut off.
    package func endLink(through epoch: UInt32) {
        gate.endLink(through: epoch)
        typing.wake()
    }

    /// Discards the waiting bytes of the links up to number `epoch`, and counts them as lost for the reason `cause`.
    package func drop(through epoch: UInt32, _ cause: Gate.Drop) {
        gate.drop(through: epoch, cause)
        typing.wake()
    }

    /// True while received bytes are typed.
    ///
    /// While it is false, waiting and new bytes are discarded and are not typed later (D-1).
    package var isGateOpen: Bool {
        get { gate.isOpen }
        set {
            guard newValue != gate.isOpen else { return }
            if newValue { gate.open(now: MonotonicClock.nanoseconds) } else { gate.close() }
        }
    }

    /// True if the typing thread has run since the last `ping`.
    package var hasAnswered: Bool { typing.hasAnswered }

    package func ping() { typing.ping() }

    /// Stops the thread when it has typed all bytes that may still be typed, and then calls `completion`.
    package func stop(completion: @escaping () -> Void) {
        remakeTimer.cancel()
        lane?.retire()
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

    /// Number of this device's turns on a shared keyboard that were cut (D-42); 0 for a keyboard of its own.
    package var cutTurns: UInt64 { lane?.cuts ?? 0 }

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

    /// Handles the end of the thread, or a failure of the keyboard.
    private func typingEnded() {
        finished.reset()
        guard typing.hasEnded else {
            guard onEnd == nil, let error = typing.error else { return }
            // A replacement would fail in the same way, so none is created.
            if error.recovery(of: .keyboard) == .unfit { return onFailure(error) }
            ownNode = nil
            isGone = true
            onChange?(.gone(.notWritten(error)))
            // A keyboard that lasted long enough is replaced immediately; after repeated failures, the back-off
            // applies.
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

    /// Replaces the failed keyboard, or schedules a retry.
    private func remake() {
        do {
            let output = try makeOutput()
            followLights(of: output)
            // Best effort: if this fails, the events are not verified.
            if let path = output.eventNode { try? verifier?.follow(path) }
            ownNode = output.eventNode
            isGone = false
            remakes &+= 1
            remadeAt = MonotonicClock.now
            typing.resume(on: output)
            onChange?(.remade)
        } catch {
            remakeLater()
        }
    }

    /// Follows the lights of a shared keyboard that another lane has replaced.
    ///
    /// Call it for the other lanes when one reports `Change.remade`.
    package func followReplacement() {
        guard let lane, lane.generation != followed else { return }
        followLights(of: KeyboardOutput(lane))
    }

    /// Follows the lights of a replacement; best effort: if this fails, letters may have the wrong case.
    private func followLights(of output: KeyboardOutput) {
        followed = lane?.generation ?? 0
        guard capsLock == .auto, let found = try? output.lights() else { return }
        if let lights {
            try? lights.follow(found)
        } else {
            lights = try? LightWatch(found, on: loop, shared: sharedLight)
        }
    }

    private func remakeLater() {
        remakeTimer.set(on: loop, after: backoff.next()) { [unowned self] in remake() }
    }
}
