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

    /// The handler that is asked when what comes cannot be told apart any more: true where it has sent a Reset, which
    /// begins the stream anew.
    ///
    /// Without one, or with false, the connection to the controller has ended.
    var onUnreadable: (() -> Bool)? { get set }
    /// The bytes that were dropped because they are not the answer to a Reset.
    var droppedBytes: UInt64 { get }

    /// Sends one packet, or queues it until it can be sent.
    ///
    /// The controller's flow control limits the packets that wait.
    func send(_ packet: [UInt8])
    /// Releases the controller; no handler is called any more.
    func close()
}

extension PacketTransport {
    /// Where packets come one by one, nothing is unreadable.
    package var onUnreadable: (() -> Bool)? {
        get { nil }
        set {}
    }
    /// Where packets come one by one, none is dropped.
    package var droppedBytes: UInt64 { 0 }
}
