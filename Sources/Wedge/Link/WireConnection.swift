// SPDX-License-Identifier: GPL-2.0-or-later

package import LinuxIO
package import SystemPackage

/// The file descriptor that a wire's bytes pass through.
package enum WireChannel: ~Copyable {
    /// A pseudo-terminal's near end.
    case terminal(PseudoTerminal)
    /// A client of a local socket.
    case client(LocalStream)

    fileprivate func watch(
        on loop: EventLoop,
        handler: @escaping (EventLoop.Readiness) -> Void
    ) throws(Errno) -> EventLoop.Registration {
        switch self {
        case .terminal(let terminal): try loop.watch(terminal.descriptor, for: .readable, handler: handler)
        case .client(let stream): try loop.watch(stream.descriptor, for: .readable, handler: handler)
        }
    }

    fileprivate func change(
        _ registration: EventLoop.Registration,
        to interest: EventLoop.Readiness,
        on loop: EventLoop
    ) throws(Errno) {
        switch self {
        case .terminal(let terminal): try loop.change(registration, terminal.descriptor, to: interest)
        case .client(let stream): try loop.change(registration, stream.descriptor, to: interest)
        }
    }

    fileprivate func unwatch(_ registration: EventLoop.Registration, on loop: EventLoop) {
        switch self {
        case .terminal(let terminal): loop.unwatch(registration, terminal.descriptor)
        case .client(let stream): loop.unwatch(registration, stream.descriptor)
        }
    }

    fileprivate func read(into buffer: inout [UInt8]) throws(Errno) -> NonBlocking<Int> {
        switch self {
        case .terminal(let terminal): try terminal.descriptor.read(into: &buffer)
        case .client(let stream): try stream.descriptor.read(into: &buffer)
        }
    }

    fileprivate func write(_ bytes: borrowing RawSpan) throws(Errno) -> NonBlocking<Int> {
        switch self {
        case .terminal(let terminal): try terminal.descriptor.write(bytes)
        case .client(let stream): try stream.write(bytes)
        }
    }
}

/// A wire's other end on the event loop: bytes out, within bounds, and bytes in.
///
/// To be used on the loop's thread.
package final class WireConnection {
    /// The most bytes that wait for a slow reader; what comes then is refused.
    package static let mostWaiting = 1 << 16

    /// Takes what the other end sends.
    package var onBytes: (([UInt8]) -> Void)?
    /// Called once, when the other end has gone.
    package var onEnd: ((WireConnection) -> Void)?

    private let loop: EventLoop
    private let channel: WireChannel
    private var registration: EventLoop.Registration?
    private var waiting = OutgoingBuffer(capacity: mostWaiting)

    /// Begins to read.
    package init(_ channel: consuming WireChannel, on loop: EventLoop) throws(Errno) {
        self.channel = channel
        self.loop = loop
        registration = try self.channel.watch(on: loop) { [unowned self] readiness in ready(readiness) }
    }

    /// Sends bytes, now or when the other end takes more; false if too much waits already, and nothing of them is sent.
    package func send(_ bytes: Span<UInt8>) -> Bool {
        guard registration != nil, waiting.append(bytes) else { return false }
        flush()
        return true
    }

    /// Closes this end; `onEnd` is not called.
    package func close() {
        guard let registration else { return }
        self.registration = nil
        channel.unwatch(registration, on: loop)
    }

    private func ready(_ readiness: EventLoop.Readiness) {
        if readiness.contains(.writable) { flush() }
        if readiness.hasInput { read() }
    }

    private func read() {
        var buffer = [UInt8](repeating: 0, count: 4096)
        do throws(Errno) {
            guard registration != nil, case .done(let count) = try channel.read(into: &buffer) else { return }
            if count == 0 { end() } else { onBytes?(Array(buffer.prefix(count))) }
        } catch {
            end()
        }
    }

    private func flush() {
        guard let registration else { return }
        do throws(Errno) {
            let isDone = try waiting.drain { bytes throws(Errno) in try channel.write(bytes) }
            try channel.change(registration, to: isDone ? .readable : [.readable, .writable], on: loop)
        } catch {
            end()
        }
    }

    private func end() {
        guard registration != nil else { return }
        close()
        onEnd?(self)
    }
}
