// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
package import BluetoothPackets
package import SystemPackage

/// The ATT fixed channel of one connection.
///
/// The L2CAP layer below it is the kernel's or this library's.
///
/// It is used on the event loop's thread. Core 6.0, Vol 3, Part A, 2.1 (channel 0x0004).
package protocol ATTChannel: AnyObject {
    var device: DeviceAddress { get }
    /// The number of received PDUs that were dropped below this channel because they were not read in time.
    var droppedPackets: UInt32 { get }
    /// The handler of each received PDU, called before the next is read; the span is valid during the call only.
    var onReceive: ((Span<UInt8>) -> Void)? { get set }
    /// The handler that is called before the first PDU behind others that were dropped.
    var onGap: (() -> Void)? { get set }
    /// The handler that is called when the channel has room again, after `send` returned false.
    var onWritable: (() -> Void)? { get set }
    /// The handler that is called once, when the channel was closed by the peer or by an error.
    var onClosed: ((LinkFailure) -> Void)? { get set }

    /// The security of the link, as it was read last.
    var security: GATTLinkSecurity { get }

    /// The timing of the link as far as it is known, its slowest where only limits are; nil where nothing is.
    var timing: ConnectionTiming? { get }
    /// The handler that is called when the link has another timing.
    var onTiming: ((ConnectionTiming) -> Void)? { get set }

    /// Encrypts the link with the key of a bond; `completion` is called once, later, unless the channel is closed before.
    ///
    /// What was received before is dropped: nobody knows who sent it. It has succeeded where the level is reached with a key
    /// of 16 bytes; the link ends otherwise.
    func secure(_ level: GATTLinkSecurity.Level, completion: @escaping (Result<Void, LinkFailure>) -> Void)

    /// Sends one PDU. Returns false without room for it; `onWritable` is called when it may be sent again.
    func send(_ pdu: [UInt8]) throws(LinkFailure) -> Bool
    /// Closes the channel; no handler is called any more.
    func close()
}

extension ATTChannel {
    /// A link that cannot be encrypted.
    package var security: GATTLinkSecurity { GATTLinkSecurity() }

    package var timing: ConnectionTiming? { nil }
    /// Never called.
    package var onTiming: ((ConnectionTiming) -> Void)? {
        get { nil }
        set {}
    }

    package func secure(_ level: GATTLinkSecurity.Level, completion: @escaping (Result<Void, LinkFailure>) -> Void) {
        completion(.failure(.notSecured))
    }
}

extension GATTLinkSecurity.Level {
    /// The level of BT_SECURITY that has the kernel secure a link at least so.
    ///
    /// BT_SECURITY_HIGH (3) is content with the passkey of LE legacy pairing, which authenticates nobody; BT_SECURITY_FIPS (4)
    /// demands LE Secure Connections.
    package var kernelLevel: UInt8 {
        switch self {
        case .none: 1
        case .encrypted: 2
        case .authenticated: 4
        }
    }

    /// The level of a link for which the kernel reports this level of BT_SECURITY.
    package init(kernelLevel: UInt8) {
        self = kernelLevel >= 4 ? .authenticated : kernelLevel >= 2 ? .encrypted : .none
    }
}

extension GATTLinkSecurity {
    /// True for a link of at least this level; an encrypted one has a key of 16 bytes.
    package func suffices(for required: Level) -> Bool {
        required == .none || (level >= required && keySize >= Self.longestKey)
    }
}

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
    case closedByPeer
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
        case .system(.connectionReset): LinkErrorDescription.ended
        case .system(.timedOut), .notEstablished: LinkErrorDescription.outOfReach
        case .refused(let command, let status): LinkErrorDescription.refused(command, status)
        case .system(.connectionAbort): LinkErrorDescription.aborted
        case .system(let error): "\(error)"
        case .timedOut(let time): LinkErrorDescription.notInTime("\(time.components.seconds)")
        case .bearer(.transactionTimeout(let opcode)): LinkErrorDescription.noAnswer("\(opcode)")
        case .bearer(let failure): LinkErrorDescription.protocolBroken("\(failure)")
        case .notSecured: LinkErrorDescription.notSecured
        case .closedByPeer: LinkErrorDescription.closed
        case .adapterLost(let reason): reason
        }
    }
}

/// The sentences about a link's end, in English, each standing here alone, as those of `AdapterErrorDescription`.
package enum LinkErrorDescription {
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

    package init(rssi: Int8? = nil, timing: ConnectionTiming? = nil, phy: PHY? = nil, dataLength: UInt16? = nil) {
        self.rssi = rssi
        self.timing = timing
        self.phy = phy
        self.dataLength = dataLength
    }
}
