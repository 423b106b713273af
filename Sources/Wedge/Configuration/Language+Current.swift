// SPDX-License-Identifier: GPL-2.0-or-later

import LinuxIO

extension Language {
    /// The language of this process.
    package static let current = Language(ProcessFacts.environment)
}
