// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
package import VirtualRadio

/// The transport to a controller in memory.
///
/// To be used on the loop's thread.
package final class MemoryTransport: PacketTransport {
    /// The controller, for its faults.
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

    /// Hands over the waiting packets, both ways.
    func deliver() {
        guard let radio else { return }
        let packets = toController
        toController = []
        for packet in packets { controller.receive(packet, now: radio.now) }
        while let packet = controller.nextPacket() { onReceive?(packet.span) }
    }
}
