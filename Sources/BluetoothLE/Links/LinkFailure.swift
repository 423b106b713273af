// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
package import SystemPackage

/// Why a link is no more, or never was.
package enum LinkFailure: Error, Equatable, CustomStringConvertible {
    /// The kernel refused or broke the connection.
    case system(Errno)
    /// No connection came about in time.
    case timedOut(Duration)
    /// The peer broke the Attribute Protocol's rules.
    case bearer(ATTBearer.Failure)
    /// The peer closed the channel.
    case closedByPeer
    /// The adapter is gone, for the reason told.
    case adapterLost(String)

    /// A few words for people.
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
