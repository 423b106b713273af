// SPDX-License-Identifier: GPL-2.0-or-later

/// What starts the services of a machine, and starts them again.
package enum ServiceManager: Hashable, Sendable, CaseIterable {
    /// systemd.
    case systemd
    /// OpenRC, whatever init has started it.
    case openrc
    /// runit.
    case runit
    /// The init of sysvinit, by /etc/inittab.
    case sysvinit
    /// The init of BusyBox, by /etc/inittab.
    case busybox

    /// The signs by which one is told from the others.
    package struct Signs: Equatable, Sendable {
        /// True if systemd has made its directory of what runs.
        package var hasSystemd = false
        /// True if OpenRC has made its own, and its commands are there.
        package var hasOpenRC = false
        /// True if there is a directory of the services that runit runs.
        package var hasServices = false
        /// True if there is an /etc/inittab.
        package var hasInittab = false
        /// The name of the first process.
        package var name = ""
        /// The path of the first process's program.
        package var program = ""

        /// Makes the signs of a machine that has none.
        package init() {}
    }

    /// The manager of a machine with these signs; nil for another one.
    ///
    /// BusyBox's init without an inittab goes by lines of its own, and sysvinit does nothing: neither can be told anything.
    package init?(_ signs: Signs) {
        if signs.hasSystemd {
            self = .systemd
        } else if signs.hasOpenRC {
            self = .openrc
        } else if signs.name == "runit", signs.hasServices {
            self = .runit
        } else if signs.hasInittab, signs.program.split(separator: "/").last?.hasPrefix("busybox") == true {
            self = .busybox
        } else if signs.hasInittab, signs.name == "init" {
            self = .sysvinit
        } else {
            return nil
        }
    }

    /// The words of the command that starts the service without a question on the terminal.
    package var startWords: [String] {
        let words = start.split(separator: " ").map(String.init)
        return self == .systemd ? [words[0], "--no-ask-password"] + words.dropFirst() : words
    }

    /// The command that starts the service.
    package var start: String {
        switch self {
        case .systemd: "systemctl start blewedge"
        case .openrc: "rc-service blewedge start"
        case .runit: "sv up /etc/sv/blewedge"
        case .sysvinit, .busybox: "/etc/init.d/blewedge start"
        }
    }
}
