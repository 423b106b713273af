// SPDX-License-Identifier: GPL-2.0-or-later

package import SystemPackage

// What keeps the daemon and its clients from each other, in words.

extension CommandFailure {
    /// The control socket cannot be made.
    package init(controlSocket path: String, _ error: Errno) {
        switch error {
        case .addressInUse:
            self.init(
                .unavailable,
                "a daemon answers at \(path) already, or what is there is no socket",
                remedy: "use it (`blewedge status`), end it (`blewedge stop`), or remove the file"
            )
        case .noSuchFileOrDirectory, .notDirectory:
            self.init(
                .configuration,
                "there is no directory for the control socket \(path)",
                remedy: "make it: `mkdir -p \(path.directory)`"
            )
        case .permissionDenied, .readOnlyFileSystem, .notPermitted:
            self.init(
                .permission,
                "not permitted to make the control socket \(path)",
                remedy: "run as the owner of \(path.directory)"
            )
        case .fileNameTooLong:
            self.init(
                .configuration,
                "\(path) is too long for a socket's address: at most 107 bytes",
                remedy: "choose a shorter runtime directory"
            )
        default: self.init(.inputOutput, "cannot make the control socket \(path): \(error)")
        }
    }

    /// The daemon cannot be reached.
    package init(reachingDaemon path: String, _ error: Errno) {
        switch error {
        case .connectionRefused, .noSuchFileOrDirectory, .notDirectory:
            self = .noDaemon
        case .permissionDenied, .notPermitted:
            self.init(
                .permission,
                "not permitted to open \(path)",
                remedy: "run as root, or join the socket's group: `usermod -aG blewedge $USER`, then log in again"
            )
        case .wouldBlock:
            self.init(
                .timeout,
                "the daemon at \(path) takes no more clients",
                remedy: "try again; if it stays so, the daemon hangs: `systemctl restart blewedge`"
            )
        case .fileNameTooLong, .invalidArgument:
            self.init(.usage, "\(path.debugDescription) is no path of a socket: 1 to 107 bytes")
        default: self.init(.inputOutput, "cannot reach the daemon at \(path): \(error)")
        }
    }

    /// No daemon runs.
    package static let noDaemon = CommandFailure(
        .unavailable,
        "no daemon runs",
        remedy: "`blewedge run` in another terminal, or `systemctl start blewedge`"
    )
}

extension String {
    /// The path without its last component.
    fileprivate var directory: String {
        guard let slash = lastIndex(of: "/") else { return "." }
        return slash == startIndex ? "/" : String(self[..<slash])
    }
}
