// SPDX-License-Identifier: GPL-2.0-or-later

package import Devices
package import Texts

/// The daemon, as the control socket's server uses it; everything on the event loop's thread.
package protocol ControlHandler: AnyObject {
    /// Answers one request that its sender may make; `reply` is called exactly once, at once or later, with the members
    /// that the answer has besides `ok` and `version`.
    ///
    /// Never called for `events`, which the server answers itself, and `pair`, which begins a conversation.
    func handle(_ request: ControlRequest, reply: @escaping (Result<JSONObject, CommandFailure>) -> Void)

    /// Makes the conversation that a request of `pair` asks for.
    func conversation(for request: PairingRequest) throws(CommandFailure) -> any ControlConversation

    /// The events that a new stream of them begins with: the state as it stands.
    var currentEvents: [JSONObject] { get }
}

/// A conversation on one connection of the control socket (D-9).
package protocol ControlConversation: AnyObject {
    /// Begins; `say` sends a line to the client, the last of which ends the connection.
    func begin(_ say: @escaping (_ line: JSONObject, _ isLast: Bool) -> Void)
    /// Takes a line of the client, without its end.
    func take(_ line: [UInt8]) throws(ControlFault)
    /// Ends it, since the client has gone before the last line.
    func cancel()
}
