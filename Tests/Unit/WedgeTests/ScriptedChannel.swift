// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import BluetoothPackets
import Configuration
import Link
import LinuxIO

/// Connection with a serial device, which answers by a script and sends notifications at the test's request.
final class ScriptedChannel: ATTChannel {
    let device: DeviceAddress
    let droppedPackets: UInt32 = 0
    var onReceive: ((Span<UInt8>) -> Void)?
    var onGap: (() -> Void)?
    var onWritable: (() -> Void)?
    var onClosed: ((LinkFailure) -> Void)?
    private(set) var isClosed = false
    let script: ScriptedDevice
    private let loop: EventLoop

    /// Creates a connection; without a script, with a device that sends and receives as in the profile LINBLE.
    init(
        _ device: DeviceAddress,
        _ loop: EventLoop,
        _ script: ScriptedDevice = ScriptedDevice([.init(.linble)], LinkSetup(profile: .linble))
    ) {
        self.device = device
        self.loop = loop
        self.script = script
    }

    func send(_ pdu: [UInt8]) throws(LinkFailure) -> Bool {
        _ = loop.schedule(at: .zero) { [self] in
            for answer in script.answers(to: pdu) { onReceive?(answer.span) }
        }
        return true
    }

    func close() {
        isClosed = true
        onReceive = nil
        onClosed = nil
    }

    func notify(_ value: [UInt8]) { onReceive?(([0x1B, 0x14, 0x00] + value).span) }

    /// Ends the connection on the device's side.
    func lose(_ failure: LinkFailure = .closedByPeer) {
        let handler = onClosed
        close()
        handler?(failure)
    }
}
