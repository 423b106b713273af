// SPDX-License-Identifier: GPL-2.0-or-later

import LinuxIO
import SystemPackage

/// The open descriptor that a line's packets pass through, which is closed with this object.
protocol PacketDescriptor: AnyObject {
    /// Lends the descriptor.
    func withDescriptor<Value>(_ body: (borrowing Descriptor) throws(Errno) -> Value) throws(Errno) -> Value
    /// Writes bytes, as many as are taken now.
    func write(_ bytes: borrowing RawSpan) throws(Errno) -> NonBlocking<Int>
}

/// What the transports over a descriptor have in common: it is watched, takes packets when it can, is closed once, and its end is told once.
///
/// To be used on the event loop's thread.
final class PacketLine<Opened: PacketDescriptor> {
    /// Nil once the line is closed.
    private(set) var opened: Opened?
    private let loop: EventLoop
    private var registration: EventLoop.Registration?
    /// A descriptor that is still connecting is asked what became of it when it is first ready.
    private var isConnecting: Bool
    private var isWaitingToWrite: Bool
    private var queue = OutgoingQueue()
    private var failureTimer: EventLoop.Timer?
    /// What is said when the descriptor takes no packet, before the error.
    private let refusal: String

    /// Called when there is something to read, or the far end has gone.
    var onReadable: (() -> Void)?
    /// Called once when the line has ended by itself, with the reason for people.
    var onClosed: ((String) -> Void)?

    /// Watches a descriptor from now on.
    init(_ opened: Opened, isConnecting: Bool = false, refusal: String, on loop: EventLoop) throws(Errno) {
        self.opened = opened
        self.loop = loop
        self.isConnecting = isConnecting
        self.refusal = refusal
        isWaitingToWrite = isConnecting
        registration = try opened.withDescriptor { descriptor throws(Errno) in
            try loop.watch(descriptor, for: isConnecting ? [.readable, .writable] : .readable) {
                [weak self] readiness in
                self?.handle(readiness)
            }
        }
    }

    deinit { close() }

    /// False once the line is closed.
    var isOpen: Bool { registration != nil }

    /// Writes a packet, or keeps it until it can be written.
    func send(_ packet: [UInt8]) {
        guard isOpen else { return }
        guard queue.append(packet) else {
            failLater("the controller takes no more data")
            return
        }
        // A failure is reported from the loop: who sends does not expect it.
        if !isWaitingToWrite, let reason = write() { failLater(reason) }
    }

    /// Lets go of the descriptor; nothing more is reported.
    func close() {
        if let failureTimer { loop.cancel(failureTimer) }
        failureTimer = nil
        if let registration {
            try? opened?.withDescriptor { descriptor in loop.unwatch(registration, descriptor) }
        }
        registration = nil
        opened = nil
        queue.removeAll()
    }

    /// Closes the line and says why.
    func fail(_ reason: String) {
        guard isOpen else { return }
        close()
        onClosed?(reason)
    }

    private func handle(_ readiness: EventLoop.Readiness) {
        if isConnecting {
            guard !readiness.isDisjoint(with: [.writable, .error, .hangUp]) else { return }
            isConnecting = false
            if let error = try? opened?.withDescriptor({ descriptor in descriptor.takePendingError() }) {
                fail("cannot connect to the controller: \(error)")
                return
            }
        }
        if readiness.contains(.writable), let reason = write() {
            fail(reason)
            return
        }
        if readiness.hasInput { onReadable?() }
    }

    /// Writes what waits; returns why that cannot be.
    private func write() -> String? {
        do throws(Errno) {
            let isDone = try queue.drain { bytes throws(Errno) in
                // Sound: the bytes are the packet's, which outlives the call.
                guard case .done(let count)? = try unsafe opened?.write(bytes.bytes) else { return nil }
                return count
            }
            try watch(isWriting: !isDone)
            return nil
        } catch {
            return "\(refusal): \(error)"
        }
    }

    private func watch(isWriting: Bool) throws(Errno) {
        guard let registration, let opened, isWriting != isWaitingToWrite else { return }
        isWaitingToWrite = isWriting
        try opened.withDescriptor { descriptor throws(Errno) in
            try loop.change(registration, descriptor, to: isWriting ? [.readable, .writable] : .readable)
        }
    }

    private func failLater(_ reason: String) {
        guard failureTimer == nil else { return }
        failureTimer = loop.schedule(at: MonotonicClock.now) { [weak self] in
            self?.failureTimer = nil
            self?.fail(reason)
        }
    }
}
