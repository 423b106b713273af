// SPDX-License-Identifier: GPL-2.0-or-later

package import Texts

/// The daemon, as the control socket's server uses it; everything on the event loop's thread.
package protocol ControlHandler: AnyObject {
    /// Answers one request that its sender may make; `reply` is called exactly once, at once or later, with the members
    /// that the answer has besides `ok` and `version`.
    ///
    /// Never called for `events`, which the server answers itself.
    func handle(_ request: ControlRequest, reply: @escaping (Result<JSONObject, CommandFailure>) -> Void)

    /// The events that a new stream of them begins with: the state as it stands.
    var currentEvents: [JSONObject] { get }
}
