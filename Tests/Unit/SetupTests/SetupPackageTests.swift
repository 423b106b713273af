// SPDX-License-Identifier: GPL-2.0-or-later

import LinuxIO
import ServiceFiles
import Testing
import Texts

@testable import Setup

@Suite("Setup: what is for people, and what a package has installed")
struct SetupPackageTests {
    /// Manual page and completions of a program.
    private static let help = HelpFile.Reader.allCases.map { HelpFile($0, "for \($0)\n") }

    /// Returns a machine that is set up, with these readers of help files.
    private static func machine(_ readers: [HelpFile.Reader] = HelpFile.Reader.allCases) -> SetupFacts {
        var facts = readyMachine()
        facts.help = help
        for reader in readers { facts.programs[reader.program] = "/usr/bin/\(reader)" }
        return facts
    }

    /// Returns a machine on which a package has installed the service.
    private static func packaged() -> SetupFacts {
        var facts = machine()
        for file in ServiceFile.all { facts.files[file.path] = nil }
        facts.isPackaged = true
        facts.program = "/usr/bin/blewedge"
        facts.isProgramInstalled = false
        return facts
    }

    private func lines(_ steps: [SetupStep]) -> [String] { steps.map { $0.text(.english) } }

    @Test("The manual page and completions are written where the administrator's are, and the service goes on")
    func written() {
        #expect(
            lines(SetupPlan.installing(Self.machine())) == [
                "write /usr/local/share/man/man1/blewedge.1",
                "write /usr/local/share/man/man5/blewedge.toml.5",
                "write /usr/local/share/bash-completion/completions/blewedge",
                "write /usr/local/share/zsh/site-functions/_blewedge",
                "write /usr/local/share/fish/vendor_completions.d/blewedge.fish",
            ]
        )
        var facts = Self.machine()
        for file in Self.help { facts.files[file.reader.path] = file.text }
        #expect(SetupPlan.installing(facts).isEmpty)
        facts.files[HelpFile.Reader.zsh.path] = "older\n"
        #expect(
            lines(SetupPlan.installing(facts)) == ["rewrite /usr/local/share/zsh/site-functions/_blewedge"]
        )
    }

    @Test("A shell that is not there gets no completions, and a machine without man no manual page")
    func readers() {
        #expect(
            lines(SetupPlan.installing(Self.machine([.bash]))) == [
                "write /usr/local/share/bash-completion/completions/blewedge"
            ]
        )
        #expect(SetupPlan.installing(Self.machine([])).isEmpty)
    }

    @Test("Removing takes them away, whether their readers are still there or not, and with the service or without")
    func removed() {
        var facts = Self.machine([])
        for file in Self.help { facts.files[file.reader.path] = file.text }
        let help = Self.help.map { "rm \($0.reader.path)" }
        #expect(lines(SetupPlan.removing(facts)).suffix(5) == help)
        for file in ServiceFile.all { facts.files[file.path] = nil }
        #expect(lines(SetupPlan.removing(facts)) == help)
    }

    @Test("If a package has installed the service, nothing is done, and this is reported")
    func package() {
        let facts = Self.packaged()
        #expect(SetupPlan.installing(facts).isEmpty)
        #expect(SetupPlan.removing(facts).isEmpty)
        #expect(SetupPlan.notes(facts, isRemoving: false) == [SetupText.packaged.message()])
        #expect(SetupPlan.notes(facts, isRemoving: true) == [SetupText.packageStays.message()])
        // Another program, for example one built by the user, does not replace the one in the package.
        var built = facts
        built.program = "/home/user/blewedge"
        #expect(SetupPlan.installing(built).isEmpty)
    }

    @Test("Steps that the package does not do are done: radio, stopped service, missing user")
    func beside() {
        var facts = Self.packaged()
        facts.softBlocks = ["/sys/class/rfkill/rfkill0/soft"]
        facts.isActive = false
        #expect(
            lines(SetupPlan.installing(facts)) == [
                "echo 0 >/sys/class/rfkill/rfkill0/soft", "/usr/bin/systemctl start blewedge.service",
            ]
        )
        facts = Self.packaged()
        facts.hasUser = false
        #expect(
            lines(SetupPlan.installing(facts)).prefix(2) == [
                "/usr/bin/systemd-sysusers /usr/lib/sysusers.d/blewedge.conf",
                "/usr/bin/systemd-tmpfiles --create /usr/lib/tmpfiles.d/blewedge.conf",
            ]
        )
    }

    @Test("D-27: the package's timer runs where a server is configured, and nowhere else")
    func timer() {
        var facts = Self.packaged()
        facts.hasServer = true
        #expect(
            lines(SetupPlan.installing(facts)) == ["/usr/bin/systemctl enable --now blewedge-beacons.timer"]
        )
        facts.isTimerEnabled = true
        #expect(SetupPlan.installing(facts).isEmpty)
        facts.hasServer = false
        #expect(
            lines(SetupPlan.installing(facts)) == ["/usr/bin/systemctl disable --now blewedge-beacons.timer"]
        )
    }

    @Test("Files of an earlier setup, which come before the package's, are named, and removed; the service goes on")
    func shadowing() {
        var facts = Self.packaged()
        let earlier = ServiceFile.all.filter { $0.packagedPath != nil }
        for file in earlier { facts.files[file.path] = file.text }
        facts.isMakerGiven = true
        #expect(
            SetupPlan.notes(facts, isRemoving: false) == [
                SetupText.packaged.message(), SetupText.shadowing.message(),
            ]
        )
        #expect(
            lines(SetupPlan.removing(facts)) == earlier.reversed().map { "rm \($0.path)" } + [
                "/usr/bin/systemctl daemon-reload", "/usr/bin/systemctl restart blewedge.service",
                "/usr/bin/udevadm control --reload",
                "/usr/bin/udevadm trigger --settle --sysname-match=uinput --sysname-match=hci*",
            ]
        )
    }

    @Test("Without a package the only note is that of a machine without systemd, and not as it is removed")
    func notes() {
        var facts = readyMachine()
        #expect(SetupPlan.notes(facts, isRemoving: false).isEmpty)
        facts.manager = nil
        #expect(SetupPlan.notes(facts, isRemoving: false) == [SetupText.noManager.message()])
        #expect(SetupPlan.notes(facts, isRemoving: true).isEmpty)
    }

    @Test("LK-12: setup prints the remaining commands up to the first typed character")
    func nextSteps() {
        var facts = readyMachine()
        let choose = "`sudo blewedge scan --once`, `sudo blewedge use DEVICE`"
        #expect(SetupPlan.nextSteps(facts).english == "next: " + choose)
        #expect(SetupPlan.nextSteps(facts).text(.japanese).hasPrefix("次の手順: `sudo blewedge scan --once`、"))
        facts.manager = nil
        #expect(SetupPlan.nextSteps(facts).english == "next: " + choose + ", `sudo blewedge run`")
    }

    @Test("A package has each file where the system's own are")
    func places() {
        #expect(
            ServiceFile.all.compactMap(\.packagedPath) == [
                "/usr/lib/sysusers.d/blewedge.conf", "/usr/lib/tmpfiles.d/blewedge.conf",
                "/usr/lib/modules-load.d/blewedge.conf", "/usr/lib/udev/rules.d/60-blewedge.rules",
                "/usr/lib/systemd/system/blewedge.service", "/usr/lib/systemd/system/blewedge-beacons.service",
                "/usr/lib/systemd/system/blewedge-beacons.timer",
            ]
        )
    }
}
