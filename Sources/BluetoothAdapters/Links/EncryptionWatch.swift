// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import LinuxIO
import SystemPackage

/// Raw HCI socket that records when the controller reported the encryption of a connection.
///
/// The channel's socket does not report whether a packet came before or after the encryption. Both sockets report, on
/// the same clock, the time at which the kernel received a packet.
final class EncryptionWatch {
    private let socket: HCISocket
    private var buffer = [UInt8](repeating: 0, count: HCISocket.packetCapacity)
    private var times: [UInt16: Duration] = [:]

    init(controller index: ControllerIndex) throws(Errno) {
        let events = [HCIEvent.Code.encryptionChange, HCIEvent.Code.encryptionKeyRefreshComplete]
        socket = try HCISocket(controller: index.rawValue, events: events)
        try socket.stampPackets()
    }

    /// Returns the wall-clock time at which the connection with this handle became encrypted; nil if it is unknown.
    ///
    /// The kernel passes an event to this socket before it changes the security of the connection.
    func time(ofEncryption handle: UInt16) -> Duration? {
        for _ in 0..<HCISocket.batch {
            guard case .done(let (packet, facts))? = try? socket.descriptor.receiveStamped(into: &buffer),
                packet.count > 0
            else { break }
            guard case .other(let code, let parameters)? = try? HCIEvent(buffer.span.extracting(first: packet.count)),
                let change = try? EncryptionChange(code: code, parameters), change.status == .success
            else { continue }
            times[change.handle] = change.isOn ? facts.time : nil
        }
        return times[handle]
    }
}
