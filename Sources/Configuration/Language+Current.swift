// SPDX-License-Identifier: GPL-2.0-or-later

import LinuxIO
package import Texts

extension Language {
    /// The language of this process.
    package static let current = Language(ProcessFacts.environment)
}
