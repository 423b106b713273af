// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import LinuxIO
import VirtualRadio

/// A radio in memory that keeps the loop's time, with a way to each of its controllers.
///
/// To be used on the loop's thread.
final class MemoryRadio {
    private let loop: EventLoop
    private let radio: VirtualRadio
    private var timer: EventLoop.Timer?
    private var isScheduled = false
    private var transports: [MemoryTransport] = []

    init(on loop: EventLoop) {
        self.loop = loop
        radio = VirtualRadio(now: MonotonicClock.now)
    }

    deinit { if let timer { loop.cancel(timer) } }

    /// A new controller, and the way to it.
    func addController(_ address: BluetoothAddress) -> MemoryTransport {
        let transport = MemoryTransport(radio.addController(VirtualController.Configuration(address: address)), self)
        transports.append(transport)
        return transport
    }

    /// Lets happen what is due, soon, and not from within the caller.
    func wake() {
        guard !isScheduled else { return }
        isScheduled = true
        if let timer { loop.cancel(timer) }
        timer = loop.schedule(at: MonotonicClock.now) { [weak self] in self?.run() }
    }

    private func run() {
        isScheduled = false
        timer = nil
        radio.advance(to: MonotonicClock.now)
        for transport in transports { transport.deliver() }
        guard !isScheduled, let deadline = radio.deadline else { return }
        timer = loop.schedule(at: deadline) { [weak self] in self?.run() }
    }
}

/// The way to a controller in memory.
final class MemoryTransport: PacketTransport {
    private let controller: VirtualController
    private weak var radio: MemoryRadio?
    private var toController: [[UInt8]] = []

    var onReceive: ((Span<UInt8>) -> Void)?
    var onClosed: ((String) -> Void)?

    init(_ controller: VirtualController, _ radio: MemoryRadio) {
        self.controller = controller
        self.radio = radio
    }

    func send(_ packet: [UInt8]) {
        toController.append(packet)
        radio?.wake()
    }

    /// Hands over what waits, both ways.
    func deliver() {
        let packets = toController
        toController = []
        for packet in packets { controller.receive(packet, now: MonotonicClock.now) }
        while let packet = controller.nextPacket() { onReceive?(packet.span) }
    }

    func close() {
        onReceive = nil
        onClosed = nil
    }
}
