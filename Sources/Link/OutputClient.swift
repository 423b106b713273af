// SPDX-License-Identifier: GPL-2.0-or-later

package import Configuration
package import LinuxIO
package import SystemPackage

/// The channel through which an output sends and receives bytes.
package enum WireChannel: ~Copyable {
    /// The master end of a pseudo-terminal.
    case terminal(PseudoTerminal)
    case client(LocalStream)
    /// Standard output, which is never read.
    case output(StandardOutput)

    fileprivate func watch(
        on loop: EventLoop,
        handler: @escaping (EventLoop.Readiness) -> Void
    ) throws(Errno) -> EventLoop.Registration {
        switch self {
        case .terminal(let terminal): try loop.watch(terminal.descriptor, for: .readable, handler: handler)
        case .client(let stream): try loop.watch(stream.descriptor, for: .readable, handler: handler)
        case .output(let output): try loop.watch(output.descriptor, for: [], handler: handler)
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
        case .output(let output):
            try loop.change(registration, output.descriptor, to: interest.subtracting(.readable))
        }
    }

    fileprivate func unwatch(_ registration: EventLoop.Registration, on loop: EventLoop) {
        switch self {
        case .terminal(let terminal): loop.unwatch(registration, terminal.descriptor)
        case .client(let stream): loop.unwatch(registration, stream.descriptor)
        case .output(let output): loop.unwatch(registration, output.descriptor)
        }
    }

    fileprivate func watchOpenings(
        on loop: EventLoop,
        handler: @escaping () -> Void
    ) throws(Errno) -> EventLoop.Registration? {
        switch self {
        case .terminal(let terminal): try terminal.watchOpenings(on: loop, handler: handler)
        default: nil
        }
    }

    fileprivate func unwatchOpenings(_ registration: EventLoop.Registration, on loop: EventLoop) {
        switch self {
        case .terminal(let terminal): terminal.unwatchOpenings(registration, on: loop)
        default: break
        }
    }

    fileprivate func clearOpenings() {
        switch self {
        case .terminal(let terminal): terminal.clearOpenings()
        default: break
        }
    }

    fileprivate func discardUnread() {
        switch self {
        case .terminal(let terminal): try? terminal.discardUnread()
        default: break
        }
    }

    /// True unless this is a terminal that no program has open.
    fileprivate var isOpened: Bool {
        switch self {
        case .terminal(let terminal): terminal.isOpened
        default: true
        }
    }

    /// True if the channel is a socket, whose peer can stop writing and continue to read.
    fileprivate var isSocket: Bool {
        switch self {
        case .client: true
        default: false
        }
    }

    fileprivate func read(into buffer: inout [UInt8]) throws(Errno) -> NonBlocking<Int> {
        switch self {
        case .terminal(let terminal): try terminal.descriptor.read(into: &buffer)
        case .client(let stream): try stream.descriptor.read(into: &buffer)
        // Standard output is watched only for hang-ups, and never read.
        case .output: .done(0)
        }
    }

    fileprivate func write(_ bytes: borrowing RawSpan) throws(Errno) -> NonBlocking<Int> {
        switch self {
        case .terminal(let terminal): try terminal.descriptor.write(bytes)
        case .client(let stream): try stream.write(bytes)
        case .output(let output): try output.write(bytes)
        }
    }
}

