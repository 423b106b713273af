// SPDX-License-Identifier: GPL-2.0-or-later

import LinuxIO
import ServiceFiles
import TestSupport
import Testing
import Texts

@testable import Setup

/// Returns a machine with this service manager, udev and a program built by the user, on which nothing is set up.
private func freshMachine(_ manager: ServiceManager) -> SetupFacts {
    var facts = SetupFacts()
    let programs = ["rc-service", "rc-update", "sv", "kill", "udevadm", "modprobe", "useradd"]
    for name in programs { facts.programs[name] = "/sbin/\(name)" }
    facts.manager = manager
    facts.serviceDirectory = "/etc/service"
    facts.program = "/opt/blewedge"
    facts.files["/etc/inittab"] = "id:2:initdefault:\n"
    return facts
}

/// Returns such a machine with BusyBox's programs, mdev and /etc/modules.
private func smallMachine() -> SetupFacts {
    var facts = freshMachine(.busybox)
    facts.programs = ["kill": "/bin/kill", "modprobe": "/sbin/modprobe"]
    for name in ["adduser", "addgroup"] { facts.programs[name] = "/usr/sbin/\(name)" }
    facts.hasMdev = true
    facts.hasModuleList = true
    facts.files["/etc/modules"] = "loop\n"
    return facts
}

/// Returns the facts of the machine after these steps.
private func after(_ steps: [SetupStep], _ facts: SetupFacts) -> SetupFacts {
    var facts = facts
    for step in steps {
        switch step {
        case .write(let path, let text, _, _): facts.files[path] = text
        case .addLines(let path, let lines, let first):
            facts.files[path] = MarkedLines.adding(lines, to: facts.files[path] ?? "", first: first)
        case .removeLines(let path, let lines):
            facts.files[path] = MarkedLines.removing(lines, from: facts.files[path] ?? "")
        case .remove(let path):
            facts.files[path] = nil
            facts.made.remove(path)
        case .link(let path, _): facts.made.formUnion([path, "/etc/sv/blewedge", "/etc/sv/blewedge/supervise"])
        case .removeDirectory(let path): facts.made.remove(path)
        case .run(let words, _):
            if words.contains("add") { facts.made.insert("/etc/runlevels/default/blewedge") }
            if words.contains("delete") { facts.made.remove("/etc/runlevels/default/blewedge") }
            if words.contains("await") { facts.isActive = true }
            if words.contains(where: { $0.hasSuffix("useradd") || $0.hasSuffix("adduser") }) { facts.hasUser = true }
        case .copyProgram: facts.isProgramInstalled = true
        case .set, .makeDirectory, .giveBack: break
        }
    }
    return facts
}

private func lines(_ steps: [SetupStep]) -> [String] { steps.map { $0.text(.english) } }

@Suite("Setup without systemd")
struct ServiceManagerTests {
    private static let others: [ServiceManager] = [.openrc, .runit, .sysvinit, .busybox]

    /// Common steps with udev, between installing the files and starting the service.
    private static let common = [
        "install -m 755 /opt/blewedge /usr/local/bin/blewedge",
        "/sbin/useradd --system --user-group --home-dir /var/lib/blewedge --shell /bin/false blewedge",
        "install -d -o blewedge -g blewedge /var/lib/blewedge",
        "/sbin/modprobe -a uinput evdev bluetooth",
        "/sbin/udevadm control --reload",
        "/sbin/udevadm trigger --settle --sysname-match=uinput --sysname-match=hci*",
    ]
    private static let files = [
        "write /etc/modules-load.d/blewedge.conf", "write /etc/udev/rules.d/60-blewedge.rules",
        "write /usr/local/sbin/blewedge-service",
    ]
    private static let awaiting = "/usr/local/sbin/blewedge-service await"

    private static func shown(_ lines: [String], in file: String) -> String {
        ["add to \(file):"].joined() + lines.map { "\n    \($0)" }.joined()
    }

