// SPDX-License-Identifier: GPL-2.0-or-later

/// The commands from a machine with an adapter, on which nothing was done yet, to the first typed character.
///
/// The guide prints them, the README has them, and the lab runs them as they stand.
package enum FirstSteps {
    /// The most that there may be.
    package static let most = 3
    /// What stands for the user's device.
    package static let device = "DEVICE"

    /// The commands in their order; where there is systemd, the keyboard is a service afterwards.
    package static func commands(hasSystemd: Bool) -> [String] {
        let choose = ["sudo blewedge scan --once", "sudo blewedge use \(device)"]
        return hasSystemd ? ["sudo blewedge setup"] + choose : choose + ["sudo blewedge run"]
    }
}
