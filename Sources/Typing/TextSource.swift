// SPDX-License-Identifier: GPL-2.0-or-later

package import LinuxIO
package import SensorValues

/// Source of one device's text: decodes the frames or the values of its links, and passes the text to each output.
package final class TextSource {
    /// Form of the bytes that a device sends, if they are not the text itself.
    private enum Form: Equatable {
        case framed(Framing)
        case values(ValueSettings, isAdvertised: Bool)
    }

    /// Number of bytes lost because an output's ring was full.
    ///
    /// It counts only bytes lost while the keyboard worked and did not wait for a client.
    package var outrun: UInt64 { lost }
    /// Storage of `outrun`.
    ///
    /// It is private so that the compiler can see all accesses and omit exclusivity checks.
    private var lost: UInt64 = 0

    /// Handler for the first encrypted value since `use`; such values cannot be read.
    package var onEncrypted: (() -> Void)?
    private var wasEncrypted = false

    private let outputs: [VirtualKeyboard]
    private let loop: EventLoop
    /// Form of the link's bytes; nil if they are the text.
    private var form: Form?
    /// Frame decoder; nil if the link's bytes are not framed.
    private var deframer: Deframer?
    /// Reader of the latest values; nil before the first link with a device that sends values.
    private var values: ValueReader?
    /// Link that the bytes in the decoder came from; `isFromOpenDevice` is true if its device is unpaired.
    private var framed: (epoch: UInt32, isFromOpenDevice: Bool) = (0, true)
    private let frameTimer = LoopTimer()

    /// Creates a source of unframed bytes.
    package init(for outputs: [VirtualKeyboard], on loop: EventLoop) {
        self.outputs = outputs
        self.loop = loop
    }

    /// Sets the framing of the link's bytes, or the rules for its values; nil if the bytes are the text.
    ///
    /// Call it before the first byte; repeated calls with the same arguments have no effect.
    package func use(_ framing: Framing?, _ rules: ValueSettings? = nil, isAdvertised: Bool = false) {
        let form: Form? = framing.map { .framed($0) } ?? rules.map { .values($0, isAdvertised: isAdvertised) }
        guard form != self.form else { return }
        endFrame()
        wasEncrypted = false
        self.form = form
        deframer = framing.map { Deframer($0) }
        if let rules, values?.settings != rules { values = ValueReader(rules, isAdvertised: isAdvertised) }
    }

    /// Receives the bytes of a notification, or of an advertised value, on the link with the number `epoch`.
    package func receive(_ value: Span<UInt8>, epoch: UInt32, isFromOpenDevice: Bool) {
        guard case .none = form else { return decode(value, epoch: epoch, isFromOpenDevice) }
        pass(value, epoch: epoch, isFromOpenDevice)
    }

    /// Counts of the values that were received; nil if no device has sent any.
    package var valueAccount: ValueAccount? { values?.account }

    /// Types the latest value on the link with the number `epoch`; returns false if none waits.
    package func typeValue(epoch: UInt32, isFromOpenDevice: Bool) -> Bool {
        guard let text = values?.request() else { return false }
        pass(text.span, epoch: epoch, isFromOpenDevice)
        return true
    }

    private func decode(_ value: Span<UInt8>, epoch: UInt32, _ isFromOpenDevice: Bool) {
        if case .values = form {
            guard let (outcome, text) = values?.receive(value) else { return }
            if !text.isEmpty { pass(text.span, epoch: epoch, isFromOpenDevice) }
            if outcome == .encrypted, !wasEncrypted {
                wasEncrypted = true
                onEncrypted?()
            }
            return
        }
        framed = (epoch, isFromOpenDevice)
        if let result = deframer?.receive(value, now: MonotonicClock.now) { take(result) }
        watchFrame()
    }

    /// Records that values of this link were lost before the next value.
    ///
    /// The next value then does not continue a partial frame or barcode.
    package func noteMissing(epoch: UInt32) {
        endFrame()
        for output in outputs { output.noteMissing(epoch: epoch) }
    }

    /// Ends the links up to number `epoch`, which deliver no more bytes; a barcode without its terminator is cut off.
    package func endLink(through epoch: UInt32) {
        endFrame()
        values?.endLink()
        for output in outputs { output.endLink(through: epoch) }
    }

    /// Cancels the time-out of an incomplete frame.
    package func stop() { frameTimer.cancel() }

    private func pass(_ value: Span<UInt8>, epoch: UInt32, _ isFromOpenDevice: Bool) {
        for output in outputs where !output.receive(value, epoch: epoch, isFromOpenDevice: isFromOpenDevice) {
            lost &+= UInt64(value.count)
        }
    }

    private func endFrame() {
        if let rest = deframer?.end() { take(rest) }
    }

    /// Passes bytes decoded from the frames of the link in `framed` to the outputs, and counts the other bytes.
    private func take(_ result: Deframer.Result) {
        for output in outputs { output.skip(wrapping: result.wrapping, bad: result.bad) }
        pass(result.payload.span, epoch: framed.epoch, framed.isFromOpenDevice)
    }

    private func watchFrame() {
        guard let deadline = deframer?.deadline, !frameTimer.isSet else { return }
        frameTimer.set(on: loop, at: deadline) { [unowned self] in
            if let rest = deframer?.expire(now: MonotonicClock.now) { take(rest) }
            watchFrame()
        }
    }
}
