// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
package import BluetoothPackets
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

/// The sentences about a link's end, in English, each standing here alone, as those of `AdapterSentence`.
package enum LinkSentence {
    package static let ended = "the device ended the connection"
    package static let outOfReach = "the device is out of reach"
    package static let aborted = "the connection was aborted"
    package static let notSecured = "the device did not prove that it is the paired one"
    package static let closed = "the device closed the channel"

    package static func refused(_ command: String, _ status: String) -> String {
        "the controller refused \(command): \(status)"
    }

    package static func notInTime(_ seconds: String) -> String { "no connection within \(seconds) s" }

    package static func noAnswer(_ request: String) -> String { "the device did not answer \(request) within 30 s" }

    package static func protocolBroken(_ fault: String) -> String {
        "the device broke the Attribute Protocol: \(fault)"
    }
}

/// What is known of a link's radio.
package struct LinkQuality: Equatable, Sendable {
    /// The signal strength of the device, in dBm, as it was read last; nil before that, or where it cannot be read.
    package var rssi: Int8?
    /// The timing in force; nil where it is the kernel's, which does not tell it.
    package var timing: ConnectionTiming?

    /// The PHY on which the device sends; nil as long as no change was told.
    package var phy: PHY?
    /// The longest data of one packet from the device, in bytes; nil as long as no change was told.
    package var dataLength: UInt16?

    /// For how long a signal strength is not read again.
    package static let life = Duration.seconds(3)

    /// What is known.
    package init(
        rssi: Int8? = nil,
        timing: ConnectionTiming? = nil,
        phy: PHY? = nil,
        dataLength: UInt16? = nil
    ) {
        self.rssi = rssi
        self.timing = timing
        self.phy = phy
        self.dataLength = dataLength
    }
}
