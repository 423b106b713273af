// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
package import SystemPackage

/// The reason for which a link ended, or was not made.
package enum LinkFailure: Error, Equatable, CustomStringConvertible {
    /// The kernel refused or ended the connection, with this error.
    case system(Errno)
    /// The device did not answer the request to connect, though it was heard (0x3E).
    case notEstablished
    /// The controller refused the command in the first text, with the status in the second.
    case refused(String, String)
    /// The connection was not made within this time.
    case timedOut(Duration)
    /// The peer broke the rules of the Attribute Protocol, or did not answer in time.
    case bearer(ATTBearer.Failure)
    /// The link is less secure than it has to be: the device lacks the key of the bond, or has one of less worth.
    case notSecured
    /// The peer closed the channel.
    case closedByPeer
    /// The adapter was lost, for this reason.
    case adapterLost(String)

    /// True where the device may have ended the link because of what it was asked: it hung up, or never answered.
    package var isHangUp: Bool {
        switch self {
        case .system(.connectionReset), .closedByPeer, .bearer(.transactionTimeout): true
        default: false
        }
    }

    /// The failure in a few English words.
    package var description: String {
        switch self {
        case .system(.connectionReset): LinkSentence.ended
        case .system(.timedOut), .notEstablished: LinkSentence.outOfReach
        case .refused(let command, let status): LinkSentence.refused(command, status)
        case .system(.connectionAbort): LinkSentence.aborted
        case .system(let error): "\(error)"
        case .timedOut(let time): LinkSentence.notInTime("\(time.components.seconds)")
        case .bearer(.transactionTimeout(let opcode)): LinkSentence.noAnswer("\(opcode)")
        case .bearer(let failure): LinkSentence.protocolBroken("\(failure)")
        case .notSecured: LinkSentence.notSecured
        case .closedByPeer: LinkSentence.closed
        case .adapterLost(let reason): reason
        }
    }
}
