// SPDX-License-Identifier: GPL-2.0-or-later

import LinuxIO
import SystemPackage

/// The open descriptor of a `PacketLine`, which is closed when this object is freed.
protocol PacketDescriptor: AnyObject {
    /// Calls `body` with the descriptor.
    func withDescriptor<Value>(_ body: (borrowing Descriptor) throws(Errno) -> Value) throws(Errno) -> Value
    /// Writes as many of the bytes as the descriptor has room for.
    func write(_ bytes: borrowing RawSpan) throws(Errno) -> NonBlocking<Int>
}

/// The common part of the transports over a descriptor: watching it, writing packets when it has room, closing it
/// once, and reporting its end once.
///
/// It is used on the event loop's thread.
final class PacketLine<Opened: PacketDescriptor> {
    /// The open descriptor; nil once the line is closed.
    private(set) var opened: Opened?
    private let loop: EventLoop
    private var registration: EventLoop.Registration?
    /// True until a descriptor that is connecting is first writable; its pending error is read then.
    private var isConnecting: Bool
    private var isWaitingToWrite: Bool
    private var queue = OutgoingQueue()
    private let failureTimer = LoopTimer()
    /// The text before the error in the message of a failed write.
    private let refusal: String

    /// The handler that is called when there are bytes to read, or the far end has closed.
    var onReadable: (() -> Void)?
    /// The handler that is called once, when the line has ended by an error or by the far end, with the reason in
    /// English.
    var onClosed: ((String) -> Void)?

    /// Takes over a descriptor, and watches it from now on.
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

    /// True until the line is closed.
    var isOpen: Bool { registration != nil }

    /// Writes a packet, or queues it until it can be written.
    func send(_ packet: [UInt8]) {
        guard isOpen else { return }
        guard queue.append(packet) else {
            failLater("the controller takes no more data")
            return
        }
        // A failure is reported from the loop, because the sender expects no handler during the call.
        if !isWaitingToWrite, let reason = write() { failLater(reason) }
    }

    /// Closes the descriptor; no handler is called any more.
    func close() {
        failureTimer.cancel()
        if let registration {
            try? opened?.withDescriptor { descriptor in loop.unwatch(registration, descriptor) }
        }
        registration = nil
        opened = nil
        queue.removeAll()
    }

    /// Closes the line, and calls `onClosed` with the reason.
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

    /// Writes the packets that wait.
    ///
    /// Returns the reason in English if that fails, nil otherwise.
    private func write() -> String? {
        do throws(Errno) {
            let isDone = try queue.drain { bytes throws(Errno) in
                // Sound: the bytes are those of the packet, which outlives the call.
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
        guard !failureTimer.isSet else { return }
        failureTimer.set(on: loop, after: .zero) { [weak self] in self?.fail(reason) }
    }
}
