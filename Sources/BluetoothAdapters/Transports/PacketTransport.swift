// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothPackets
package import LinuxIO
import SystemPackage

/// The transport of HCI packets to and from a controller used exclusively by this process.
///
/// The first byte of each packet is its H4 indicator.
package protocol PacketTransport: AnyObject {
    /// The handler of each packet from the controller, called before the next packet is read, and never during `send`.
    ///
    /// The span is valid only during the call.
    var onReceive: ((Span<UInt8>) -> Void)? { get set }
    /// The handler that is called once, when the connection to the controller ends, with the reason in English.
    var onClosed: ((String) -> Void)? { get set }

    /// The handler that is called when the received bytes cannot be parsed; it returns true if it has sent a Reset.
    ///
    /// The response to the Reset resynchronises the stream. Without a handler, or if it returns false, the connection
    /// to the controller ends.
    var onUnreadable: (() -> Bool)? { get set }
    /// Number of bytes discarded while searching for the response to a Reset.
    var droppedBytes: UInt64 { get }

    /// Sends one packet, or queues it until it can be sent; the controller's flow control limits the queue.
    func send(_ packet: [UInt8])
    /// Releases the controller; no handler is called afterwards.
    func close()
}

extension PacketTransport {
    /// Never called, because a transport that delivers whole packets has no unreadable bytes.
    package var onUnreadable: (() -> Bool)? {
        get { nil }
        set {}
    }
    /// Always 0: a transport of whole packets drops no bytes.
    package var droppedBytes: UInt64 { 0 }
}

/// The open descriptor of a `PacketLine`, which is closed when this object is deallocated.
protocol PacketDescriptor: AnyObject {
    func withDescriptor<Value>(_ body: (borrowing Descriptor) throws(Errno) -> Value) throws(Errno) -> Value
    /// Writes as many bytes as the descriptor has room for.
    func write(_ bytes: borrowing RawSpan) throws(Errno) -> NonBlocking<Int>
}

/// The part that all transports with a descriptor share.
///
/// It watches the descriptor, writes packets when there is room, closes the descriptor once, and reports the end once.
final class PacketLine<Opened: PacketDescriptor> {
    /// The open descriptor; nil once the line is closed.
    private(set) var opened: Opened?
    private let loop: EventLoop
    private var registration: EventLoop.Registration?
    /// True until a connecting descriptor becomes writable; at that point its pending error is read.
    private var isConnecting: Bool
    private var isWaitingToWrite: Bool
    private var queue = OutgoingQueue()
    private let failureTimer = LoopTimer()
    /// The beginning of the error message for a failed write.
    private let refusal: String

    /// The handler that is called when there are bytes to read, or when the peer has closed the line.
    var onReadable: (() -> Void)?
    /// The handler that is called once, when the line is closed by an error or by the peer, with the reason in English.
    var onClosed: ((String) -> Void)?

    /// Takes ownership of a descriptor, and starts watching it.
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

    /// Closes the descriptor; no handler is called afterwards.
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

    /// Writes the queued packets; returns the reason in English if that fails, nil otherwise.
    private func write() -> String? {
        do throws(Errno) {
            let isDone = try queue.drain { bytes throws(Errno) in
                // Sound: the bytes belong to the packet, which outlives the call.
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

/// A bounded queue of packets waiting for room in a descriptor.
struct OutgoingQueue {
    private var packets: [[UInt8]] = []
    /// Number of bytes of the first packet that are already written.
    private var offset = 0
    private var byteCount = 0

    /// Maximum number of queued bytes.
    ///
    /// It exceeds the buffer size of any controller, so reaching it means that the controller has stopped reading.
    static let capacity = 1 << 20

    var isEmpty: Bool { packets.isEmpty }

    /// Appends a packet; returns false if the queue has no room for it.
    mutating func append(_ packet: [UInt8]) -> Bool {
        guard byteCount &+ packet.count <= Self.capacity else { return false }
        byteCount &+= packet.count
        packets.append(packet)
        return true
    }

    /// Flushes the queue until `write` would block; returns true if the queue is empty.
    ///
    /// `write` returns the number of bytes written, or nil if it would block.
    mutating func drain(_ write: (Span<UInt8>) throws(Errno) -> Int?) throws(Errno) -> Bool {
        while let packet = packets.first {
            guard let count = try write(packet.span.extracting(droppingFirst: offset)) else { return false }
            remove(count)
        }
        return true
    }

    /// Removes `count` bytes from the first packet.
    private mutating func remove(_ count: Int) {
        guard let first = packets.first else { return }
        offset &+= count
        guard offset >= first.count else { return }
        byteCount &-= first.count
        packets.removeFirst()
        offset = 0
    }

    mutating func removeAll() { self = OutgoingQueue() }
}

/// The transport to a local controller over the HCI user channel, which gives this process exclusive access.
package final class UserChannelTransport: PacketTransport {
    private let line: PacketLine<Opened>
    private var buffer = [UInt8](repeating: 0, count: HCIUserChannel.packetCapacity)

    package var onReceive: ((Span<UInt8>) -> Void)?
    package var onClosed: ((String) -> Void)? {
        get { line.onClosed }
        set { line.onClosed = newValue }
    }

    private final class Opened: PacketDescriptor {
        let channel: HCIUserChannel

        init(_ channel: consuming HCIUserChannel) { self.channel = channel }

        func withDescriptor<Value>(_ body: (borrowing Descriptor) throws(Errno) -> Value) throws(Errno) -> Value {
            try body(channel.descriptor)
        }

        func write(_ bytes: borrowing RawSpan) throws(Errno) -> NonBlocking<Int> {
            try channel.descriptor.write(bytes)
        }
    }

    /// Maximum number of packets read in a row before the loop handles its other descriptors.
    private static let batch = 64

    /// Takes over a controller; its adapter must be powered off.
    package init(controller index: ControllerIndex, on loop: EventLoop) throws(AdapterError) {
        do throws(Errno) {
            let opened = Opened(try HCIUserChannel(controller: index.rawValue))
            line = try PacketLine(opened, refusal: "the adapter takes no packets", on: loop)
        } catch {
            throw Self.error(error, "hci\(index.rawValue)")
        }
        line.onReadable = { [weak self] in self?.read() }
    }

    package func send(_ packet: [UInt8]) { line.send(packet) }

    package func close() { line.close() }

    /// Returns the error for a controller that cannot be taken over.
    static func error(_ error: Errno, _ name: String) -> AdapterError {
        switch error.recovery(of: .hci) {
        case .later where error == .resourceBusy:
            .controller(
                "\(name) is in use: the user channel needs it down (`hciconfig \(name) down`), and for one program"
            )
        case .adapterLost where error == .operationNotSupportedByDevice: .noAdapter
        case .forbidden: .notPermitted(missing: Capability.missing)
        case .absent: .noBluetoothInKernel
        default: .system("take \(name) over the user channel", error)
        }
    }

    private func read() {
        do throws(Errno) {
            for _ in 0..<Self.batch {
                guard case .done(let packet)? = try line.opened?.channel.descriptor.receive(into: &buffer) else {
                    return
                }
                guard packet.count > 0 else {
                    line.fail(AdapterErrorDescription.gone)
                    return
                }
                onReceive?(buffer.span.extracting(first: packet.count))
                if !line.isOpen { return }
            }
        } catch {
            line.fail("\(AdapterErrorDescription.gone): \(error)")
        }
    }
}
