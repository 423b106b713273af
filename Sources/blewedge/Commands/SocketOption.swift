// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import Control
import Devices
import SystemPackage
import Texts

/// Where a command looks for the daemon.
struct SocketOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The daemon's control socket; without it the user's own daemon is asked, then the system's.",
            valueName: "path"
        ),
        completion: .file()
    )
    var socket: String?

    /// Where the daemon may be.
    func paths() throws(CommandFailure) -> [String] {
        if let socket { return [socket] }
        return try DaemonPaths.reachable().map(\.controlSocket.string)
    }

    /// A connection to the daemon.
    func client() throws(CommandFailure) -> ControlClient { try ControlClient(at: try paths()) }
}
