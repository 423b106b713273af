// SPDX-License-Identifier: GPL-2.0-or-later

/// The transport of HCI packets to and from a controller that belongs to this process alone.
///
/// The first byte of each packet is its H4 indicator.
///
/// It is used on the event loop's thread.
package protocol PacketTransport: AnyObject {
    /// The handler of each packet from the controller, called before the next is read, and never during `send`.
    ///
    /// The span is valid during the call only.
    var onReceive: ((Span<UInt8>) -> Void)? { get set }
    /// The handler that is called once, when the connection to the controller has ended, with the reason in English.
    var onClosed: ((String) -> Void)? { get set }

    /// Sends one packet, or queues it until it can be sent.
    ///
    /// The controller's flow control limits the packets that wait.
    func send(_ packet: [UInt8])
    /// Releases the controller; no handler is called any more.
    func close()
}
