// SPDX-License-Identifier: GPL-2.0-or-later

import ServiceFiles

// What the manager of services is told.

extension SetupPlan {
    /// The name of the service's unit.
    private static let unit = "blewedge.service"
    /// The name of the timer of what asks a server of beacons.
    static let timer = "blewedge-beacons.timer"
    /// The directory of runit's service.
    private static let supervised = "/etc/sv/blewedge"
    /// What waits until the service can be asked, where its manager does not.
    private static let awaiting = SetupStep.run(["/usr/local/sbin/blewedge-service", "await"], mayFail: false)

    /// The links and directories that setup, or the manager for the service, makes on the machine.
    static func made(_ facts: SetupFacts) -> [String] {
        switch facts.manager {
        case .openrc: ["/etc/runlevels/default/blewedge"]
        case .runit:
            [facts.serviceDirectory + "/blewedge"]
                + ["/log/supervise", "/log", "/supervise", ""].map { supervised + $0 }
        case nil, .systemd, .sysvinit, .busybox: []
        }
    }

    /// The steps that start the service with these files of its, now and whenever the machine starts.
    static func starting(_ facts: SetupFacts, files: [SetupStep], hasNews: Bool) -> [SetupStep] {
        var steps: [SetupStep] = []
        switch facts.manager {
        case nil: return []
        case .systemd:
            guard let systemctl = facts.programs["systemctl"] else { return [] }
            steps += server(facts, systemctl, isWritten: files.contains { isOfServer($0) })
            if hasNews {
                steps += [.run([systemctl, "daemon-reload"], mayFail: false)]
                steps += [.run([systemctl, "restart", unit], mayFail: false)]
            } else if !facts.isActive {
                steps += [.run([systemctl, "start", unit], mayFail: false)]
            }
            return steps
        case .openrc:
            guard let service = facts.programs["rc-service"], let update = facts.programs["rc-update"] else {
                return []
            }
            if facts.made.isEmpty { steps += [.run([update, "add", "blewedge", "default"], mayFail: false)] }
            if hasNews || !facts.isActive {
                steps += [.run([service, "blewedge", hasNews ? "restart" : "start"], mayFail: false)]
            }
        case .runit:
            let link = facts.serviceDirectory + "/blewedge"
            if !facts.made.contains(link) {
                // runit looks for new services every five seconds.
                steps += [.link(path: link, target: supervised)]
            } else if hasNews || !facts.isActive, let sv = facts.programs["sv"] {
                steps += [.run([sv, hasNews ? "restart" : "up", supervised], mayFail: false)]
            }
        case .sysvinit, .busybox:
            let own = facts.manager == .sysvinit ? ServiceLines.sysvinit : .busybox
            if MarkedLines.found(in: facts.files[own.path] ?? "") != own.lines {
                steps += readInittab(facts)
            } else if hasNews || !facts.isActive {
                steps += [.run(["/etc/init.d/blewedge", hasNews ? "restart" : "start"], mayFail: false)]
            }
        }
        return steps.isEmpty ? [] : steps + [awaiting]
    }

    /// The steps that end the service, while its files are still there.
    static func stopping(_ facts: SetupFacts) -> [SetupStep] {
        switch facts.manager {
        case nil: return []
        case .systemd:
            guard !facts.isPackaged, let systemctl = facts.programs["systemctl"] else { return [] }
            let isAsked = ServiceFile.all.contains { $0.isOfServer && facts.files[$0.path] != nil }
            return (isAsked ? [.run([systemctl, "disable", "--now", timer], mayFail: true)] : [])
                + [.run([systemctl, "stop", unit], mayFail: true)]
        case .openrc:
            guard let service = facts.programs["rc-service"], let update = facts.programs["rc-update"] else {
                return []
            }
            return [
                .run([service, "blewedge", "stop"], mayFail: true),
                .run([update, "delete", "blewedge", "default"], mayFail: true),
            ]
        case .runit:
            let link = SetupStep.remove(path: facts.serviceDirectory + "/blewedge")
            guard let sv = facts.programs["sv"] else { return [link] }
            return [link, .run([sv, "force-shutdown", supervised], mayFail: true)]
        case .sysvinit, .busybox:
            return readInittab(facts) + [.run(["/usr/local/sbin/blewedge-service", "end"], mayFail: true)]
        }
    }

    /// The steps after the files are gone.
    static func forgetting(_ facts: SetupFacts) -> [SetupStep] {
        switch facts.manager {
        case .systemd:
            guard let systemctl = facts.programs["systemctl"] else { return [] }
            // The package's service then, with the package's files.
            let again = facts.isPackaged ? [SetupStep.run([systemctl, "restart", unit], mayFail: true)] : []
            return [.run([systemctl, "daemon-reload"], mayFail: true)] + again
        case .runit:
            return made(facts).filter { $0.hasPrefix(supervised) && facts.made.contains($0) }.map {
                .removeDirectory(path: $0)
            }
        case nil, .openrc, .sysvinit, .busybox: return []
        }
    }

    /// The step by which init reads its table again.
    private static func readInittab(_ facts: SetupFacts) -> [SetupStep] {
        // A shell has it where there is no program of that name.
        let kill = facts.programs["kill"].map { [$0, "-HUP", "1"] } ?? ["/bin/sh", "-c", "kill -HUP 1"]
        return [.run(kill, mayFail: false)]
    }

    /// The steps for what asks a server of beacons: its timer runs where one is configured, and is gone where none is any more.
    private static func server(_ facts: SetupFacts, _ systemctl: String, isWritten: Bool) -> [SetupStep] {
        if facts.isPackaged { return packagedServer(facts, systemctl) }
        if isWritten {
            return [
                .run([systemctl, "daemon-reload"], mayFail: false),
                .run([systemctl, "enable", "--now", timer], mayFail: false),
            ]
        }
        let stale = ServiceFile.all.filter { $0.isOfServer && !facts.hasServer && facts.files[$0.path] != nil }
        guard !stale.isEmpty else { return [] }
        return [.run([systemctl, "disable", "--now", timer], mayFail: true)] + stale.map { .remove(path: $0.path) }
            + [.run([systemctl, "daemon-reload"], mayFail: false)]
    }

    private static func isOfServer(_ step: SetupStep) -> Bool {
        guard case .write(let path, _, _, _) = step else { return false }
        return ServiceFile.all.contains { $0.isOfServer && $0.path == path }
    }
}

extension SetupStep {
    /// True for a step that takes lines out of this file.
    func isChange(of file: String) -> Bool {
        guard case .removeLines(let path, _) = self else { return false }
        return path == file
    }
}
