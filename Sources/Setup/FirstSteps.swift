// SPDX-License-Identifier: GPL-2.0-or-later

/// The commands that lead from a machine with an adapter, and nothing else prepared, to the first typed character.
///
/// The guide prints them, the README lists them, and the lab runs them unchanged.
package enum FirstSteps {
    /// The largest permitted number of commands.
    package static let most = 3
    /// The placeholder of the user's device in the commands.
    package static let device = "DEVICE"

    /// The commands, in order.
    ///
    /// Where setup knows what starts services, the keyboard is a service afterwards.
    package static func commands(hasManager: Bool) -> [String] {
        let choose = ["sudo blewedge scan --once", "sudo blewedge use \(device)"]
        return hasManager ? [setup] + choose : choose + ["sudo blewedge run"]
    }

    /// The command that installs the service.
    static let setup = "sudo blewedge setup"
}
