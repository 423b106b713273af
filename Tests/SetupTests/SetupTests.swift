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

/// A machine with systemd on which nothing was set up, and a program that somebody has built in a folder of theirs.
func freshMachine() -> SetupFacts {
    var facts = SetupFacts()
    for name in SetupFacts.names where name != "adduser" { facts.programs[name] = "/usr/bin/\(name)" }
    facts.hasSystemd = true
    facts.program = "/home/user/blewedge"
    return facts
}

/// The same after setup.
func readyMachine() -> SetupFacts {
    var facts = freshMachine()
    for file in ServiceFile.all where !file.isOfServer { facts.files[file.path] = file.text }
    facts.hasUser = true
    facts.isProgramInstalled = true
    facts.isActive = true
    return facts
}

@Suite("Setup")
struct SetupTests {
    /// udev/ of the source.
    private static let folder = FilePath(#filePath).removingLastComponent().removingLastComponent()
        .removingLastComponent().appending("udev")

    @Test("The program carries every file of udev/, as it is there")
    func oneSource() throws {
        let names = FileSystem.names(in: Self.folder.string).filter { !$0.hasSuffix(".swift") }
        let texts = try names.map { name in
            String(
                decoding: try FileSystem.contents(of: Self.folder.appending(name).string, limit: 1 << 20),
                as: UTF8.self
            )
        }
        #expect(Set(texts) == Set(ServiceFile.all.map(\.text)))
        #expect(names.count == ServiceFile.all.count)
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
                "/usr/bin/modprobe --all uinput evdev bluetooth",
                "/usr/bin/udevadm control --reload",
                "/usr/bin/udevadm trigger --settle --sysname-match=uinput --sysname-match=hci*",
                "/usr/bin/systemctl daemon-reload",
                "/usr/bin/systemctl restart blewedge.service",
            ]
        )
    }

    @Test("Where all is in place there is nothing to do; a service that has stopped is started")
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
        for file in ServiceFile.all { facts.files[file.path] = file.text }
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
        #expect(writes.map { $0.text(.english) } == ["write /etc/systemd/system/blewedge.service anew"])
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

    @Test("Without systemd and udev there is a user, its directory and the list of modules")
    func busybox() {
        var facts = SetupFacts()
        facts.programs = ["adduser": "/usr/sbin/adduser", "modprobe": "/sbin/modprobe"]
        facts.program = "/opt/blewedge"
        #expect(
            SetupPlan.installing(facts).map { $0.text(.english) } == [
                "write /etc/modules-load.d/blewedge.conf",
                "/usr/sbin/adduser -S -D -H -h /var/lib/blewedge -s /bin/false blewedge",
                "install -d -o blewedge -g blewedge /var/lib/blewedge",
                "/sbin/modprobe --all uinput evdev bluetooth",
            ]
        )
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
        let written = ServiceFile.all.filter { !$0.isOfServer }
        for file in written { #expect(lines.contains("rm \(file.path)")) }
        #expect(lines.count == 1 + written.count + 3)
        #expect(SetupPlan.removing(freshMachine()).isEmpty)
        #expect(!lines.contains { $0.contains("chown") })
    }

    @Test("Removing gives back what keyboards are made through, which udev would leave to the service's user")
    func givingBack() throws {
        var facts = readyMachine()
        facts.isMakerGiven = true
        let lines = SetupPlan.removing(facts).map { $0.text(.english) }
        let place = try #require(lines.firstIndex(of: "chown root:root /dev/uinput; chmod 600 /dev/uinput"))
        // Rules of others, which udev applies then, have the last word.
        #expect(lines[place + 1] == "/usr/bin/udevadm control --reload")
        #expect(lines.last?.contains("--sysname-match=uinput") == true)
        for file in ServiceFile.all where !file.isOfServer { #expect(lines[..<place].contains("rm \(file.path)")) }
    }
}

@Suite("Setup's steps")
struct SetupRunnerTests {
    @Test("What is written is there with its mode, what is removed is not, and neither twice is a failure")
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
        #expect(failed?.cause == "`/bin/sh -c exit 3` ended with 3")
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

    private func permissions(_ path: String) -> UInt32? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o777 : nil
    }
}

extension TestDirectory {
    /// What sets up a machine whose root is this directory.
    fileprivate var runner: SetupRunner {
        var runner = SetupRunner()
        runner.root = FilePath(path)
        return runner
    }
}
