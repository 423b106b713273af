// SPDX-License-Identifier: GPL-2.0-or-later

import Devices
package import Texts

extension TextTable {
    /// The texts that a daemon says, and that its clients read by their ids.
    package static let daemon =
        common + TextTable([AdapterFaultText.self, LinkFaultText.self, SessionState.self, StateNameText.self])
}
