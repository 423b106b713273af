// SPDX-License-Identifier: GPL-2.0-or-later

import Devices
import LinuxIO
import SystemPackage
import Texts

/// The user that `run --user` names: a keyboard that root has started acts for it, with the product's two capabilities and
/// no others, as a service of systemd does.
struct KeyboardUser {
    let name: String

    /// Makes this process the user's and begins the program anew, with directories that are the user's own; returns where
    /// it is the user's already.
    func become(_ paths: DaemonPaths) throws(CommandFailure) {
        guard let user = ServiceUser(named: name) else {
            throw CommandFailure(.usage, CommandFaultText.noUser, name)
        }
        guard ProcessFacts.user != user.number else { return }
        guard ProcessFacts.user == 0 else { throw CommandFailure(.permission, CommandFaultText.userWantsRoot, name) }
        do throws(Errno) {
            for directory in [paths.state, paths.runtime] { try user.own(directory: directory) }
            try user.become()
            try Process.replaceBySelf(
                telling: [
                    ("HOME", "\(user.home)"), ("USER", name), ("LOGNAME", name),
                    ("CONFIGURATION_DIRECTORY", "\(paths.configuration)"),
                    ("STATE_DIRECTORY", "\(paths.state)"), ("RUNTIME_DIRECTORY", "\(paths.runtime)"),
                ]
            )
        } catch {
            throw CommandFailure(.permission, CommandFaultText.userNotTaken, name, "\(error)")
        }
    }
}
