// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
package import LinuxIO
package import SystemPackage

/// The transport to a controller at the other end of a stream of H4 packets.
///
/// A Reset that is sent begins the stream anew: everything before its answer is dropped, as a controller that was talking
/// to another host may be in the middle of a packet.
///
/// It is used on the event loop's thread. Core 6.0, Vol 4, Part A.
package final class H4StreamTransport: PacketTransport {
    private let line: PacketLine<Opened>
    private var reader = H4Reader(from: .controller)
    /// Looks for the answer to the Reset that was sent; nil when it has come.
    private var seeker: ResetAnswerSeeker?
    private var droppedBefore: UInt64 = 0
    private var buffer = [UInt8](repeating: 0, count: 16384)

    package var onReceive: ((Span<UInt8>) -> Void)?
    package var onUnreadable: (() -> Bool)?
    package var onClosed: ((String) -> Void)? {
        get { line.onClosed }
        set { line.onClosed = newValue }
    }

    private final class Opened: PacketDescriptor {
        let stream: ByteStream

        init(_ stream: consuming ByteStream) { self.stream = stream }

        func withDescriptor<Value>(_ body: (borrowing Descriptor) throws(Errno) -> Value) throws(Errno) -> Value {
            try body(stream.descriptor)
        }

        func write(_ bytes: borrowing RawSpan) throws(Errno) -> NonBlocking<Int> { try stream.write(bytes) }
    }

    /// The most reads in a row before the loop serves its other descriptors.
    private static let batch = 16

    /// Takes over a stream.
    package init(_ stream: consuming ByteStream, on loop: EventLoop) throws(Errno) {
        let isConnecting = stream.isConnecting
        line = try PacketLine(
            Opened(stream),
            isConnecting: isConnecting,
            refusal: "the stream to the controller broke",
            on: loop
        )
        line.onReadable = { [weak self] in self?.read() }
    }

    /// Opens the stream with this address.
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

    package var droppedBytes: UInt64 { droppedBefore &+ (seeker?.taken ?? 0) }

    package func send(_ packet: [UInt8]) {
        // A Reset that is sent again is answered by the answer to the first, too.
        if packet == HCICommand.reset.encoded, seeker == nil { seeker = ResetAnswerSeeker() }
        line.send(packet)
    }

    package func close() { line.close() }

    private func read() {
        for _ in 0..<Self.batch {
            let count: Int
            do throws(Errno) {
                guard case .done(let bytes)? = try line.opened?.stream.descriptor.read(into: &buffer) else { return }
                count = bytes
            } catch {
                line.fail("the stream from the controller broke: \(error)")
                return
            }
            guard count > 0 else {
                line.fail(end)
                return
            }
            take(buffer.span.extracting(first: count))
            if !line.isOpen { return }
        }
    }

    private var end: String {
        if seeker != nil { return "the stream from the controller ended before Reset was answered" }
        return reader.isInsidePacket
            ? "the stream from the controller ended inside a packet" : "the stream from the controller ended"
    }

    private func take(_ bytes: Span<UInt8>) {
        var used = 0
        if let found = seeker?.take(bytes) {
            droppedBefore &+= seeker?.dropped ?? 0
            seeker = nil
            reader = H4Reader(from: .controller)
            used = found.count
            onReceive?(found.answer.span)
        }
        // Another Reset was sent, or the first is not answered yet.
        guard seeker == nil, line.isOpen else { return }
        do throws(H4Reader.Failure) {
            try reader.read(bytes.extracting(droppingFirst: used)) { packet in
                // The handler may close the transport, or send a Reset.
                if line.isOpen, seeker == nil { onReceive?(packet) }
            }
        } catch {
            guard seeker == nil, line.isOpen, onUnreadable?() != true else { return }
            line.fail("the stream from the controller is no H4: \(error)")
        }
    }
}
