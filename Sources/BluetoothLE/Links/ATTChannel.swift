// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
package import BluetoothPackets

/// The ATT fixed channel of one connection.
///
/// The L2CAP layer below it is the kernel's or this library's.
///
/// It is used on the event loop's thread. Core 6.0, Vol 3, Part A, 2.1 (channel 0x0004).
package protocol ATTChannel: AnyObject {
    /// The address of the peer.
    var device: DeviceAddress { get }
    /// The number of received PDUs that were dropped below this channel because they were not read in time.
    var droppedPackets: UInt32 { get }
    /// The handler of each received PDU, called before the next is read.
    ///
    /// The span is valid during the call only.
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

    /// Nothing is known.
    package var timing: ConnectionTiming? { nil }
    /// Never called.
    package var onTiming: ((ConnectionTiming) -> Void)? {
        get { nil }
        set {}
    }

    /// Fails at once.
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
