// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
package import BluetoothPackets
import SystemPackage

/// The ATT channel of a connection of the host stack in this process.
///
/// It is used on the event loop's thread.
package final class HostChannel: ATTChannel {
    let connection: LowEnergyHost.Connection
    private weak var adapter: HostAdapter?
    private var isOpen = true

    package var onReceive: ((Span<UInt8>) -> Void)?
    /// Never called: between the host stack and its reader no packet is dropped.
    package var onGap: (() -> Void)?
    package var onWritable: (() -> Void)?
    package var onClosed: ((LinkFailure) -> Void)?

    init(_ connection: LowEnergyHost.Connection, _ adapter: HostAdapter) {
        self.connection = connection
        self.adapter = adapter
    }

    package var device: DeviceAddress { connection.peer }
    /// Always 0: between the host stack and its reader no packet is dropped.
    package var droppedPackets: UInt32 { 0 }

    package func send(_ pdu: [UInt8]) throws(LinkFailure) -> Bool {
        guard isOpen, let adapter else { throw .system(.socketNotConnected) }
        return adapter.send(pdu, on: connection.handle)
    }

    /// Closes the channel and ends the connection, which has no other channel.
    package func close() {
        guard isOpen else { return }
        isOpen = false
        onReceive = nil
        onWritable = nil
        onClosed = nil
        adapter?.end(connection)
    }

    /// Reports the end of the connection, once.
    func noteEnd(_ failure: LinkFailure) {
        guard isOpen else { return }
        isOpen = false
        let handler = onClosed
        onReceive = nil
        onWritable = nil
        onClosed = nil
        handler?(failure)
    }
}

extension LinkFailure {
    /// The failure for an HCI status, with the `Errno` that the kernel's sockets give for it.
    init(_ status: HCIStatus) {
        switch status {
        case .remoteUserTerminatedConnection: self = .system(.connectionReset)
        case .connectionTimeout: self = .system(.timedOut)
        case .connectionFailedToBeEstablished: self = .notEstablished
        case .connectionTerminatedByLocalHost: self = .system(.connectionAbort)
        case .connectionLimitExceeded: self = .system(.tooManyLinks)
        case .connectionAlreadyExists: self = .system(.socketIsConnected)
        case .commandDisallowed: self = .system(.resourceBusy)
        default: self = .system(.connectionAbort)
        }
    }
}
