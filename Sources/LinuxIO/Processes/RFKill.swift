// SPDX-License-Identifier: GPL-2.0-or-later

/// The switches that silence a radio, as sysfs shows them.
package struct RFKill: Equatable, Sendable {
    /// Blocked by software; `rfkill unblock bluetooth` mends it.
    package var isSoftBlocked: Bool
    /// Blocked by a switch or the firmware, out of software's reach.
    package var isHardBlocked: Bool

    /// The switch of controller `index`; nil where it has none.
    ///
    /// Linux, Documentation/ABI/stable/sysfs-class-rfkill.
    package init?(controller index: UInt16, sysfs: String = "/sys") {
        let directory = "\(sysfs)/class/bluetooth/hci\(index)"
        guard let name = FileSystem.names(in: directory).first(where: { $0.hasPrefix("rfkill") }) else { return nil }
        isSoftBlocked = FileSystem.line(of: "\(directory)/\(name)/soft") == "1"
        isHardBlocked = FileSystem.line(of: "\(directory)/\(name)/hard") == "1"
    }
}
