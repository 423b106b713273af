// SPDX-License-Identifier: GPL-2.0-or-later

import LinuxIO
import ServiceFiles

/// What makes blewedge a service of a machine, and what takes it away again: facts in, steps out.
package enum SetupPlan {
    /// The user and the group of the service.
    package static let user = "blewedge"
    /// Where the program is put when it does not lie where programs lie.
    package static let programPath = "/usr/local/bin/blewedge"
    /// The service.
    private static let unit = "blewedge.service"
    /// The modules of modules-load.conf.
    private static let modules = ["uinput", "evdev", "bluetooth"]

    /// The steps that are still to be done; none where all is as it has to be.
    package static func installing(_ facts: SetupFacts) -> [SetupStep] {
        let files = ServiceFile.all.filter { isRead($0, facts) && facts.files[$0.path] != $0.text }.map { file in
            SetupStep.write(path: file.path, text: file.text, isNew: facts.files[file.path] == nil)
        }
        var steps = files + program(facts)
        let hasNews = !steps.isEmpty
        steps += user(facts, hasNews)
        if hasNews { steps += modules(facts) + udev(facts) }
        steps += mending(facts)
        if facts.hasSystemd, let systemctl = facts.programs["systemctl"] {
            if hasNews {
                steps += [.run([systemctl, "daemon-reload"], mayFail: false)]
                steps += [.run([systemctl, "restart", unit], mayFail: false)]
            } else if !facts.isActive {
                steps += [.run([systemctl, "start", unit], mayFail: false)]
            }
        }
        return steps
    }

    /// The steps that take away what `installing` put there, but for the user, the choice, the configuration and the program.
    package static func removing(_ facts: SetupFacts) -> [SetupStep] {
        let files = ServiceFile.all.reversed().filter { facts.files[$0.path] != nil }
        guard !files.isEmpty else { return [] }
        var steps: [SetupStep] = []
        if facts.hasSystemd, let systemctl = facts.programs["systemctl"] {
            steps.append(.run([systemctl, "stop", unit], mayFail: true))
        }
        steps += files.map { .remove(path: $0.path) }
        if facts.hasSystemd, let systemctl = facts.programs["systemctl"] {
            steps.append(.run([systemctl, "daemon-reload"], mayFail: true))
        }
        // udev leaves a node as it is once no rule speaks of it; rules of others come after.
        return steps + (facts.isMakerGiven ? [.giveBack(path: UInputDevice.path)] : []) + udev(facts)
    }

    /// Whether there is anything on the machine that reads the file.
    private static func isRead(_ file: ServiceFile, _ facts: SetupFacts) -> Bool {
        switch file.reader {
        case .sysusers: facts.programs["systemd-sysusers"] != nil
        case .tmpfiles: facts.programs["systemd-tmpfiles"] != nil
        // Other service managers read the folder too.
        case .modulesLoad: true
        case .udev: facts.programs["udevadm"] != nil
        case .systemd: facts.hasSystemd
        }
    }

    /// The unit finds the program by its name in the directories of programs.
    private static func program(_ facts: SetupFacts) -> [SetupStep] {
        guard facts.hasSystemd, !facts.isProgramInstalled,
            !SetupFacts.directories.contains(where: { facts.program == "\($0)/blewedge" })
        else { return [] }
        return [.copyProgram(from: facts.program, to: programPath)]
    }

    /// The user, its group and its directory.
    private static func user(_ facts: SetupFacts, _ hasNews: Bool) -> [SetupStep] {
        var steps: [SetupStep] = []
        if !facts.hasUser {
            if let sysusers = facts.programs["systemd-sysusers"] {
                steps.append(.run([sysusers, "/etc/sysusers.d/blewedge.conf"], mayFail: false))
            } else if let useradd = facts.programs["useradd"] {
                let options = ["--system", "--user-group", "--home-dir", "/var/lib/blewedge", "--shell", "/bin/false"]
                steps.append(.run([useradd] + options + [user], mayFail: false))
            } else if let adduser = facts.programs["adduser"] {
                // BusyBox's.
                let options = ["-S", "-D", "-H", "-h", "/var/lib/blewedge", "-s", "/bin/false"]
                steps.append(.run([adduser] + options + [user], mayFail: false))
            }
        }
        guard hasNews || !steps.isEmpty else { return [] }
        if let tmpfiles = facts.programs["systemd-tmpfiles"] {
            steps.append(.run([tmpfiles, "--create", "/etc/tmpfiles.d/blewedge.conf"], mayFail: false))
        } else {
            steps.append(.makeDirectory(path: "/var/lib/blewedge", owner: user))
        }
        return steps
    }

    private static func modules(_ facts: SetupFacts) -> [SetupStep] {
        guard let modprobe = facts.programs["modprobe"] else { return [] }
        // Built in, they are no modules; what is missing then, the doctor says.
        return [.run([modprobe, "--all"] + modules, mayFail: true)]
    }

    private static func udev(_ facts: SetupFacts) -> [SetupStep] {
        guard let udevadm = facts.programs["udevadm"] else { return [] }
        return [
            .run([udevadm, "control", "--reload"], mayFail: true),
            .run([udevadm, "trigger", "--settle", "--sysname-match=uinput", "--sysname-match=hci*"], mayFail: true),
        ]
    }

    /// What the doctor finds and software can mend for good.
    private static func mending(_ facts: SetupFacts) -> [SetupStep] {
        var steps = facts.softBlocks.map { SetupStep.set(path: $0, value: "0") }
        if facts.needsSerialDriver, let modprobe = facts.programs["modprobe"] {
            steps.append(.run([modprobe, "hci_uart"], mayFail: true))
        }
        return steps
    }
}
