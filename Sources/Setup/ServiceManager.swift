// SPDX-License-Identifier: GPL-2.0-or-later

import LinuxIO

/// The program that starts and restarts the services of a machine.
package enum ServiceManager: Hashable, Sendable, CaseIterable {
    case systemd
    /// OpenRC, whichever program is the init.
    case openrc
    case runit
    /// The init of sysvinit, through /etc/inittab.
    case sysvinit
    /// The init of BusyBox, through /etc/inittab.
    case busybox

    /// Features of the machine that distinguish the service managers.
    package struct Signs: Equatable, Sendable {
        package var hasSystemd = false
        /// True if OpenRC's run-time directory and its commands exist.
        package var hasOpenRC = false
        package var hasServices = false
        package var hasInittab = false
        /// Name of the first process.
        package var name = ""
        /// Path of the first process's program.
        package var program = ""

        package init() {}
    }

    /// Determines the service manager from the machine's features; nil if it is not supported.
    ///
    /// If there is no inittab, BusyBox's init uses built-in lines, and sysvinit does nothing: neither can run a
    /// service.
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

    /// The words of the command that starts the service.
    ///
    /// The command does not ask for a password on the terminal.
    package var startWords: [String] {
        let words = start.split(separator: " ").map(String.init)
        return self == .systemd ? [words[0], "--no-ask-password"] + words.dropFirst() : words
    }

    package var start: String {
        switch self {
        case .systemd: "systemctl start blewedge"
        case .openrc: "rc-service blewedge start"
        case .runit: "sv up /etc/sv/blewedge"
        case .sysvinit, .busybox: "/etc/init.d/blewedge start"
        }
    }

    /// Service manager of this machine; nil if it is not supported.
    package static var ofThisMachine: ServiceManager? { found(below: "") }

    /// Returns the service manager of the machine whose files are in the directory `root`; nil if it is not supported.
    static func found(below root: String) -> ServiceManager? { ServiceManager(.collect(below: root)) }

    /// Returns the directory where runit looks for services; nil if it is at none of the usual paths.
    static func serviceDirectory(below root: String) -> String? {
        ["/etc/service", "/var/service", "/service"].first { FileSystem.exists(root + $0) }
    }
}

extension ServiceManager.Signs {
    fileprivate static func collect(below root: String) -> ServiceManager.Signs {
        func exists(_ path: String) -> Bool { FileSystem.exists(root + path) }
        var signs = ServiceManager.Signs()
        signs.hasSystemd = exists("/run/systemd/system")
        signs.hasOpenRC =
            exists("/run/openrc")
            && ["rc-service", "rc-update"].allSatisfy { name in
                SetupFacts.directories.contains { FileSystem.isExecutable("\(root)\($0)/\(name)") }
            }
        signs.hasServices = ServiceManager.serviceDirectory(below: root) != nil
        signs.hasInittab = exists("/etc/inittab")
        signs.name = FileSystem.line(of: root + "/proc/1/comm") ?? ""
        // Only root can read the path of the first process's program; for other users, use the target of /sbin/init.
        signs.program =
            FileSystem.target(ofLink: root + "/proc/1/exe") ?? FileSystem.target(ofLink: root + "/sbin/init") ?? ""
        return signs
    }
}

/// Lines that blewedge adds to a shared file; a comment before and a comment after them mark the lines.
package enum MarkedLines {
    /// Comment that marks the beginning of blewedge's lines.
    package static let begin = "# blewedge: its own lines begin; `blewedge setup --remove` takes them away"
    /// Comment that marks the end of blewedge's lines.
    package static let end = "# blewedge: its own lines end"

    /// Returns the lines between the two comments; nil if a comment is missing.
    package static func found(in text: String) -> [String]? {
        let all = lines(of: text)
        guard let first = all.firstIndex(of: begin), let last = all[first...].firstIndex(of: end) else { return nil }
        return Array(all[(first + 1)..<last])
    }

    /// Returns the text with the lines in `own` instead of blewedge's earlier lines.
    ///
    /// If `first` is true, they come before all other lines, otherwise after them.
    package static func adding(_ own: [String], to text: String, first: Bool) -> String {
        let others = lines(of: removing(own, from: text))
        let block = [begin] + own + [end]
        return (first ? block + others : others + block).map { $0 + "\n" }.joined()
    }

    /// Returns the text without blewedge's two comments and the lines between them.
    ///
    /// If somebody has deleted one of the comments, the other comment and all lines in `own` are removed.
    package static func removing(_ own: [String], from text: String) -> String {
        var rest = lines(of: text)
        while let first = rest.firstIndex(of: begin), let last = rest[first...].firstIndex(of: end) {
            rest.removeSubrange(first...last)
        }
        if rest.contains(begin) || rest.contains(end) {
            rest.removeAll { $0 == begin || $0 == end || own.contains($0) }
        }
        return rest.map { $0 + "\n" }.joined()
    }

    private static func lines(of text: String) -> [String] {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        if lines.last == "" { lines.removeLast() }
        return lines
    }
}
