// SPDX-License-Identifier: GPL-2.0-or-later

/// What carries HCI packets to and from one controller that nobody else uses, each with its indicator as first byte.
///
/// To be used on the event loop's thread.
package protocol PacketTransport: AnyObject {
    /// Takes each packet from the controller in place, before the next is read; never called from within `send`.
    var onReceive: ((Span<UInt8>) -> Void)? { get set }
    /// Called once when the way to the controller has ended by itself, with the reason for people.
    var onClosed: ((String) -> Void)? { get set }

    /// Sends one packet, or keeps it until it can be sent; what a host may have under way is bounded by the controller.
    func send(_ packet: [UInt8])
    /// Lets go of the controller; nothing more is reported.
    func close()
}
