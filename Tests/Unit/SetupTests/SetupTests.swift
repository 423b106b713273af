// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import LinuxIO
import ServiceFiles
import SystemPackage
import TestSupport
import Testing
import Texts
import TextsSupport

@testable import Setup

/// Returns a machine with systemd on which nothing is set up, and a program in the directory where the user has built
/// it.
func freshMachine() -> SetupFacts {
    var facts = SetupFacts()
    for name in SetupFacts.names where !["adduser", "addgroup"].contains(name) {
        facts.programs[name] = "/usr/bin/\(name)"
    }
    facts.manager = .systemd
    facts.program = "/home/user/blewedge"
    return facts
}

/// Returns this machine after setup.
func readyMachine() -> SetupFacts {
    var facts = freshMachine()
    for file in ofSystemd where !file.isOfServer { facts.files[file.path] = file.text }
    facts.hasUser = true
    facts.isProgramInstalled = true
    facts.isActive = true
    return facts
}

/// Service files of a machine with systemd.
private var ofSystemd: [ServiceFile] {
    ServiceFile.all.filter { [.sysusers, .tmpfiles, .modulesLoad, .udev, .systemd].contains($0.reader) }
}

@Suite("Setup")
struct SetupTests {
    /// The directory udev/ of the sources.
    private static let folder = FilePath(#filePath).removingLastComponent().removingLastComponent()
        .removingLastComponent().removingLastComponent().appending("udev")

    @Test("The program carries every file of udev/, as it is there")
    func oneSource() throws {
        let names = FileSystem.names(in: Self.folder.string).filter { !$0.hasSuffix(".swift") }
        let isOfLines = { (name: String) in name.hasPrefix("inittab.") || name == "mdev.conf" }
        let texts = try names.map { name in
            String(
                decoding: try FileSystem.contents(of: Self.folder.appending(name).string, limit: 1 << 20),
                as: UTF8.self
            )
        }
        let whole = zip(names, texts).filter { !isOfLines($0.0) }
        #expect(Set(whole.map(\.1)) == Set(ServiceFile.all.map(\.text)))
        #expect(whole.count == ServiceFile.all.count)
        let lines = texts.map { $0.split(separator: "\n").map(String.init).filter { !$0.hasPrefix("#") } }
        #expect(ServiceLines.all.allSatisfy { lines.contains($0.lines) })
        #expect(names.filter(isOfLines).count == ServiceLines.all.filter { $0 != .modules }.count)
        #expect(ServiceFile.all.allSatisfy { $0.text.contains("SPDX-License-Identifier") && $0.text.hasSuffix("\n") })
        #expect(Set(ServiceFile.all.map(\.reader)) == Set(ServiceFile.Reader.allCases))
    }

    @Test("D-11: the rule for the keyboard's event node has the keyboard's own vendor, product and name")
    func identity() throws {
        let rules = try #require(ServiceFile.all.first { $0.reader == .udev }).text
        let hexadecimal = { (number: UInt16) in
            let digits = String(number, radix: 16)
            return String(repeating: "0", count: 4 - digits.count) + digits
        }
        #expect(rules.contains("ATTRS{id/vendor}==\"\(hexadecimal(UInputDevice.identity.vendor))\""))
        #expect(rules.contains("ATTRS{id/product}==\"\(hexadecimal(UInputDevice.identity.product))\""))
        #expect(rules.contains("ATTRS{name}==\"blewedge*\""))
    }

    @Test("T31: the service's user alone makes keyboards; its group, which asks for the status, does not")
    func maker() throws {
        let rules = try #require(ServiceFile.all.first { $0.reader == .udev }).text
        let rule = try #require(rules.split(separator: "\n").first { $0.hasPrefix("KERNEL==\"uinput\"") })
        #expect(rule.contains("OWNER=\"blewedge\", GROUP=\"root\", MODE=\"0600\""))
        #expect(!rules.contains("uaccess"))
    }

    @Test(
        "On a fresh machine each file is written, then the user made, modules loaded, udev told, the service started"
    )
    func fresh() {
        let lines = SetupPlan.installing(freshMachine()).map { $0.text(.english) }
        #expect(
            lines == [
                "write /etc/sysusers.d/blewedge.conf",
                "write /etc/tmpfiles.d/blewedge.conf",
                "write /etc/modules-load.d/blewedge.conf",
                "write /etc/udev/rules.d/60-blewedge.rules",
                "write /etc/systemd/system/blewedge.service",
                "install -m 755 /home/user/blewedge /usr/local/bin/blewedge",
                "/usr/bin/systemd-sysusers /etc/sysusers.d/blewedge.conf",
                "/usr/bin/systemd-tmpfiles --create /etc/tmpfiles.d/blewedge.conf",
                "/usr/bin/modprobe -a uinput evdev bluetooth",
                "/usr/bin/udevadm control --reload",
                "/usr/bin/udevadm trigger --settle --sysname-match=uinput --sysname-match=hci*",
                "/usr/bin/systemctl daemon-reload",
                "/usr/bin/systemctl restart blewedge.service",
            ]
        )
    }

