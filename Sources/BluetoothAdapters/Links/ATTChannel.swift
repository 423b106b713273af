// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
package import BluetoothPackets
package import SystemPackage

/// The ATT fixed channel of one connection.
///
/// The L2CAP layer below it is that of the kernel or of this library. Used on the event loop's thread. Core 6.0, Vol 3,
/// Part A, 2.1 (channel 0x0004).
package protocol ATTChannel: AnyObject {
    var device: DeviceAddress { get }
    /// Number of received PDUs dropped below this channel because they were not read in time.
    var droppedPackets: UInt32 { get }
    /// The handler of each received PDU, called before the next PDU is read; the span is valid only during the call.
    var onReceive: ((Span<UInt8>) -> Void)? { get set }
    /// The handler that is called after PDUs were dropped, before the next PDU is delivered.
    var onGap: (() -> Void)? { get set }
    /// The handler that is called when the channel has room again, after `send` returned false.
    var onWritable: (() -> Void)? { get set }
    /// The handler that is called once, when the channel is closed by the peer or by an error.
    var onClosed: ((LinkFailure) -> Void)? { get set }

    /// The last known security of the link.
    var security: GATTLinkSecurity { get }
    /// The handler that is called when the link's security has changed, before the next PDU is delivered.
    var onSecurity: (() -> Void)? { get set }

    /// The timing of the link, or the slowest permitted timing if only its limits are known; nil if neither is known.
    var timing: ConnectionTiming? { get }
    /// The handler that is called when the link's timing has changed.
    var onTiming: ((ConnectionTiming) -> Void)? { get set }

    /// Encrypts the link with the key of a bond.
    ///
    /// `completion` is called once, asynchronously, unless the channel is closed first. PDUs received before encryption
    /// are refused and counted, because their sender is not verified, unless they came at most `early` before it. The
    /// accepted ones are delivered after the completion. The call succeeds if the link reaches the level with a
    /// 16-byte key; otherwise the link ends.
    func secure(
        _ level: GATTLinkSecurity.Level,
        early: Duration,
        completion: @escaping (Result<Void, LinkFailure>) -> Void
    )

    /// Number of received PDUs that were refused because the link was not encrypted yet.
    var refusedPackets: UInt64 { get }
    /// Counts of the values that arrived before the link was encrypted.
    var earlyValues: EarlyValues { get }

    /// Sends one PDU; if there is no room for it, returns false, and later calls `onWritable` when the caller may
    /// retry.
    func send(_ pdu: [UInt8]) throws(LinkFailure) -> Bool
    /// Closes the channel; no handler is called afterwards.
    func close()
}

extension ATTChannel {
    /// An unencrypted link by default.
    package var security: GATTLinkSecurity { GATTLinkSecurity() }
    /// Never called by default.
    package var onSecurity: (() -> Void)? {
        get { nil }
        set {}
    }

    package var timing: ConnectionTiming? { nil }
    /// Never called by default.
    package var onTiming: ((ConnectionTiming) -> Void)? {
        get { nil }
        set {}
    }

    package func secure(
        _ level: GATTLinkSecurity.Level,
        early: Duration,
        completion: @escaping (Result<Void, LinkFailure>) -> Void
    ) {
        completion(.failure(.notSecured))
    }

    /// None by default.
    package var refusedPackets: UInt64 { 0 }
    /// None by default.
    package var earlyValues: EarlyValues { EarlyValues() }
}

extension GATTLinkSecurity.Level {
    /// The BT_SECURITY level that makes the kernel secure a link to at least this level.
    ///
    /// BT_SECURITY_HIGH (3) also accepts passkeys from LE legacy pairing, which provides no real authentication.
    /// BT_SECURITY_FIPS (4) requires LE Secure Connections.
    package var kernelLevel: UInt8 {
        switch self {
        case .none: 1
        case .encrypted: 2
        case .authenticated: 4
        }
    }

    /// Creates the level from the BT_SECURITY level reported by the kernel.
    package init(kernelLevel: UInt8) {
        self = kernelLevel >= 4 ? .authenticated : kernelLevel >= 2 ? .encrypted : .none
    }
}

extension GATTLinkSecurity {
    /// Returns true if the link has at least this level; an encrypted link must have a 16-byte key.
    package func suffices(for required: Level) -> Bool {
        required == .none || (level >= required && keySize >= Self.longestKey)
    }
}

/// The reason why a link ended or could not be made.
package enum LinkFailure: Error, Equatable, CustomStringConvertible {
    /// The kernel refused or ended the connection with this error.
    case system(Errno)
    /// The connection was not established: the device was heard, but did not answer the connection request (0x3E).
    case notEstablished
    /// The controller rejected a command; the values are the command and the status.
    case refused(String, String)
    /// The connection was not made within this time.
    case timedOut(Duration)
    /// The peer violated the Attribute Protocol, or did not answer in time.
    case bearer(ATTBearer.Failure)
    /// The link is less secure than required, because the device lacks the key of the bond, or because its key is too
    /// weak.
    case notSecured
    case closedByPeer
    case adapterLost(String)

    /// True if the device may have ended the link because of a request: it disconnected, or it never answered.
    package var isHangUp: Bool {
        switch self {
        case .system(.connectionReset), .closedByPeer, .bearer(.transactionTimeout): true
        default: false
        }
    }

    /// A short English message.
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

/// English messages about the end of a link; each message is defined only here, as in `AdapterErrorDescription`.
package enum LinkErrorDescription {
    package static let ended = "the device ended the connection"
    package static let outOfReach = "the device is out of range"
    package static let aborted = "the connection was aborted"
    package static let notSecured = "the identity of the paired device could not be verified"
    package static let closed = "the device closed the channel"

    package static func refused(_ command: String, _ status: String) -> String {
        "the controller refused \(command): \(status)"
    }

    package static func notInTime(_ seconds: String) -> String { "could not connect within \(seconds) s" }

    package static func noAnswer(_ request: String) -> String { "the device did not answer \(request) within 30 s" }

    package static func protocolBroken(_ fault: String) -> String {
        "the device violated the Attribute Protocol: \(fault)"
    }
}

/// The radio properties of a link that are known.
package struct LinkQuality: Equatable, Sendable {
    /// The last known signal strength of the device in dBm; nil before the first reading, or if it cannot be read.
    package var rssi: Int8?
    /// The current timing; nil if it is unknown because the kernel chose it.
    package var timing: ConnectionTiming?

    /// The PHY on which the device transmits; nil until a change is reported.
    package var phy: PHY?
    /// Maximum payload of a packet from the device, in bytes; nil until a change is reported.
    package var dataLength: UInt16?

    /// Minimum time between two readings of the signal strength.
    package static let life = Duration.seconds(3)

    package init(rssi: Int8? = nil, timing: ConnectionTiming? = nil, phy: PHY? = nil, dataLength: UInt16? = nil) {
        self.rssi = rssi
        self.timing = timing
        self.phy = phy
        self.dataLength = dataLength
    }
}
