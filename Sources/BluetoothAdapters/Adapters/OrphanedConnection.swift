// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import LinuxIO
import SystemPackage

/// Detects a link that was established while its connection attempt was being cancelled, on the caller's clock.
///
/// If the controller has just made the connection, it rejects the kernel's command to cancel the attempt. By then,
/// kernels from 6.1 on have removed the attempt, so they do not know about the controller's link. They neither report
/// nor end the link, and the connected device does not advertise. The corresponding C functions are
/// `hci_abort_conn_sync` and `le_conn_complete_evt`.
struct OrphanedConnection: Sendable {
    enum Step: Equatable, Sendable {
        /// Wait until the next deadline.
        case wait
        /// End the connection with this handle, and stop watching.
        case disconnect(handle: UInt16)
        /// Stop watching: no such link was established.
        case end
    }

    /// Maximum time to wait for a link to be established; a controller may take 2 s to answer the cancel command.
    static let patience = Duration.seconds(5)
    /// Maximum time for the kernel to report a link that it knows about.
    static let limit = Duration.seconds(1)

    /// The time at which to call `check`; nil while the attempt is in progress.
    private(set) var deadline: Duration?
    /// The handle of a link that the kernel has not reported yet; nil if there is none.
    private var handle: UInt16?
    /// True if the kernel's report of a link was read before the link's HCI event.
    ///
    /// The two arrive on different sockets, so either can come first.
    private var isToldAhead = false

    /// Records that the attempt is being cancelled now.
    mutating func noteEnd(now: Duration) {
        deadline = now + (handle == nil ? Self.patience : Self.limit)
    }

    /// Handles an event packet from a raw socket; the first byte is its H4 indicator.
    mutating func handle(_ packet: Span<UInt8>, now: Duration) {
        guard let event = try? HCIEvent(packet) else { return }
        switch event {
        case .leMeta(let subevent, let parameters):
            guard let link = try? LEConnectionComplete(subevent, parameters), link.status == .success else { return }
            guard !isToldAhead else {
                isToldAhead = false
                return
            }
            guard link.role == .central else { return }
            handle = link.handle
            if deadline != nil { deadline = now + Self.limit }
        case .disconnectionComplete(.success, handle, _): handle = nil
        default: break
        }
    }

    /// Records that the kernel has reported the link, so the link is not orphaned.
    mutating func noteKnownLink() {
        isToldAhead = handle == nil
        handle = nil
    }

    func check(now: Duration) -> Step {
        guard let deadline, now >= deadline else { return .wait }
        return handle.map { .disconnect(handle: $0) } ?? .end
    }
}

/// A raw HCI socket that monitors a connection attempt, and ends a link that remains after the attempt was cancelled.
///
/// Used on the event loop's thread, from before the attempt until it has succeeded, or until `onEnd` is called.
final class OrphanedConnectionWatch {
    /// The handler that is called once, when the watch ends; `hasEnded` is true if the watch has ended a link.
    var onEnd: ((_ hasEnded: Bool) -> Void)?

    private let loop: EventLoop
    private let socket: HCISocket
    private var registration: EventLoop.Registration?
    private let timer = LoopTimer()
    private var link = OrphanedConnection()
    private var buffer = [UInt8](repeating: 0, count: HCISocket.packetCapacity)

    convenience init(controller index: ControllerIndex, on loop: EventLoop) throws(Errno) {
        let events = [HCIEvent.Code.leMeta, HCIEvent.Code.disconnectionComplete]
        try self.init(try HCISocket(controller: index.rawValue, events: events), on: loop)
    }

    /// Creates a watch that uses a socket whose filter lets connection events through.
    init(_ socket: consuming HCISocket, on loop: EventLoop) throws(Errno) {
        self.loop = loop
        self.socket = socket
        registration = try loop.watch(self.socket.descriptor, for: .readable) { [weak self] _ in self?.read() }
    }

    deinit { close() }

    /// Closes the socket; no handler is called afterwards.
    func close() {
        onEnd = nil
        timer.cancel()
        if let registration { loop.unwatch(registration, socket.descriptor) }
        registration = nil
    }

    /// Records that the attempt was cancelled.
    func noteEnd() {
        guard registration != nil else { return }
        link.noteEnd(now: MonotonicClock.now)
        setTimer()
    }

    func noteKnownLink() { link.noteKnownLink() }

    private func read() {
        // A connection that has just been made changes the deadline.
        defer { if registration != nil { setTimer() } }
        do throws(Errno) {
            for _ in 0..<HCISocket.batch {
                guard case .done(let packet) = try socket.descriptor.receive(into: &buffer), packet.count > 0 else {
                    return
                }
                link.handle(buffer.span.extracting(first: packet.count), now: MonotonicClock.now)
            }
        } catch {
            // The adapter was removed; the management channel reports this.
            end()
        }
    }

    private func setTimer() {
        timer.set(on: loop, at: link.deadline) { [weak self] in
            guard let self else { return }
            switch link.check(now: MonotonicClock.now) {
            case .wait: setTimer()
            case .end: end()
            case .disconnect(let handle):
                let sent = try? socket.send(HCICommand.disconnect(handle: handle).encoded)
                end(sent != nil)
            }
        }
    }

    func end(_ hasEnded: Bool = false) {
        let handler = onEnd
        close()
        handler?(hasEnded)
    }
}
