// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
package import LinuxIO
package import SystemPackage

/// A controller at the other end of a stream of H4 packets.
///
/// To be used on the event loop's thread. Core 6.0, Vol 4, Part A.
package final class H4StreamTransport: PacketTransport {
    /// Nil once the stream is closed.
    private var opened: Opened?
    private let loop: EventLoop
    private var registration: EventLoop.Registration?
    private var isConnecting: Bool
    private var isWaitingToWrite: Bool
    private var reader = H4Reader(from: .controller)
    private var queue = OutgoingQueue()
    private var buffer = [UInt8](repeating: 0, count: 16384)
    private var failureTimer: EventLoop.Timer?

    package var onReceive: ((Span<UInt8>) -> Void)?
    package var onClosed: ((String) -> Void)?

    /// The open stream, which is closed with this.
    private final class Opened {
        let stream: ByteStream

        init(_ stream: consuming ByteStream) { self.stream = stream }
    }

    /// How often the stream is read before the loop may look elsewhere.
    private static let batch = 16

    /// Takes the stream over.
    package init(_ stream: consuming ByteStream, on loop: EventLoop) throws(Errno) {
        self.loop = loop
        isConnecting = stream.isConnecting
        isWaitingToWrite = stream.isConnecting
        let opened = Opened(stream)
        self.opened = opened
        registration = try loop.watch(
            opened.stream.descriptor,
            for: isConnecting ? [.readable, .writable] : .readable
        ) { [weak self] readiness in self?.handle(readiness) }
    }

    /// Opens the stream that leads there.
    package convenience init(to address: H4Address, on loop: EventLoop) throws(AdapterError) {
        do throws(Errno) {
            let stream =
                switch address {
                case .unixSocket(let path): try ByteStream(unixSocket: path)
                case .tcp(let host, let port): try ByteStream(host: host, port: port)
                case .serialLine(let path, let speed): try ByteStream(serialLine: path, speed: speed)
                }
            try self.init(stream, on: loop)
        } catch {
            throw .stream(address, error)
        }
    }

    deinit { close() }

    package func send(_ packet: [UInt8]) {
        guard registration != nil else { return }
        guard queue.append(packet) else {
            failLater("the controller takes no more data")
            return
        }
        // A failure is reported from the loop: who sends does not expect it.
        if !isWaitingToWrite, let reason = write() { failLater(reason) }
    }

    package func close() {
        if let failureTimer { loop.cancel(failureTimer) }
        failureTimer = nil
        if let registration, let opened { loop.unwatch(registration, opened.stream.descriptor) }
        registration = nil
        opened = nil
        queue.removeAll()
    }

    private func handle(_ readiness: EventLoop.Readiness) {
        if isConnecting {
            guard !readiness.isDisjoint(with: [.writable, .error, .hangUp]) else { return }
            isConnecting = false
            if let error = opened?.stream.descriptor.takePendingError() {
                fail("cannot connect to the controller: \(error)")
                return
            }
        }
        if readiness.contains(.writable), let reason = write() {
            fail(reason)
            return
        }
        if !readiness.isDisjoint(with: [.readable, .error, .hangUp]) { read() }
    }

    private func read() {
        for _ in 0..<Self.batch {
            let count: Int
            do throws(Errno) {
                guard case .done(let bytes)? = try opened?.stream.descriptor.read(into: &buffer) else { return }
                count = bytes
            } catch {
                fail("the stream from the controller broke: \(error)")
                return
            }
            guard count > 0 else {
                fail(
                    reader.isInsidePacket
                        ? "the stream from the controller ended inside a packet"
                        : "the stream from the controller ended"
                )
                return
            }
            do throws(H4Reader.Failure) {
                try reader.read(buffer.span.extracting(first: count)) { packet in
                    // Who receives may close.
                    if registration != nil { onReceive?(packet) }
                }
            } catch {
                fail("the stream from the controller is no H4: \(error)")
                return
            }
            if registration == nil { return }
        }
    }

    /// Writes what waits; returns why that cannot be.
    private func write() -> String? {
        do throws(Errno) {
            let isDone = try queue.drain { bytes throws(Errno) in
                // Sound: the bytes are the packet's, which outlives the call.
                guard case .done(let count)? = try unsafe opened?.stream.write(bytes.bytes) else { return nil }
                return count
            }
            try watch(isWriting: !isDone)
            return nil
        } catch {
            return "the stream to the controller broke: \(error)"
        }
    }

    private func watch(isWriting: Bool) throws(Errno) {
        guard let registration, let opened, isWriting != isWaitingToWrite else { return }
        isWaitingToWrite = isWriting
        try loop.change(registration, opened.stream.descriptor, to: isWriting ? [.readable, .writable] : .readable)
    }

    private func failLater(_ reason: String) {
        guard failureTimer == nil else { return }
        failureTimer = loop.schedule(at: MonotonicClock.now) { [weak self] in
            self?.failureTimer = nil
            self?.fail(reason)
        }
    }

    private func fail(_ reason: String) {
        guard registration != nil else { return }
        close()
        onClosed?(reason)
    }
}
