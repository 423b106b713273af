// SPDX-License-Identifier: GPL-2.0-or-later

import LinuxIO

/// What starts the services of a machine, and starts them again.
package enum ServiceManager: Hashable, Sendable, CaseIterable {
    case systemd
    /// OpenRC, whatever init has started it.
    case openrc
    case runit
    /// The init of sysvinit, by /etc/inittab.
    case sysvinit
    /// The init of BusyBox, by /etc/inittab.
    case busybox

    /// The signs by which one is told from the others.
    package struct Signs: Equatable, Sendable {
        package var hasSystemd = false
        /// True if OpenRC has made its own, and its commands are there.
        package var hasOpenRC = false
        package var hasServices = false
        package var hasInittab = false
        /// The name of the first process.
        package var name = ""
        /// The path of the first process's program.
        package var program = ""

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

    package var start: String {
        switch self {
        case .systemd: "systemctl start blewedge"
        case .openrc: "rc-service blewedge start"
        case .runit: "sv up /etc/sv/blewedge"
        case .sysvinit, .busybox: "/etc/init.d/blewedge start"
        }
    }

    /// The manager of this machine; nil for one that is not known.
    package static var ofThisMachine: ServiceManager? { ServiceManager(.collect()) }

    /// The directory of the services that runit runs, under one of its usual names.
    static var serviceDirectory: String? {
        ["/etc/service", "/var/service", "/service"].first(where: FileSystem.exists)
    }
}

extension ServiceManager.Signs {
    fileprivate static func collect() -> ServiceManager.Signs {
        var signs = ServiceManager.Signs()
        signs.hasSystemd = FileSystem.exists("/run/systemd/system")
        signs.hasOpenRC =
            FileSystem.exists("/run/openrc")
            && ["rc-service", "rc-update"].allSatisfy { name in
                SetupFacts.directories.contains { FileSystem.isExecutable("\($0)/\(name)") }
            }
        signs.hasServices = ServiceManager.serviceDirectory != nil
        signs.hasInittab = FileSystem.exists("/etc/inittab")
        signs.name = FileSystem.line(of: "/proc/1/comm") ?? ""
        // Only root may see what the first process runs; for others it is what it was started as.
        signs.program = FileSystem.target(ofLink: "/proc/1/exe") ?? FileSystem.target(ofLink: "/sbin/init") ?? ""
        return signs
    }
}

/// Lines of blewedge's own in a file that belongs to others, between two comments by which they are found again.
package enum MarkedLines {
    /// The comment in front of the lines.
    package static let begin = "# blewedge: its own lines begin; `blewedge setup --remove` takes them away"
    /// The comment behind the lines.
    package static let end = "# blewedge: its own lines end"

    /// The lines between the comments; nil where a comment is not there.
    package static func found(in text: String) -> [String]? {
        let all = lines(of: text)
        guard let first = all.firstIndex(of: begin), let last = all[first...].firstIndex(of: end) else { return nil }
        return Array(all[(first + 1)..<last])
    }

    /// The text with these lines in place of earlier ones: in front of all others if `first`, else behind them.
    package static func adding(_ own: [String], to text: String, first: Bool) -> String {
        let others = lines(of: removing(own, from: text))
        let block = [begin] + own + [end]
        return (first ? block + others : others + block).map { $0 + "\n" }.joined()
    }

    /// The text without the comments and what is between them.
    ///
    /// Where somebody has taken one of the comments away, it is the other, and the lines that are `own`.
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
