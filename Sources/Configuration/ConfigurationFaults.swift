// SPDX-License-Identifier: GPL-2.0-or-later

/// All faults in a configuration file; there is at least one.
package struct ConfigurationFaults: Error, Equatable, Sendable, CustomStringConvertible {
    package let faults: [ConfigurationFault]

    init(_ faults: [ConfigurationFault]) {
        self.faults = faults.sorted { ($0.line ?? 0) < ($1.line ?? 0) }
    }

    package var description: String { faults.map(\.description).joined(separator: "\n") }
}
