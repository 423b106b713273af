// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothLE
package import SystemPackage
package import Texts
import Typing

extension KeyboardService {
    /// The events that an observer is told of.
    package enum Event {
        /// The virtual keyboard stands; readers find it at this node.
        case keyboard(node: String?)
        /// The session has another state, or says it anew.
        case state(Session.State, device: DeviceAddress?, reason: Reason?)
        /// The keyboard is gone, and another is made: what comes meanwhile waits.
        case keyboardGone(Reason)
        /// The keyboard cannot be written to: nothing is typed any more.
        case keyboardFailed(Errno)
    }
}

extension KeyboardService.Event {
    /// What has become of the keyboard.
    init(_ change: VirtualKeyboard.Change, _ keyboard: VirtualKeyboard) {
        switch change {
        case .gone(let failure): self = .keyboardGone(Reason(failure))
        case .remade: self = .keyboard(node: keyboard.node)
        }
    }
}
