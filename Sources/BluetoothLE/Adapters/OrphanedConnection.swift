// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import LinuxIO
import SystemPackage

/// The look for a link that came up as its attempt was given up, on the caller's clock.
///
/// The kernel's command that ends an attempt is refused by a controller that has just made the connection. Kernels from
/// 6.1 on have forgotten the attempt by then: the link stands in the controller, and they know nothing of it. They tell
/// nobody of it and never end it, and the device, which is connected, does not advertise. The corresponding C functions
/// are `hci_abort_conn_sync` and `le_conn_complete_evt`.
struct OrphanedConnection: Sendable {
    enum Step: Equatable, Sendable {
        /// Nothing before the next deadline.
        case wait
        /// End the connection with this handle, and the look.
        case disconnect(handle: UInt16)
        /// End the look: no such link has come.
        case end
    }

    /// The time in which a link may come: a controller may take 2 s to answer the command.
    static let patience = Duration.seconds(5)
    /// The time in which the kernel tells of a link that it knows.
    static let limit = Duration.seconds(1)

    /// The time at which `check` is to be called; nil while the attempt is made.
    private(set) var deadline: Duration?
    /// The handle of a link of which the kernel has not told yet; nil for none.
    private var handle: UInt16?
    /// True when the kernel's word of a link was read before the link's own event: they come by different sockets.
    private var isToldAhead = false

    /// Notes that the attempt is given up now.
    mutating func noteEnd(now: Duration) {
        deadline = now + (handle == nil ? Self.patience : Self.limit)
    }

    /// Takes an event packet, its indicator included, as a raw socket passes it.
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

    /// Notes that the kernel has told of a link: it knows the one that has come.
    mutating func noteKnownLink() {
        isToldAhead = handle == nil
        handle = nil
    }

    func check(now: Duration) -> Step {
        guard let deadline, now >= deadline else { return .wait }
        return handle.map { .disconnect(handle: $0) } ?? .end
    }
}

/// A raw HCI socket that reads what comes of an attempt to connect, and, where it is given up, ends a link of which the
/// kernel knows nothing.
///
/// It is used on the event loop's thread, from before the attempt until it has succeeded, or until `onEnd`.
final class OrphanedConnectionWatch {
    /// The handler that is called once when the look is over; `hasEnded` is true if a link was ended.
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

    /// Takes over a socket that passes the events of connections.
    init(_ socket: consuming HCISocket, on loop: EventLoop) throws(Errno) {
        self.loop = loop
        self.socket = socket
        registration = try loop.watch(self.socket.descriptor, for: .readable) { [weak self] _ in self?.read() }
    }

    deinit { close() }

    /// Closes the socket; no handler is called any more.
    func close() {
        onEnd = nil
        timer.cancel()
        if let registration { loop.unwatch(registration, socket.descriptor) }
        registration = nil
    }

    /// Notes that the attempt is given up.
    func noteEnd() {
        guard registration != nil else { return }
        link.noteEnd(now: MonotonicClock.now)
        setTimer()
    }

    func noteKnownLink() { link.noteKnownLink() }

    private func read() {
        do throws(Errno) {
            for _ in 0..<HCISocket.batch {
                guard case .done(let packet) = try socket.descriptor.receive(into: &buffer), packet.count > 0 else {
                    return
                }
                link.handle(buffer.span.extracting(first: packet.count), now: MonotonicClock.now)
            }
        } catch {
            // The adapter was removed, which its management tells.
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
