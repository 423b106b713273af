// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
package import BluetoothPackets
package import LinuxIO
package import VirtualRadio

/// Simulated radio that runs on the event loop's clock and provides a transport to each of its controllers.
package final class MemoryRadio {
    /// Underlying radio, for example to move controllers out of each other's range.
    package let radio: VirtualRadio

    private let loop: EventLoop
    private let speed: Int
    private let start: Duration
    private let timer = LoopTimer()
    private var isScheduled = false
    private var transports: [MemoryTransport] = []

    /// Creates a radio without controllers.
    ///
    /// Its clock runs `speed` times as fast as the loop's clock; `speed` is 1 … 1,000.
    package init(on loop: EventLoop, speed: Int = 1) {
        self.loop = loop
        self.speed = min(max(speed, 1), 1000)
        start = MonotonicClock.now
        radio = VirtualRadio(now: start)
    }

    package func addController(_ address: BluetoothAddress) -> MemoryTransport {
        addController(VirtualController.Configuration(address: address))
    }

    package func addController(_ configuration: VirtualController.Configuration) -> MemoryTransport {
        let transport = MemoryTransport(radio.addController(configuration), self)
        transports.append(transport)
        return transport
    }

    var now: Duration { start + (MonotonicClock.now - start) * speed }

    /// Schedules the radio's due events to be processed in the next turn of the loop.
    func wake() {
        guard !isScheduled else { return }
        isScheduled = true
        timer.set(on: loop, after: .zero) { [weak self] in self?.run() }
    }

    private func run() {
        isScheduled = false
        radio.advance(to: now)
        for transport in transports { transport.deliver() }
        guard !isScheduled, let deadline = radio.deadline else { return }
        timer.set(on: loop, at: start + (deadline - start) / speed) { [weak self] in self?.run() }
    }
}

/// Transport to a simulated controller, for use on the loop's thread only.
package final class MemoryTransport: PacketTransport {
    /// Controller at the other end, for example to inject faults.
    package let controller: VirtualController

    private weak var radio: MemoryRadio?
    private var toController: [[UInt8]] = []

    package var onReceive: ((Span<UInt8>) -> Void)?
    package var onClosed: ((String) -> Void)?

    init(_ controller: VirtualController, _ radio: MemoryRadio) {
        self.controller = controller
        self.radio = radio
    }

    package func send(_ packet: [UInt8]) {
        toController.append(packet)
        radio?.wake()
    }

    package func close() {
        onReceive = nil
        onClosed = nil
    }

    /// Delivers the queued packets in both directions.
    func deliver() {
        guard let radio else { return }
        let packets = toController
        toController = []
        for packet in packets { controller.receive(packet, now: radio.now) }
        while let packet = controller.nextPacket() { onReceive?(packet.span) }
    }
}
