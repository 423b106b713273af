// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import LinuxIO
import SystemPackage

/// A raw HCI socket that reads what comes of an attempt to connect, and, where it is given up, ends a link of which the
/// kernel knows nothing.
///
/// It is used on the event loop's thread, from before the attempt until it has succeeded, or until `onEnd`.
final class CrossedLinkWatch {
    /// The handler that is called once when the look is over; `hasEnded` is true if a link was ended.
    var onEnd: ((_ hasEnded: Bool) -> Void)?

    private let loop: EventLoop
    private let socket: HCISocket
    private var registration: EventLoop.Registration?
    private let timer = LoopTimer()
    private var link = CrossedLink()
    private var buffer = [UInt8](repeating: 0, count: HCISocket.packetCapacity)

    /// Opens the socket.
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

    /// Notes that the kernel has told of a link.
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

    /// Ends the look.
    func end(_ hasEnded: Bool = false) {
        let handler = onEnd
        close()
        handler?(hasEnded)
    }
}