    @Test("OpenRC gets a script that it supervises, in the default run level")
    func openrc() {
        #expect(
            lines(SetupPlan.installing(freshMachine(.openrc))) == Self.files + ["write /etc/init.d/blewedge"]
                + Self.common + [
                    "/sbin/rc-update add blewedge default", "/sbin/rc-service blewedge restart", Self.awaiting,
                ]
        )
    }

    @Test("runit gets a service with a log of its own, and a link to it")
    func runit() {
        let service = ["log/run", "finish", "run"].map { "write /etc/sv/blewedge/\($0)" }
        let link = ["ln -s /etc/sv/blewedge /etc/service/blewedge", Self.awaiting]
        #expect(lines(SetupPlan.installing(freshMachine(.runit))) == Self.files + service + Self.common + link)
    }

    @Test("sysvinit gets a line of its table, which it then reads, and a script for the administrator")
    func sysvinit() {
        let own = ["blew:2345:respawn:/usr/local/sbin/blewedge-service keep"]
        #expect(
            lines(SetupPlan.installing(freshMachine(.sysvinit))) == Self.files + ["write /etc/init.d/blewedge"]
                + Self.common + [Self.shown(own, in: "/etc/inittab"), "/sbin/kill -HUP 1", Self.awaiting]
        )
    }

    @Test("BusyBox gets a line for its init, lines for mdev and for the modules, a user and a group of its own")
    func busybox() {
        let steps = SetupPlan.installing(smallMachine())
        #expect(
            lines(steps) == [
                "write /usr/local/sbin/blewedge-service", "write /etc/init.d/blewedge",
                "install -m 755 /opt/blewedge /usr/local/bin/blewedge", "/usr/sbin/addgroup -S blewedge",
                "/usr/sbin/adduser -S -D -H -h /var/lib/blewedge -s /bin/false -G blewedge blewedge",
                "install -d -o blewedge -g blewedge /var/lib/blewedge", "/sbin/modprobe -a uinput evdev bluetooth",
                Self.shown(["uinput", "evdev", "bluetooth"], in: "/etc/modules"),
                Self.shown(ServiceLines.mdev.lines, in: "/etc/mdev.conf"),
                Self.shown(["::respawn:/usr/local/sbin/blewedge-service keep"], in: "/etc/inittab"),
                "/bin/kill -HUP 1", Self.awaiting,
            ]
        )
        var facts = smallMachine()
        facts.programs["kill"] = nil
        #expect(lines(SetupPlan.installing(facts)).contains("/bin/sh -c kill -HUP 1"))
        // The order of lines matters only in mdev.conf, whose first matching line is used.
        let firsts = steps.compactMap { if case .addLines(let path, _, true) = $0 { path } else { nil } }
        #expect(firsts == ["/etc/mdev.conf"])
        #expect(ServiceLines.mdev.lines.contains("uinput blewedge:root 0600"))
    }

    @Test("A second setup has nothing to do; a service that has stopped is started, one with a new file restarted")
    func again() {
        let commands: [ServiceManager: (start: [String], restart: String)] = [
            .openrc: (["/sbin/rc-service blewedge start"], "/sbin/rc-service blewedge restart"),
            .runit: (["/sbin/sv up /etc/sv/blewedge"], "/sbin/sv restart /etc/sv/blewedge"),
            .sysvinit: (["/etc/init.d/blewedge start"], "/etc/init.d/blewedge restart"),
            .busybox: (["/etc/init.d/blewedge start"], "/etc/init.d/blewedge restart"),
        ]
        for manager in Self.others {
            var facts = manager == .busybox ? smallMachine() : freshMachine(manager)
            facts = after(SetupPlan.installing(facts), facts)
            #expect(SetupPlan.installing(facts).isEmpty, "\(manager)")
            facts.isActive = false
            #expect(lines(SetupPlan.installing(facts)) == (commands[manager]?.start ?? []) + [Self.awaiting])
            facts.files["/usr/local/sbin/blewedge-service"] = "#!/bin/sh\n"
            let steps = lines(SetupPlan.installing(facts))
            #expect(steps.first == "rewrite /usr/local/sbin/blewedge-service")
            #expect(steps.suffix(2) == [commands[manager]?.restart, Self.awaiting])
        }
    }

    @Test("Removing ends the service, takes every file, line and link away, and leaves the lines of others")
    func removing() {
        let ends: [ServiceManager: [String]] = [
            .openrc: ["/sbin/rc-service blewedge stop", "/sbin/rc-update delete blewedge default"],
            .runit: ["rm /etc/service/blewedge", "/sbin/sv force-shutdown /etc/sv/blewedge"],
            .sysvinit: [
                "remove blewedge's lines from /etc/inittab", "/sbin/kill -HUP 1",
                "/usr/local/sbin/blewedge-service end",
            ],
            .busybox: [
                "remove blewedge's lines from /etc/inittab", "remove blewedge's lines from /etc/mdev.conf",
                "remove blewedge's lines from /etc/modules", "/bin/kill -HUP 1", "/usr/local/sbin/blewedge-service end",
            ],
        ]
        for manager in Self.others {
            let fresh = manager == .busybox ? smallMachine() : freshMachine(manager)
            let ready = after(SetupPlan.installing(fresh), fresh)
            let steps = SetupPlan.removing(ready)
            #expect(Array(lines(steps).prefix(ends[manager]?.count ?? 0)) == ends[manager])
            let left = after(steps, ready)
            #expect(left.made.isEmpty)
            #expect(left.files.filter { !$0.value.isEmpty } == fresh.files, "\(manager)")
            #expect(SetupPlan.removing(left).isEmpty)
            #expect(SetupPlan.removing(fresh).isEmpty)
        }
    }

    @Test("Each manager is told from the others; an init without a table, and any other one, is none of them")
    func signs() {
        var signs = ServiceManager.Signs()
        #expect(ServiceManager(signs) == nil)
        (signs.name, signs.program) = ("init", "/usr/sbin/init")
        #expect(ServiceManager(signs) == nil)
        signs.hasInittab = true
        #expect(ServiceManager(signs) == .sysvinit)
        signs.program = "/bin/busybox"
        #expect(ServiceManager(signs) == .busybox)
        signs.hasInittab = false
        #expect(ServiceManager(signs) == nil)
        signs.hasInittab = true
        signs.hasServices = true
        #expect(ServiceManager(signs) == .busybox)
        (signs.name, signs.program) = ("runit", "/usr/sbin/runit")
        #expect(ServiceManager(signs) == .runit)
        signs.hasServices = false
        #expect(ServiceManager(signs) == nil)
        // Any of these programs can start OpenRC.
        for (name, program) in [
            ("openrc-init", "/usr/sbin/openrc-init"), ("init", "/sbin/init"), ("init", "/bin/busybox"),
        ] {
            (signs.name, signs.program, signs.hasOpenRC) = (name, program, true)
            #expect(ServiceManager(signs) == .openrc)
        }
        signs.hasSystemd = true
        #expect(ServiceManager(signs) == .systemd)
    }

    @Test("The other services have the same user and final exit statuses as the systemd unit")
    func likeTheUnit() throws {
        let text = { (name: String) in try #require(ServiceFile.all.first { $0.path.hasSuffix(name) }).text }
        let unit = try text("/blewedge.service")
        #expect(unit.contains("RestartPreventExitStatus=0 64 78\n"))
        for name in ["/blewedge-service", "/sv/blewedge/finish"] { #expect(try text(name).contains("  0 | 64 | 78) ")) }
        let service = try text("/blewedge-service")
        let starts = service.split(separator: "\n").filter { $0.contains("blewedge run") }
        #expect(starts.count == 3 && starts.allSatisfy { $0.contains("blewedge run --user blewedge </dev/null") })
        #expect(ServiceManager.allCases.allSatisfy { $0.start.contains("blewedge") })
        let words = ServiceManager.allCases.map { $0.startWords.joined(separator: " ") }
        #expect(words.first == "systemctl --no-ask-password start blewedge")
        #expect(words.dropFirst() == ServiceManager.allCases.dropFirst().map(\.start)[...])
    }

    @Test("Without the programs of the service manager, setup handles the files and runs what is there")
    func withoutPrograms() {
        let common = [
            "write /etc/modules-load.d/blewedge.conf", "write /usr/local/sbin/blewedge-service",
            "install -m 755 /opt/blewedge /usr/local/bin/blewedge",
            "install -d -o blewedge -g blewedge /var/lib/blewedge",
        ]
        let ends: [ServiceManager: (starting: [String], stopping: [String])] = [
            .systemd: ([], []), .openrc: ([], []),
            .runit: (["ln -s /etc/sv/blewedge /etc/service/blewedge", Self.awaiting], ["rm /etc/service/blewedge"]),
        ]
        for (manager, end) in ends {
            var facts = freshMachine(manager)
            facts.programs = [:]
            let steps = SetupPlan.installing(facts)
            let own = lines(steps).filter { !common.contains($0) && !$0.hasPrefix("write ") }
            #expect(own == end.starting, "\(manager)")
            #expect(lines(steps).filter(common.contains).count == (manager == .systemd ? 3 : 4))
            let ready = after(steps, facts)
            let removed = lines(SetupPlan.removing(ready))
            let places = Set(ready.files.keys).subtracting(["/etc/inittab"]).map { "rm \($0)" }
            #expect(Array(removed.filter { !places.contains($0) }.prefix(end.stopping.count)) == end.stopping)
            #expect(Set(places).isSubset(of: removed), "\(manager)")
        }
    }
}
