// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import VirtualAdapters

/// Socket of the machine, into which a simulated controller is plugged.
final class Socket {
    private let controller: MemoryTransport
    private var transport: ReplugTransport?
    /// True while the controller is plugged in.
    private(set) var isPlugged = true

    init(_ controller: MemoryTransport) {
        self.controller = controller
        controller.onReceive = { [unowned self] packet in transport?.onReceive?(packet) }
    }

    /// Opens a transport to the controller, for one adapter session.
    func open() -> ReplugTransport {
        let opened = ReplugTransport(self)
        transport = opened
        return opened
    }

    /// Unplugs the controller, which loses its state because it has no power.
    func pull() {
        isPlugged = false
        let closed = transport
        transport = nil
        reset()
        closed?.onClosed?("the controller was pulled")
    }

    /// Plugs the controller in again.
    func plug() { isPlugged = true }

    fileprivate func send(_ packet: [UInt8], from sender: ReplugTransport) {
        if sender === transport { controller.send(packet) }
    }

    fileprivate func close(_ closed: ReplugTransport) {
        if closed === transport { transport = nil }
    }

    /// Sends HCI Reset (Core 6.0, Vol 4, Part E, 7.3.2).
    private func reset() { controller.send([0x01, 0x03, 0x0C, 0x00]) }
}

/// Transport to a controller that can be unplugged.
final class ReplugTransport: PacketTransport {
    private weak var socket: Socket?
    var onReceive: ((Span<UInt8>) -> Void)?
    var onClosed: ((String) -> Void)?

    fileprivate init(_ socket: Socket) { self.socket = socket }

    func send(_ packet: [UInt8]) { socket?.send(packet, from: self) }

    func close() {
        onReceive = nil
        onClosed = nil
        socket?.close(self)
    }
}
