// SPDX-License-Identifier: GPL-2.0-or-later

package import Beacons
package import Keystrokes
package import SystemPackage
package import Typing

/// Reason why a configuration, or a file that it names, cannot be used.
package enum ConfigurationError: Error, Equatable, Sendable {
    case unreadable(FilePath, Errno)
    /// The file at this path is not valid UTF-8.
    case notText(String)
    case faults(String, ConfigurationFaults)
    case unknownProfile(String, known: [String])
    case profileUnreadable(String, Errno)
    case profileFaults(String, ConfigurationFaults)
    case noProfiles
    case regionsUnreadable(String, Errno)
    case regionFaults(String, RegionFile.Faults)
    case stall(pace: String, Pace.StallError)
    case byteTooLong(events: Int, table: String, layout: String, Pace.StallError)
    case barcodes(BarcodeRules.Fault)
    /// The prefix or suffix of barcodes is invalid; the first value is the key `prefix` or `suffix`.
    case affix(String, BarcodeAffix.Fault)
    /// A key is set, but the key that it requires is not.
    case noEffect(String, without: String)
    case typing(TypingError)
    case keyboard(KeyboardError)
}
