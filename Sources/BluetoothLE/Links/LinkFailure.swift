// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
package import SystemPackage

/// The reason for which a link ended, or was not made.
package enum LinkFailure: Error, Equatable, CustomStringConvertible {
    /// The kernel refused or ended the connection, with this error.
    case system(Errno)
    /// The connection was not made within this time.
    case timedOut(Duration)
    /// The peer broke the rules of the Attribute Protocol, or did not answer in time.
    case bearer(ATTBearer.Failure)
    /// The peer closed the channel.
    case closedByPeer
    /// The adapter was lost, for this reason.
    case adapterLost(String)

    /// The failure in a few English words.
    package var description: String {
        switch self {
        case .system(.connectionReset): "the device ended the connection"
        case .system(.timedOut): "the device is out of reach"
        case .system(.connectionAbort): "the connection was aborted"
        case .system(let error): "\(error)"
        case .timedOut(let time): "no connection within \(time.components.seconds) s"
        case .bearer(.transactionTimeout(let opcode)): "the device did not answer \(opcode) within 30 s"
        case .bearer(let failure): "the device broke the Attribute Protocol: \(failure)"
        case .closedByPeer: "the device closed the channel"
        case .adapterLost(let reason): reason
        }
    }
}
