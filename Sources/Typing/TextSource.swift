// SPDX-License-Identifier: GPL-2.0-or-later

package import LinuxIO

/// The text of one device: takes the frames off the values of its links, and hands the rest to each of its outputs.
package final class TextSource {
    /// The bytes for which an output had no room though it could type: what came faster than it could be typed.
    package private(set) var outrun: UInt64 = 0

    private let outputs: [VirtualKeyboard]
    private let loop: EventLoop
    private var framing: Framing?
    /// The decoder of frames; nil if the link's bytes have none.
    private var deframer: Deframer?
    /// The link of the bytes that wait for the rest of their frame, and whether its device is open.
    private var framed: (epoch: UInt32, isFromOpenDevice: Bool) = (0, true)
    private let frameTimer = LoopTimer()

    /// A source of bytes without frames.
    package init(for outputs: [VirtualKeyboard], on loop: EventLoop) {
        self.outputs = outputs
        self.loop = loop
    }

    /// Sets the framing of the link's bytes, nil for none.
    ///
    /// It is called before the first byte; repeated calls with the same framing do nothing.
    package func useFraming(_ framing: Framing?) {
        guard framing != self.framing else { return }
        endFrame()
        self.framing = framing
        deframer = framing.map { Deframer($0) }
    }

    /// Takes the bytes of a notification on the link with the number `epoch`.
    package func receive(_ value: Span<UInt8>, epoch: UInt32, isFromOpenDevice: Bool) {
        guard case .none = framing else {
            framed = (epoch, isFromOpenDevice)
            if let result = deframer?.receive(value, now: MonotonicClock.now) { take(result) }
            return watchFrame()
        }
        pass(value, epoch: epoch, isFromOpenDevice)
    }

    /// Notes that values of this link were lost before the next one: what has begun is not continued by that.
    package func noteMissing(epoch: UInt32) {
        endFrame()
        for output in outputs { output.noteMissing(epoch: epoch) }
    }

    /// Notes that no more bytes come from the links up to number `epoch`; a barcode without its end is cut.
    package func endLink(through epoch: UInt32) {
        endFrame()
        for output in outputs { output.endLink(through: epoch) }
    }

    /// Waits for no rest of a frame any more.
    package func stop() { frameTimer.cancel() }

    private func pass(_ value: Span<UInt8>, epoch: UInt32, _ isFromOpenDevice: Bool) {
        for output in outputs where !output.receive(value, epoch: epoch, isFromOpenDevice: isFromOpenDevice) {
            outrun &+= UInt64(value.count)
        }
    }

    private func endFrame() {
        if let rest = deframer?.end() { take(rest) }
    }

    /// Takes what the decoder has found among the bytes of the link that it has bytes of.
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
