// SPDX-License-Identifier: GPL-2.0-or-later

import LinuxIO
import ServiceFiles

/// The steps that install blewedge as a service of a machine, or remove it, as a pure function of the facts.
package enum SetupPlan {
    /// The name of the service's user and of its group.
    package static let user = "blewedge"
    /// The path to which the program is copied if it is in no directory of programs.
    package static let programPath = "/usr/local/bin/blewedge"
    /// The name of the service's unit.
    private static let unit = "blewedge.service"
    /// The name of the timer of what asks a server of beacons.
    static let timer = "blewedge-beacons.timer"
    /// The modules of modules-load.conf.
    private static let modules = ["uinput", "evdev", "bluetooth"]

    /// The steps of the installation that are still to be done; empty if it is complete.
    package static func installing(_ facts: SetupFacts) -> [SetupStep] {
        let own = facts.isPackaged ? [] : ServiceFile.all
        let files = own.filter { isRead($0, facts) && facts.files[$0.path] != $0.text }.map { file in
            SetupStep.write(path: file.path, text: file.text, isNew: facts.files[file.path] == nil)
        }
        var steps = files + program(facts)
        let hasNews = !steps.isEmpty
        steps += user(facts, hasNews)
        if hasNews { steps += modules(facts) + udev(facts) }
        steps += mending(facts)
        if facts.hasSystemd, let systemctl = facts.programs["systemctl"] {
            steps += server(facts, systemctl, isWritten: files.contains { isOfServer($0) })
            if hasNews {
                steps += [.run([systemctl, "daemon-reload"], mayFail: false)]
                steps += [.run([systemctl, "restart", unit], mayFail: false)]
            } else if !facts.isActive {
                steps += [.run([systemctl, "start", unit], mayFail: false)]
            }
        }
        return steps + help(facts)
    }

    /// The steps that remove an installation; the user, the chosen device, the configuration and the program stay.
    package static func removing(_ facts: SetupFacts) -> [SetupStep] {
        let files = ServiceFile.all.reversed().filter { facts.files[$0.path] != nil }
        let help = HelpFile.Reader.allCases.map(\.path).filter { facts.files[$0] != nil }.map(SetupStep.remove)
        guard !files.isEmpty else { return help }
        var steps: [SetupStep] = []
        if facts.hasSystemd, !facts.isPackaged, let systemctl = facts.programs["systemctl"] {
            if files.contains(where: \.isOfServer) {
                steps.append(.run([systemctl, "disable", "--now", timer], mayFail: true))
            }
            steps.append(.run([systemctl, "stop", unit], mayFail: true))
        }
        steps += files.map { .remove(path: $0.path) }
        if facts.hasSystemd, let systemctl = facts.programs["systemctl"] {
            steps.append(.run([systemctl, "daemon-reload"], mayFail: true))
            // The package's service, with the package's files.
            if facts.isPackaged { steps.append(.run([systemctl, "restart", unit], mayFail: true)) }
        }
        // udev does not change a node back when its rule is gone, so its owner is set here; the rules of other
        // packages are applied afterwards.
        let isGivenBack = facts.isMakerGiven && !facts.isPackaged
        return steps + (isGivenBack ? [.giveBack(path: UInputDevice.path)] : []) + udev(facts) + help
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
        guard case .write(let path, _, _) = step else { return false }
        return ServiceFile.all.contains { $0.isOfServer && $0.path == path }
    }

    /// True if the machine has a reader of the file.
    private static func isRead(_ file: ServiceFile, _ facts: SetupFacts) -> Bool {
        if file.isOfServer, !facts.hasServer { return false }
        return switch file.reader {
        case .sysusers: facts.programs["systemd-sysusers"] != nil
        case .tmpfiles: facts.programs["systemd-tmpfiles"] != nil
        // Other service managers read this directory too.
        case .modulesLoad: true
        case .udev: facts.programs["udevadm"] != nil
        case .systemd: facts.hasSystemd
        }
    }

    /// The step that copies the program, if the unit would not find it in the directories of programs.
    private static func program(_ facts: SetupFacts) -> [SetupStep] {
        guard facts.hasSystemd, !facts.isPackaged, !facts.isProgramInstalled,
            !SetupFacts.directories.contains(where: { facts.program == "\($0)/blewedge" })
        else { return [] }
        return [.copyProgram(from: facts.program, to: programPath)]
    }

    /// The steps that make the user, its group and its directory.
    private static func user(_ facts: SetupFacts, _ hasNews: Bool) -> [SetupStep] {
        var steps: [SetupStep] = []
        if !facts.hasUser {
            if let sysusers = facts.programs["systemd-sysusers"] {
                steps.append(.run([sysusers, place(.sysusers, facts)], mayFail: false))
            } else if let useradd = facts.programs["useradd"] {
                let options = ["--system", "--user-group", "--home-dir", "/var/lib/blewedge", "--shell", "/bin/false"]
                steps.append(.run([useradd] + options + [user], mayFail: false))
            } else if let adduser = facts.programs["adduser"] {
                // The adduser of BusyBox.
                let options = ["-S", "-D", "-H", "-h", "/var/lib/blewedge", "-s", "/bin/false"]
                steps.append(.run([adduser] + options + [user], mayFail: false))
            }
        }
        guard hasNews || !steps.isEmpty else { return [] }
        if let tmpfiles = facts.programs["systemd-tmpfiles"] {
            steps.append(.run([tmpfiles, "--create", place(.tmpfiles, facts)], mayFail: false))
        } else {
            steps.append(.makeDirectory(path: "/var/lib/blewedge", owner: user))
        }
        return steps
    }

    /// Where the file of a reader lies: what setup writes, or what the package has.
    private static func place(_ reader: ServiceFile.Reader, _ facts: SetupFacts) -> String {
        guard let file = ServiceFile.all.first(where: { $0.reader == reader }) else { return "" }
        return facts.isPackaged ? file.packagedPath : file.path
    }

    private static func modules(_ facts: SetupFacts) -> [SetupStep] {
        guard let modprobe = facts.programs["modprobe"] else { return [] }
        // This fails for drivers that are built into the kernel. The doctor reports drivers that are missing.
        return [.run([modprobe, "--all"] + modules, mayFail: true)]
    }

    private static func udev(_ facts: SetupFacts) -> [SetupStep] {
        guard let udevadm = facts.programs["udevadm"] else { return [] }
        return [
            .run([udevadm, "control", "--reload"], mayFail: true),
            .run([udevadm, "trigger", "--settle", "--sysname-match=uinput", "--sysname-match=hci*"], mayFail: true),
        ]
    }

    /// The steps for those findings of the doctor that software can repair for good.
    private static func mending(_ facts: SetupFacts) -> [SetupStep] {
        var steps = facts.softBlocks.map { SetupStep.set(path: $0, value: "0") }
        if facts.needsSerialDriver, let modprobe = facts.programs["modprobe"] {
            steps.append(.run([modprobe, "hci_uart"], mayFail: true))
        }
        return steps
    }
}
