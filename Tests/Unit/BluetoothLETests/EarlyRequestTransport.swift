// SPDX-License-Identifier: GPL-2.0-or-later

import VirtualAdapters

@testable import BluetoothAdapters

/// Transport on which data can arrive before events, as over USB: a Security Request of the peripheral precedes the
/// event of its connection.
final class EarlyRequestTransport: PacketTransport {
    private let inner: MemoryTransport
    /// True for peripherals that send a Security Request immediately.
    var isEarly = false
    /// Receives each Encryption Change event instead of the adapter, to pass it on with `deliver`; nil passes it on at
    /// once.
    var onEncryption: (([UInt8]) -> Void)?

    init(_ inner: MemoryTransport) { self.inner = inner }

    var onReceive: ((Span<UInt8>) -> Void)? {
        didSet { inner.onReceive = onReceive == nil ? nil : { [unowned self] packet in take(packet) } }
    }
    var onClosed: ((String) -> Void)? {
        get { inner.onClosed }
        set { inner.onClosed = newValue }
    }

    func send(_ packet: [UInt8]) { inner.send(packet) }

    /// Passes a packet to the adapter as one of the controller.
    func deliver(_ packet: [UInt8]) { onReceive?(packet.span) }

    func close() {
        onReceive = nil
        inner.close()
    }

    private func take(_ packet: Span<UInt8>) {
        // A successful LE Connection Complete or LE Enhanced Connection Complete event.
        let isConnection = packet.count > 8 && packet[0] == 0x04 && packet[1] == 0x3E && packet[4] == 0
        if isEarly, isConnection, [0x01, 0x0A].contains(packet[3]) {
            let request: [UInt8] = [2, packet[5], packet[6] | 0x20, 6, 0, 2, 0, 6, 0, 0x0B, 0x01]
            onReceive?(request.span)
        }
        // The first or second version of the Encryption Change event.
        if let onEncryption, packet.count > 2, packet[0] == 0x04, [0x08, 0x59].contains(packet[1]) {
            return onEncryption(packet.indices.map { packet[$0] })
        }
        onReceive?(packet)
    }
}
