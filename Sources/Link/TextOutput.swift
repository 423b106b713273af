// SPDX-License-Identifier: GPL-2.0-or-later

package import Configuration
package import Keystrokes
package import LinuxIO
import SystemPackage
package import Typing

/// Delivers the device's text or raw bytes to an output other than the keyboard, and accepts bytes for the device (X-9,
/// D-7).
///
/// Text is processed in the same way as for the keyboard, with the same table, barcodes and counts. The text that an
/// application would get from the keystrokes is delivered line by line.
package final class TextOutput {
    /// Keyboard without a kernel device, on which the service types the text.
    package let screen: TextKeyboard
    /// The output's destination, as written in the configuration.
    package let name: String
    package let end: any OutputEnd
    /// The listener of the output; nil if the output is the hook.
    package var listener: OutputListener? { end as? OutputListener }

    private let lines = LineBuffer()
    private let isGated: Bool
    private let isRaw: Bool
    private let loop: EventLoop
    private var registration: EventLoop.Registration?
    private var goOn: (() -> Void)?
    /// Lines that are waiting for room, oldest first; those before the index `first` have been delivered.
    private var waiting: [OutputLine] = []
    private var first = 0
    private var last: OutputLine?
    private let silence = LoopTimer()
    private var isHandingOver = false
    private var raw = RawLines()

    /// Opens an output; returns nil for the keyboard.
    package convenience init?(
        _ settings: OutputSettings,
        layout: KeyboardLayout,
        on loop: EventLoop
    ) throws(OutputError) {
        guard let end = try OutputListener(settings.destination, settings.slowReader, on: loop) else { return nil }
        let name = "\(settings.destination)"
        try self.init(
            to: end,
            name: name,
            isGated: settings.isGated,
            isRaw: settings.isRaw,
            layout: layout,
            on: loop
        )
    }

    package init(
        to end: any OutputEnd,
        name: String,
        isGated: Bool = true,
        isRaw: Bool = false,
        layout: KeyboardLayout,
        on loop: EventLoop
    ) throws(OutputError) {
        self.end = end
        self.name = name
        self.loop = loop
        self.isGated = isGated
        self.isRaw = isRaw
        do throws(Errno) {
            screen = try TextKeyboard(layout: layout, lines: lines)
            registration = try loop.watch(screen.screen.arrival.descriptor, for: .readable) { [unowned self] _ in
                screen.screen.arrival.reset()
                handOver()
            }
        } catch {
            throw .noScreen(error)
        }
        end.onRoom = { [unowned self] in handOver() }
    }

    package func join(_ keyboard: VirtualKeyboard) {
        (keyboard.isGated, keyboard.isPatient) = (isGated, end.policy == .wait)
        if isRaw { keyboard.rawEnd = { [unowned self] bytes in pass(bytes) } }
        end.onOutcome = { [unowned keyboard] delivered, undelivered in
            keyboard.settle(delivered: delivered, undelivered: undelivered)
        }
        goOn = { [unowned keyboard] in keyboard.goOn() }
    }

    /// Delivers the lines that clients still accept, counts the other lines as undelivered, and closes the output.
    ///
    /// Call it after the last byte was typed, and before the byte counts are read for the last time.
    package func close() {
        guard let registration else { return }
        self.registration = nil
        loop.unwatch(registration, screen.screen.arrival.descriptor)
        silence.cancel()
        endLine()
        // The output is closing, so there will be no more room for the waiting lines.
        for line in waiting[first...] { line.letGo(isTaken: false) }
        (waiting, first) = ([], 0)
        end.close()
    }

    /// Ends the current line, and delivers lines while there is room for them.
    package func endLine() {
        lines.endLine()
        take()
        handOver()
    }

    // MARK: Text

    /// Delivers complete lines while there is room for them.
    private func handOver() {
        // Sending makes room, which makes `onRoom` call this method recursively.
        guard !isHandingOver else { return }
        isHandingOver = true
        defer { isHandingOver = false }
        repeat {
            while first < waiting.count, end.hasRoom(for: waiting[first]) {
                end.deliver(waiting[first])
                first += 1
            }
            end.flush()
            guard first == waiting.count else { return }
            (waiting, first) = ([], 0)
        } while take()
    }

    /// Moves typed lines from the buffer to `waiting`; returns true if there were any.
    @discardableResult
    private func take() -> Bool {
        let taken = lines.take()
        if taken.late > 0 { last?.add(late: taken.late) }
        if taken.cut > 0 { end.onOutcome?(0, taken.cut) }
        waiting += taken.lines.map { end.line($0.bytes, cost: $0.cost) }
        last = waiting.last ?? last
        if taken.wasFull { goOn?() }
        silence.cancel()
        if taken.isLineOpen, registration != nil {
            silence.set(on: loop, after: LineBuffer.silence) { [unowned self] in
                lines.endLine()
                handOver()
            }
        }
        return !taken.lines.isEmpty
    }

    // MARK: Raw bytes

    /// Delivers raw bytes; returns false if they must wait until the clients have room, because the policy is `wait`.
    private func pass(_ bytes: Span<UInt8>) -> Bool {
        let parts = raw.parts(bytes, now: MonotonicClock.now).map { part in
            end.line(part.bytes, cost: part.bytes.count, begins: part.begins, ends: part.ends)
        }
        // Either deliver or refuse all parts of one value, so that the value is counted as a whole.
        guard let first = parts.first else { return true }
        if first.begins { raw.isRefusing = !end.hasRoom(for: first) }
        guard !raw.isRefusing else {
            raw.isRefusing = parts.last?.ends == false
            return false
        }
        for part in parts { end.deliver(part) }
        end.flush()
        return true
    }
}
