// SPDX-License-Identifier: GPL-2.0-or-later

import LinuxIO
import ServiceFiles

/// The steps that install blewedge as a service of a machine, or remove it, as a pure function of the facts.
package enum SetupPlan {
    /// The name of the service's user and of its group.
    package static let user = "blewedge"
    /// The path to which the program is copied if it is in no directory of programs.
    package static let programPath = "/usr/local/bin/blewedge"
    /// The modules of modules-load.conf.
    private static let modules = ["uinput", "evdev", "bluetooth"]

    /// The steps of the installation that are still to be done; empty if it is complete.
    package static func installing(_ facts: SetupFacts) -> [SetupStep] {
        let own = ServiceFile.all.filter { !(facts.isPackaged && $0.packagedPath != nil) }
        let files = own.filter { isRead($0, facts) && facts.files[$0.path] != $0.text }.map { file in
            let isNew = facts.files[file.path] == nil
            return SetupStep.write(path: file.path, text: file.text, isNew: isNew, isProgram: file.isProgram)
        }
        let lines = lines(facts).filter { !isIn($0, facts) }.map { own in
            SetupStep.addLines(path: own.path, lines: own.lines, first: own.isFirst)
        }
        var steps = files + program(facts)
        let hasNews = !(steps + lines).isEmpty
        steps += user(facts, hasNews)
        if hasNews { steps += modules(facts) + udev(facts) }
        steps += mending(facts)
        // The lines last of all files: what reads them may start the service at once.
        return steps + lines + starting(facts, files: files, hasNews: hasNews) + help(facts)
    }

    /// The steps that remove an installation; the user, the chosen device, the configuration and the program stay.
    package static func removing(_ facts: SetupFacts) -> [SetupStep] {
        let paths = ServiceFile.all.reversed().map(\.path).filter { facts.files[$0] != nil }
        let lines = ServiceLines.all.filter { MarkedLines.found(in: facts.files[$0.path] ?? "") != nil }
        let help = HelpFile.Reader.allCases.map(\.path).filter { facts.files[$0] != nil }.map(SetupStep.remove)
        guard !(paths.isEmpty && lines.isEmpty && facts.made.isEmpty) else { return help }
        var steps: [SetupStep] = []
        for own in lines where !steps.contains(where: { $0.isChange(of: own.path) }) {
            steps.append(.removeLines(path: own.path, lines: own.lines))
        }
        steps += stopping(facts)
        for path in paths where !steps.contains(.remove(path: path)) { steps.append(.remove(path: path)) }
        steps += forgetting(facts)
        // udev does not change a node back when its rule is gone, so its owner is set here; the rules of other
        // packages are applied afterwards.
        let isGivenBack = facts.isMakerGiven && !facts.isPackaged
        return steps + (isGivenBack ? [.giveBack(path: UInputDevice.path)] : []) + udev(facts) + help
    }

    /// True if the machine has a reader of the file.
    private static func isRead(_ file: ServiceFile, _ facts: SetupFacts) -> Bool {
        if file.isOfServer, !facts.hasServer { return false }
        return switch file.reader {
        case .sysusers: facts.programs["systemd-sysusers"] != nil
        case .tmpfiles: facts.programs["systemd-tmpfiles"] != nil
        // Other service managers read this directory too.
        case .modulesLoad: !facts.hasModuleList
        case .udev: facts.programs["udevadm"] != nil && !facts.hasMdev
        case .systemd: facts.manager == .systemd
        case .openrc: facts.manager == .openrc
        case .runit: facts.manager == .runit
        case .inittab: facts.manager == .sysvinit || facts.manager == .busybox
        case .others: facts.manager != nil && facts.manager != .systemd
        }
    }

    /// The lines of blewedge's that the machine has a reader of.
    private static func lines(_ facts: SetupFacts) -> [ServiceLines] {
        var lines: [ServiceLines] = []
        if facts.hasModuleList { lines.append(.modules) }
        if facts.hasMdev { lines.append(.mdev) }
        switch facts.manager {
        case .sysvinit: lines.append(.sysvinit)
        case .busybox: lines.append(.busybox)
        case nil, .systemd, .openrc, .runit: break
        }
        return lines
    }

    private static func isIn(_ own: ServiceLines, _ facts: SetupFacts) -> Bool {
        MarkedLines.found(in: facts.files[own.path] ?? "") == own.lines
    }

    /// The step that copies the program, if the service would not find it in the directories of programs.
    private static func program(_ facts: SetupFacts) -> [SetupStep] {
        guard facts.manager != nil, !facts.isPackaged, !facts.isProgramInstalled,
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
                // The adduser of BusyBox, which makes no group of the user's own.
                let options = ["-S", "-D", "-H", "-h", "/var/lib/blewedge", "-s", "/bin/false", "-G", user]
                if let addgroup = facts.programs["addgroup"] {
                    steps.append(.run([addgroup, "-S", user], mayFail: true))
                }
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
        return facts.isPackaged ? file.packagedPath ?? file.path : file.path
    }

    private static func modules(_ facts: SetupFacts) -> [SetupStep] {
        guard let modprobe = facts.programs["modprobe"] else { return [] }
        // This fails for drivers that are built into the kernel. The doctor reports drivers that are missing.
        return [.run([modprobe, "-a"] + modules, mayFail: true)]
    }

    private static func udev(_ facts: SetupFacts) -> [SetupStep] {
        guard !facts.hasMdev, let udevadm = facts.programs["udevadm"] else { return [] }
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
