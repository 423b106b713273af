// SPDX-License-Identifier: GPL-2.0-or-later

package import Texts

/// Who may ask for what on the control socket (D-9).
///
/// Whoever can open the socket may read; the socket's owner and root may change and type.
package struct ControlRights: Sendable {
    /// The user that the socket belongs to.
    package var owner: UInt32
    /// False where the configuration says `keys = off`.
    package var allowsKeys: Bool

    /// Rights on a socket of that owner.
    package init(owner: UInt32, allowsKeys: Bool = true) {
        self.owner = owner
        self.allowsKeys = allowsKeys
    }

    /// True for users who may change things, as the configuration permits.
    package func isTrusted(_ user: UInt32) -> Bool { user == owner || user == 0 }

    /// Why this user may not ask for that; nil where it is allowed.
    package func refusal(of request: ControlRequest, by user: UInt32) -> CommandFailure? {
        let right = request.right
        guard right == .reading || isTrusted(user) else {
            return CommandFailure(.permission, ControlFaultText.readingOnly, "\(user)", "\(owner)")
        }
        guard right != .typing || allowsKeys else {
            return CommandFailure(.permission, KeyboardFaultText.keysOff)
        }
        return nil
    }
}
