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
        case .system(.connectionReset): LinkSentence.ended
        case .system(.timedOut): LinkSentence.outOfReach
        case .system(.connectionAbort): LinkSentence.aborted
        case .system(let error): "\(error)"
        case .timedOut(let time): LinkSentence.notInTime("\(time.components.seconds)")
        case .bearer(.transactionTimeout(let opcode)): LinkSentence.noAnswer("\(opcode)")
        case .bearer(let failure): LinkSentence.protocolBroken("\(failure)")
        case .closedByPeer: LinkSentence.closed
        case .adapterLost(let reason): reason
        }
    }
}
