// SPDX-License-Identifier: GPL-2.0-or-later

package import LinuxIO

/// Source of one device's text: decodes the frames of its links, and passes the payload to each output.
package final class TextSource {
    /// Number of bytes lost because an output's ring was full.
    ///
    /// It counts only bytes lost while the keyboard worked and did not wait for a client.
    package var outrun: UInt64 { lost }
    /// Storage of `outrun`.
    ///
    /// It is private so that the compiler can see all accesses and omit exclusivity checks.
    private var lost: UInt64 = 0

    private let outputs: [VirtualKeyboard]
    private let loop: EventLoop
    private var framing: Framing?
    /// Frame decoder; nil if the link's bytes are not framed.
    private var deframer: Deframer?
    /// Link that the bytes in the decoder came from; `isFromOpenDevice` is true if its device is unpaired.
    private var framed: (epoch: UInt32, isFromOpenDevice: Bool) = (0, true)
    private let frameTimer = LoopTimer()

    /// Creates a source of unframed bytes.
    package init(for outputs: [VirtualKeyboard], on loop: EventLoop) {
        self.outputs = outputs
        self.loop = loop
    }

    /// Sets the framing of the link's bytes; nil if they are not framed.
    ///
    /// Call it before the first byte; repeated calls with the same framing have no effect.
    package func useFraming(_ framing: Framing?) {
        guard framing != self.framing else { return }
        endFrame()
        self.framing = framing
        deframer = framing.map { Deframer($0) }
    }

    /// Receives the bytes of a notification on the link with the number `epoch`.
    package func receive(_ value: Span<UInt8>, epoch: UInt32, isFromOpenDevice: Bool) {
        guard case .none = framing else {
            framed = (epoch, isFromOpenDevice)
            if let result = deframer?.receive(value, now: MonotonicClock.now) { take(result) }
            return watchFrame()
        }
        pass(value, epoch: epoch, isFromOpenDevice)
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