    @Test("If everything is installed, nothing is done, except that a stopped service is started")
    func again() {
        #expect(SetupPlan.installing(readyMachine()).isEmpty)
        var stopped = readyMachine()
        stopped.isActive = false
        #expect(
            SetupPlan.installing(stopped).map { $0.text(.english) } == ["/usr/bin/systemctl start blewedge.service"]
        )
    }

    @Test("D-27: what asks a server is installed where one is configured, and removed where none is any more")
    func server() {
        var facts = readyMachine()
        facts.hasServer = true
        let lines = SetupPlan.installing(facts).map { $0.text(.english) }
        let enabled = "/usr/bin/systemctl enable --now blewedge-beacons.timer"
        #expect(
            lines.prefix(2) == [
                "write /etc/systemd/system/blewedge-beacons.service",
                "write /etc/systemd/system/blewedge-beacons.timer",
            ]
        )
        #expect(lines.contains(enabled))
        for file in ofSystemd { facts.files[file.path] = file.text }
        #expect(SetupPlan.installing(facts).isEmpty)
        #expect(
            SetupPlan.removing(facts).first?.text(.english) == "/usr/bin/systemctl disable --now blewedge-beacons.timer"
        )
        facts.hasServer = false
        #expect(
            SetupPlan.installing(facts).map { $0.text(.english) } == [
                "/usr/bin/systemctl disable --now blewedge-beacons.timer",
                "rm /etc/systemd/system/blewedge-beacons.service", "rm /etc/systemd/system/blewedge-beacons.timer",
                "/usr/bin/systemctl daemon-reload",
            ]
        )
        #expect(!SetupPlan.installing(freshMachine()).contains { $0.text(.english).contains("beacons") })
    }

    @Test("A file that somebody changed is written anew, and the service restarted; others are left alone")
    func changed() {
        var facts = readyMachine()
        facts.files["/etc/systemd/system/blewedge.service"] = "[Service]\n"
        let steps = SetupPlan.installing(facts)
        let writes = steps.filter { if case .write = $0 { true } else { false } }
        #expect(writes.map { $0.text(.english) } == ["rewrite /etc/systemd/system/blewedge.service"])
        #expect(steps.last?.text(.english) == "/usr/bin/systemctl restart blewedge.service")
    }

    @Test("A program that a package has installed is not copied, and a newer one is")
    func program() {
        var facts = readyMachine()
        facts.isProgramInstalled = false
        facts.program = "/usr/bin/blewedge"
        #expect(SetupPlan.installing(facts).isEmpty)
        facts.program = "/tmp/blewedge"
        #expect(SetupPlan.installing(facts).first == .copyProgram(from: "/tmp/blewedge", to: "/usr/local/bin/blewedge"))
    }

    @Test("A radio that software blocks is unblocked, and the driver of a controller on a UART loaded")
    func mending() {
        var facts = readyMachine()
        facts.softBlocks = ["/sys/class/rfkill/rfkill0/soft"]
        facts.needsSerialDriver = true
        #expect(
            SetupPlan.installing(facts).map { $0.text(.english) } == [
                "echo 0 >/sys/class/rfkill/rfkill0/soft", "/usr/bin/modprobe hci_uart",
            ]
        )
    }

    @Test("Removing stops the service and takes away every file that was written, and nothing where there is none")
    func removing() {
        let lines = SetupPlan.removing(readyMachine()).map { $0.text(.english) }
        #expect(lines.first == "/usr/bin/systemctl stop blewedge.service")
        let written = ofSystemd.filter { !$0.isOfServer }
        for file in written { #expect(lines.contains("rm \(file.path)")) }
        #expect(lines.count == 1 + written.count + 3)
        #expect(SetupPlan.removing(freshMachine()).isEmpty)
        #expect(!lines.contains { $0.contains("chown") })
    }

    @Test("Removing resets the owner of /dev/uinput, which udev would leave to the service's user")
    func givingBack() throws {
        var facts = readyMachine()
        facts.isMakerGiven = true
        let lines = SetupPlan.removing(facts).map { $0.text(.english) }
        let place = try #require(lines.firstIndex(of: "chown root:root /dev/uinput; chmod 600 /dev/uinput"))
        // After that, udev applies the remaining rules of other packages.
        #expect(lines[place + 1] == "/usr/bin/udevadm control --reload")
        #expect(lines.last?.contains("--sysname-match=uinput") == true)
        for file in ofSystemd where !file.isOfServer { #expect(lines[..<place].contains("rm \(file.path)")) }
    }
}

@Suite("Setup's steps")
struct SetupRunnerTests {
    @Test("Files are written with their mode and removed; repeating either is no failure")
    func files() throws {
        let root = try TestDirectory()
        let runner = root.runner
        let step = SetupStep.write(path: "/etc/udev/rules.d/x.rules", text: "a\n", isNew: true)
        try runner.perform(step)
        try runner.perform(step)
        let path = root("etc/udev/rules.d/x.rules")
        #expect(try FileSystem.contents(of: path, limit: 10) == Array("a\n".utf8))
        #expect(permissions(path) == 0o644)
        try runner.perform(.copyProgram(from: "/proc/self/stat", to: "/usr/local/bin/x"))
        #expect(permissions(root("usr/local/bin/x")) == 0o755)
        try runner.perform(.set(path: "/etc/udev/rules.d/x.rules", value: "0"))
        #expect(try FileSystem.contents(of: path, limit: 10) == Array("0".utf8))
        try runner.perform(.remove(path: "/etc/udev/rules.d/x.rules"))
        try runner.perform(.remove(path: "/etc/udev/rules.d/x.rules"))
        #expect(!FileSystem.exists(path))
    }

    @Test("A program that fails is named with its code, unless it may; one that is not there likewise")
    func programs() throws {
        let runner = SetupRunner()
        try runner.perform(.run(["/bin/sh", "-c", "exit 0"], mayFail: false))
        try runner.perform(.run(["/bin/sh", "-c", "exit 3"], mayFail: true))
        try runner.perform(.run(["/nonexistent/program"], mayFail: true))
        let failed = #expect(throws: CommandFailure.self) {
            try runner.perform(.run(["/bin/sh", "-c", "exit 3"], mayFail: false))
        }
        #expect(failed?.cause == "`/bin/sh -c exit 3` exited with status 3")
        let missing = #expect(throws: CommandFailure.self) {
            try runner.perform(.run(["/nonexistent/program"], mayFail: false))
        }
        #expect(missing?.status == .inputOutput)
    }

    @Test("A place that cannot be written is named with its cause")
    func unwritable() throws {
        let root = try TestDirectory()
        try root.runner.perform(.write(path: "/etc", text: "a file where a folder is to be\n", isNew: true))
        let failure = #expect(throws: CommandFailure.self) {
            try root.runner.perform(.write(path: "/etc/x/y", text: "", isNew: true))
        }
        #expect(failure?.cause.english.hasPrefix("cannot write /etc/x/y: ") == true)
        #expect(failure?.status == .inputOutput)
    }

    #if DEBUG
        @Test("A step that lacks a permission has its own status; a read-only file system is named")
        func refusals() throws {
            let root = try TestDirectory()
            let runner = root.runner
            let steps: [(step: SetupStep, cause: String)] = [
                (.write(path: "/etc/x", text: "", isNew: true), "write /etc/x"),
                (.write(path: "/etc/y/z", text: "", isNew: true), "write /etc/y/z"),
                (.copyProgram(from: "/proc/self/stat", to: "/bin/x"), "write /bin/x"),
                (.addLines(path: "/etc/inittab", lines: ["b"], first: false), "write /etc/inittab"),
                (.removeLines(path: "/etc/inittab", lines: ["b"]), "remove /etc/inittab"),
                (.set(path: "/etc/inittab", value: "0"), "write /etc/inittab"),
                (.remove(path: "/etc/inittab"), "remove /etc/inittab"),
                (.makeDirectory(path: "/etc/sv", owner: "root"), "create /etc/sv"),
            ]
            for (error, status, begin, end) in [
                (Errno.permissionDenied, ExitStatus.permission, "not permitted to", ""),
                (.notPermitted, .permission, "not permitted to", ""),
                (.readOnlyFileSystem, .inputOutput, "cannot", ": the disk is read-only"),
                (.noSpace, .inputOutput, "cannot", ": No space left on device"),
            ] {
                for (step, cause) in steps {
                    try runner.perform(.write(path: "/etc/inittab", text: "a\n", isNew: true))
                    CallScript.use { site in
                        let calls: [CallSite.Call] = [.mkdir, .write, .fsync, .rename]
                        return site.kind == .file && calls.contains(site.call) ? .error(error) : nil
                    }
                    defer { CallScript.use(nil) }
                    let failure = #expect(throws: CommandFailure.self) { try runner.perform(step) }
                    #expect(failure?.cause.english == "\(begin) \(cause)\(end)" && failure?.status == status)
                }
            }
        }
    #endif

    @Test("A program that a signal ends is named with the signal, and one that cannot be read with its path")
    func ends() throws {
        let root = try TestDirectory()
        let killed = #expect(throws: CommandFailure.self) {
            try root.runner.perform(.run(["/bin/sh", "-c", "kill -9 $$"], mayFail: false))
        }
        #expect(killed?.cause == "`/bin/sh -c kill -9 $$` was killed by signal 9" && killed?.status == .inputOutput)
        let missing = #expect(throws: CommandFailure.self) {
            try root.runner.perform(.copyProgram(from: root("none"), to: "/bin/x"))
        }
        #expect(missing?.cause.english == "cannot read \(root("none")): No such file or directory")
        #expect(missing?.status == .inputOutput && !FileSystem.exists(root("bin")))
        try root.runner.perform(.run([], mayFail: false))
    }

    @Test("Lines are put into a file of others and taken out of it, its rights and its link as they were")
    func lines() throws {
        let root = try TestDirectory()
        let runner = root.runner
        try root.write("a\n", to: "kept/inittab")
        #expect(chmod(root("kept/inittab"), 0o640) == 0)
        #expect(mkdir(root("etc"), 0o755) == 0)
        #expect(symlink("../kept/inittab", root("etc/inittab")) == 0)
        let step = SetupStep.addLines(path: "/etc/inittab", lines: ["b"], first: false)
        try runner.perform(step)
        try runner.perform(step)
        let text = "a\n\(MarkedLines.begin)\nb\n\(MarkedLines.end)\n"
        #expect(try FileSystem.contents(of: root("kept/inittab"), limit: 1000) == Array(text.utf8))
        #expect(permissions(root("kept/inittab")) == 0o640)
        #expect(FileSystem.target(ofLink: root("etc/inittab")) == "../kept/inittab")
        try runner.perform(.removeLines(path: "/etc/inittab", lines: ["b"]))
        #expect(try FileSystem.contents(of: root("kept/inittab"), limit: 1000) == Array("a\n".utf8))
        // A file that was created for these lines is deleted with them.
        try runner.perform(.addLines(path: "/etc/mdev.conf", lines: ["b"], first: true))
        #expect(permissions(root("etc/mdev.conf")) == 0o644)
        try runner.perform(.removeLines(path: "/etc/mdev.conf", lines: ["b"]))
        #expect(!FileSystem.exists(root("etc/mdev.conf")))
    }

    @Test("A program is written as one; a link is made and a directory removed, both twice; another link is a failure")
    func links() throws {
        let root = try TestDirectory()
        let runner = root.runner
        try runner.perform(.write(path: "/etc/sv/x/run", text: "#!/bin/sh\n", isNew: true, isProgram: true))
        #expect(permissions(root("etc/sv/x/run")) == 0o755)
        let link = SetupStep.link(path: "/etc/service/x", target: "/etc/sv/x")
        try runner.perform(link)
        try runner.perform(link)
        #expect(FileSystem.target(ofLink: root("etc/service/x")) == "/etc/sv/x")
        #expect(throws: CommandFailure.self) { try runner.perform(.link(path: "/etc/service/x", target: "/etc/sv/y")) }
        try root.write("", to: "etc/sv/x/supervise/.lock")
        #expect(throws: CommandFailure.self) { try runner.perform(.removeDirectory(path: "/etc/sv/x")) }
        for path in ["/etc/sv/x/supervise", "/etc/sv/x", "/etc/sv/x"] {
            try runner.perform(.removeDirectory(path: path))
        }
        #expect(!FileSystem.exists(root("etc/sv/x")))
    }

    private func permissions(_ path: String) -> UInt32? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o777 : nil
    }
}

extension TestDirectory {
    /// Runner that sets up a machine whose root is this directory.
    fileprivate var runner: SetupRunner {
        var runner = SetupRunner()
        runner.root = FilePath(path)
        return runner
    }
}