/// A client of an output, on the event loop; it sends lines through a bounded queue, and receives bytes.
package final class OutputClient {
    private static let pieceLength = 4096
    /// Interval at which queued bytes are written to an output that epoll cannot watch.
    private static let retryInterval = Duration.milliseconds(20)

    package var onBytes: (([UInt8]) -> Void)?
    /// Handler that is called when the queue has room again.
    package var onRoom: (() -> Void)?
    /// Handler that is called once, when the client has disconnected or failed.
    package var onEnd: ((OutputClient) -> Void)?

    private let loop: EventLoop
    private let channel: WireChannel
    /// Error that ended the client; nil if it disconnected.
    package private(set) var fault: Errno?

    private var registration: EventLoop.Registration?
    /// Watch for programs that open the terminal; nil for other outputs.
    private var openings: EventLoop.Registration?
    /// False while no program has the terminal open; nothing is queued during that time.
    package private(set) var isAttended = true
    /// True once the peer of a socket has stopped writing; it may continue to read.
    private var isInputOver = false
    private let timer = LoopTimer()
    private var isOpen = true
    private var isWaitingForRoom = false
    private var queue: LineQueue

    package init(_ channel: consuming WireChannel, _ policy: SlowReaderPolicy, on loop: EventLoop) throws(Errno) {
        self.channel = channel
        self.loop = loop
        queue = LineQueue(policy)
        openings = try self.channel.watchOpenings(on: loop) { [unowned self] in
            self.channel.clearOpenings()
            attend()
        }
        // Do not watch a terminal that no program has open, because it would be reported as hung up repeatedly.
        isAttended = openings == nil || self.channel.isOpened
        if isAttended { try watch() }
    }

    private func watch() throws(Errno) {
        do throws(Errno) {
            registration = try channel.watch(on: loop) { [unowned self] readiness in ready(readiness) }
        } catch {
            // epoll rejects a regular file, which is always ready.
            guard error.recovery(of: .loop) == .absent else { throw error }
        }
    }

    /// Checks if a program has the terminal open; if a program has just closed it, drops the queued bytes.
    private func attend() {
        guard isOpen, openings != nil, channel.isOpened != isAttended else { return }
        isAttended.toggle()
        guard isAttended else {
            if let registration { channel.unwatch(registration, on: loop) }
            registration = nil
            isWaitingForRoom = false
            queue.removeAll()
            channel.discardUnread()
            onRoom?()
            return
        }
        do throws(Errno) {
            try watch()
        } catch {
            return end(error)
        }
        onRoom?()
    }

    /// Numbers of bytes that the client has received and missed so far.
    package var counts: LineQueue.Counts { queue.counts }

    package var waiting: Int { queue.waiting }

    /// Returns true if the line can be queued without dropping another line.
    ///
    /// It returns false while no program has the terminal open, and true if the client is closed, because then nothing
    /// is queued.
    package func fits(_ line: OutputLine) -> Bool {
        attend()
        if !queue.fits(line) { flush() }
        return !isOpen || isAttended && queue.fits(line)
    }

    /// Queues a line or, if there is no room, drops a line as the policy requires; `flush` sends the queue.
    package func append(_ line: OutputLine) {
        guard isOpen else { return }
        attend()
        guard isAttended else { return queue.refuse(line) }
        if !queue.fits(line) { flush() }
        queue.append(line)
    }

    /// Sends the bytes that the client accepts now; does nothing while the client is not writable.
    package func flush() { if !isWaitingForRoom { write() } }

    /// Sends the bytes that the client still accepts, drops the rest, and closes the channel without calling `onEnd`.
    package func finish() {
        onEnd = nil
        write()
        close()
    }

    private func write() {
        guard isOpen, isAttended else { return }
        let before = queue.waiting
        do throws(Errno) {
            while queue.waiting > 0 {
                let piece = queue.next(Self.pieceLength)
                // Sound: the bytes are not changed during the call.
                guard case .done(let count) = try channel.write(unsafe piece.span.bytes) else { break }
                queue.took(count)
            }
            try wait(forRoom: queue.waiting > 0)
        } catch {
            return end(error)
        }
        if queue.waiting < before { onRoom?() }
    }

    private func close() {
        guard isOpen else { return }
        isOpen = false
        timer.cancel()
        if let registration { channel.unwatch(registration, on: loop) }
        registration = nil
        if let openings { channel.unwatchOpenings(openings, on: loop) }
        openings = nil
        queue.removeAll()
    }

    private func wait(forRoom isWaiting: Bool) throws(Errno) {
        timer.cancel()
        let wasWaiting = isWaitingForRoom
        isWaitingForRoom = isWaiting
        guard let registration else {
            guard isWaiting else { return }
            timer.set(on: loop, after: Self.retryInterval) { [unowned self] in write() }
            return
        }
        guard isWaiting != wasWaiting else { return }
        try channel.change(registration, to: interest, on: loop)
    }

    private var interest: EventLoop.Readiness {
        let input: EventLoop.Readiness = isInputOver ? [] : .readable
        return isWaitingForRoom ? input.union(.writable) : input
    }

    private func ready(_ readiness: EventLoop.Readiness) {
        if readiness.contains(.writable) { write() }
        guard readiness.hasInput else { return }
        read(isHungUp: !readiness.isDisjoint(with: [.hangUp, .error]))
        if readiness.contains(.hangUp) { attend() }
    }

    private func read(isHungUp: Bool) {
        var buffer = [UInt8](repeating: 0, count: 4096)
        do throws(Errno) {
            guard isOpen, case .done(let count) = try channel.read(into: &buffer) else { return }
            guard count == 0 else {
                onBytes?(Array(buffer.prefix(count)))
                return
            }
            guard channel.isSocket, !isHungUp, let registration else { return end() }
            isInputOver = true
            try channel.change(registration, to: interest, on: loop)
        } catch {
            // A terminal reports EIO after the last program has closed it.
            attend()
            if isAttended, openings == nil { end(error) }
        }
    }

    private func end(_ error: Errno? = nil) {
        guard isOpen else { return }
        fault = error
        close()
        onEnd?(self)
    }
}
