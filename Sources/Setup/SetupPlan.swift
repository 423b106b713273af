// SPDX-License-Identifier: GPL-2.0-or-later

import LinuxIO
import ServiceFiles
package import Texts

/// The steps that install blewedge as a service of a machine, or remove it; computed only from the facts.
package enum SetupPlan {
    /// Name of the service's user and of its group.
    package static let user = "blewedge"
    /// Path to which the program is copied unless it is in one of the usual directories for programs.
    package static let programPath = "/usr/local/bin/blewedge"
    /// Kernel modules that are loaded at boot, as listed in the modules-load.d file.
    private static let modules = ["uinput", "evdev", "bluetooth"]

    /// Returns the installation steps that have not been performed yet; empty if the installation is complete.
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
        // Add the lines after all files are written, because the program that reads the lines may start the service
        // immediately.
        return steps + lines + starting(facts, files: files, hasNews: hasNews) + help(facts)
    }

    /// Returns the steps that remove an installation.
    ///
    /// They keep the user, the selected device, the configuration and the program.
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
        // When its rule is removed, udev does not change the owner back, so reset the owner here; after that, the rules
        // of other packages are applied.
        let isGivenBack = facts.isMakerGiven && !facts.isPackaged
        return steps + (isGivenBack ? [.giveBack(path: UInputDevice.path)] : []) + udev(facts) + help
    }

    /// Returns true if the machine has a program that reads this file.
    private static func isRead(_ file: ServiceFile, _ facts: SetupFacts) -> Bool {
        if file.isOfServer, !facts.hasServer { return false }
        return switch file.reader {
        case .sysusers: facts.programs["systemd-sysusers"] != nil
        case .tmpfiles: facts.programs["systemd-tmpfiles"] != nil
        // Service managers other than systemd also read this directory.
        case .modulesLoad: !facts.hasModuleList
        case .udev: facts.programs["udevadm"] != nil && !facts.hasMdev
        case .systemd: facts.manager == .systemd
        case .openrc: facts.manager == .openrc
        case .runit: facts.manager == .runit
        case .inittab: facts.manager == .sysvinit || facts.manager == .busybox
        case .others: facts.manager != nil && facts.manager != .systemd
        }
    }

    /// Returns blewedge's lines for shared files, but only for those files that the machine reads.
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

    private static func program(_ facts: SetupFacts) -> [SetupStep] {
        guard facts.manager != nil, !facts.isPackaged, !facts.isProgramInstalled,
            !SetupFacts.directories.contains(where: { facts.program == "\($0)/blewedge" })
        else { return [] }
        return [.copyProgram(from: facts.program, to: programPath)]
    }

    /// Returns the steps that create the user, its group and its directory.
    private static func user(_ facts: SetupFacts, _ hasNews: Bool) -> [SetupStep] {
        var steps: [SetupStep] = []
        if !facts.hasUser {
            if let sysusers = facts.programs["systemd-sysusers"] {
                steps.append(.run([sysusers, place(.sysusers, facts)], mayFail: false))
            } else if let useradd = facts.programs["useradd"] {
                let options = ["--system", "--user-group", "--home-dir", "/var/lib/blewedge", "--shell", "/bin/false"]
                steps.append(.run([useradd] + options + [user], mayFail: false))
            } else if let adduser = facts.programs["adduser"] {
                // BusyBox's adduser does not create a group for the user.
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

    /// Returns the path of the file for this reader, as installed by setup or by the package.
    private static func place(_ reader: ServiceFile.Reader, _ facts: SetupFacts) -> String {
        guard let file = ServiceFile.all.first(where: { $0.reader == reader }) else { return "" }
        return facts.isPackaged ? file.packagedPath ?? file.path : file.path
    }

    private static func modules(_ facts: SetupFacts) -> [SetupStep] {
        guard let modprobe = facts.programs["modprobe"] else { return [] }
        // Loading fails for drivers that are built into the kernel. The doctor reports drivers that are missing.
        return [.run([modprobe, "-a"] + modules, mayFail: true)]
    }

    private static func udev(_ facts: SetupFacts) -> [SetupStep] {
        guard !facts.hasMdev, let udevadm = facts.programs["udevadm"] else { return [] }
        return [
            .run([udevadm, "control", "--reload"], mayFail: true),
            .run([udevadm, "trigger", "--settle", "--sysname-match=uinput", "--sysname-match=hci*"], mayFail: true),
        ]
    }

    /// Returns the steps that permanently fix the causes of the doctor's findings, where software can do that.
    private static func mending(_ facts: SetupFacts) -> [SetupStep] {
        var steps = facts.softBlocks.map { SetupStep.set(path: $0, value: "0") }
        if facts.needsSerialDriver, let modprobe = facts.programs["modprobe"] {
            steps.append(.run([modprobe, "hci_uart"], mayFail: true))
        }
        return steps
    }

    // If a system package has installed the service, it owns the service's files, its user and its help. Setup then
    // handles only the radio, the timer for the beacon server, and the files of an earlier setup.

    /// Returns the notes that are shown with the steps.
    package static func notes(_ facts: SetupFacts, isRemoving: Bool) -> [Message] {
        guard facts.isPackaged else {
            return isRemoving || facts.manager != nil ? [] : [SetupText.noManager.message()]
        }
        if isRemoving { return [SetupText.packageStays.message()] }
        let isShadowed = ServiceFile.all.contains { facts.files[$0.path] != nil }
        return [SetupText.packaged.message()] + (isShadowed ? [SetupText.shadowing.message()] : [])
    }

    /// Returns the commands that the user must still run before the first character can be typed.
    package static func nextSteps(_ facts: SetupFacts) -> Message {
        let commands = FirstSteps.commands(hasManager: facts.manager != nil).filter { $0 != FirstSteps.setup }
        return SetupText.next.message(Message.listed(commands.map { Message(detail: "`\($0)`") }))
    }

    /// Returns the steps that install the manual page and the completions, if the programs that read them are
    /// installed.
    static func help(_ facts: SetupFacts) -> [SetupStep] {
        guard !facts.isPackaged else { return [] }
        return facts.help.filter { facts.programs[$0.reader.program] != nil && facts.files[$0.reader.path] != $0.text }
            .map { .write(path: $0.reader.path, text: $0.text, isNew: facts.files[$0.reader.path] == nil) }
    }

    /// Returns the step that enables or disables the package's timer.
    ///
    /// The timer is enabled if a beacon server is configured, and disabled otherwise.
    static func packagedServer(_ facts: SetupFacts, _ systemctl: String) -> [SetupStep] {
        guard facts.hasServer != facts.isTimerEnabled else { return [] }
        return [.run([systemctl, facts.hasServer ? "enable" : "disable", "--now", timer], mayFail: !facts.hasServer)]
    }

    // Commands for the service manager.

    private static let unit = "blewedge.service"
    /// Name of the timer for requests to the beacon server.
    static let timer = "blewedge-beacons.timer"
    private static let supervised = "/etc/sv/blewedge"
    /// The step that waits until the service accepts requests; it is for service managers that do not wait themselves.
    private static let awaiting = SetupStep.run(["/usr/local/sbin/blewedge-service", "await"], mayFail: false)

    /// Returns those links and directories for the service that setup or the service manager creates.
    static func made(_ facts: SetupFacts) -> [String] {
        switch facts.manager {
        case .openrc: ["/etc/runlevels/default/blewedge"]
        case .runit:
            [facts.serviceDirectory + "/blewedge"]
                + ["/log/supervise", "/log", "/supervise", ""].map { supervised + $0 }
        case nil, .systemd, .sysvinit, .busybox: []
        }
    }

    /// Returns the steps that start the service now and at every boot.
    ///
    /// `files` are the steps that write the service's files.
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
                // Creating the link is sufficient, because runit looks for new services every five seconds.
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

    /// Returns the steps that stop the service before its files are removed.
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

    /// Returns the steps to perform after the files are removed.
    static func forgetting(_ facts: SetupFacts) -> [SetupStep] {
        switch facts.manager {
        case .systemd:
            guard let systemctl = facts.programs["systemctl"] else { return [] }
            // The service from the package then uses the package's files.
            let again = facts.isPackaged ? [SetupStep.run([systemctl, "restart", unit], mayFail: true)] : []
            return [.run([systemctl, "daemon-reload"], mayFail: true)] + again
        case .runit:
            return made(facts).filter { $0.hasPrefix(supervised) && facts.made.contains($0) }.map {
                .removeDirectory(path: $0)
            }
        case nil, .openrc, .sysvinit, .busybox: return []
        }
    }

    /// Returns the step that makes the init program read its table again.
    private static func readInittab(_ facts: SetupFacts) -> [SetupStep] {
        // If there is no program `kill`, use the shell's built-in command.
        let kill = facts.programs["kill"].map { [$0, "-HUP", "1"] } ?? ["/bin/sh", "-c", "kill -HUP 1"]
        return [.run(kill, mayFail: false)]
    }

    /// Returns the steps that enable the timer for the beacon server, or remove it if no server is configured.
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
    /// Returns true for a step that removes lines from this file.
    func isChange(of file: String) -> Bool {
        guard case .removeLines(let path, _) = self else { return false }
        return path == file
    }
}

/// A step of `blewedge setup`; it is shown before it is performed.
package enum SetupStep: Equatable, Sendable {
    /// Writes a file, and creates its parent directories; `isNew` is false if the file exists with other contents.
    case write(path: String, text: String, isNew: Bool, isProgram: Bool = false)
    /// Adds lines to a shared file, replacing lines that were added earlier.
    ///
    /// If `first` is true, they come before all other lines.
    case addLines(path: String, lines: [String], first: Bool)
    /// Removes lines that were added to a shared file, and then the file itself if it is empty.
    case removeLines(path: String, lines: [String])
    case link(path: String, target: String)
    /// Removes a directory and its files, but not its subdirectories.
    case removeDirectory(path: String)
    /// Copies the program from the first path to the second.
    case copyProgram(from: String, to: String)
    case remove(path: String)
    case set(path: String, value: String)
    /// Creates a directory that belongs to the service's user; used if there is no systemd-tmpfiles.
    case makeDirectory(path: String, owner: String)
    /// Gives a device node back to root, its owner before a udev rule changed it.
    case giveBack(path: String)
    /// Runs a program with its arguments; if `mayFail` is true, setup continues after a failure.
    case run([String], mayFail: Bool)

    /// Returns the step as text: the equivalent shell command or, for a file that is written, a sentence.
    package func text(_ language: Language) -> String {
        switch self {
        case .write(let path, _, isNew: true, _): SetupText.write.text(language, path)
        case .write(let path, _, isNew: false, _): SetupText.writeAnew.text(language, path)
        case .addLines(let path, let lines, _):
            SetupText.addLines.text(language, path) + lines.map { "\n    \($0)" }.joined()
        case .removeLines(let path, _): SetupText.removeLines.text(language, path)
        case .link(let path, let target): "ln -s \(target) \(path)"
        case .removeDirectory(let path): "rm \(path)/*; rmdir \(path)"
        case .copyProgram(let source, let target): "install -m 755 \(source) \(target)"
        case .remove(let path): "rm \(path)"
        case .set(let path, let value): "echo \(value) >\(path)"
        case .makeDirectory(let path, let owner): "install -d -o \(owner) -g \(owner) \(path)"
        case .giveBack(let path): "chown root:root \(path); chmod 600 \(path)"
        case .run(let words, _): words.joined(separator: " ")
        }
    }
}
