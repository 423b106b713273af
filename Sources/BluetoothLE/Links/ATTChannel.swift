// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothPackets

/// The ATT fixed channel of one connection, whoever runs the L2CAP below it: the kernel, or this library.
///
/// To be used on the event loop's thread. Core 6.0, Vol 3, Part A, 2.1 (channel 0x0004).
package protocol ATTChannel: AnyObject {
    /// The peer.
    var device: DeviceAddress { get }
    /// How many PDUs were dropped below because they were not read in time.
    var droppedPackets: UInt32 { get }
    /// Takes each PDU in place, before the next is read.
    var onReceive: ((Span<UInt8>) -> Void)? { get set }
    /// Called when a PDU may be sent again that was not taken.
    var onWritable: (() -> Void)? { get set }
    /// Called once when the channel has ended by itself.
    var onClosed: ((LinkFailure) -> Void)? { get set }

    /// Sends one PDU; false when it was not taken, and `onWritable` will tell when to try again.
    func send(_ pdu: [UInt8]) throws(LinkFailure) -> Bool
    /// Closes the channel; nothing more is reported.
    func close()
}
