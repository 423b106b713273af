// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import LinuxIO
import ServiceFiles
import TestSupport
import Testing

@testable import Setup

/// The facts that setup collects, from directories that contain the files of a machine.
@Suite("The facts for setup")
struct SetupFactsTests {
    /// Creates a directory with these files, links and programs.
    private func machine(
        _ files: [String: String],
        links: [String: String] = [:],
        programs: [String] = []
    ) throws -> TestDirectory {
        let root = try TestDirectory()
        for (path, text) in files { try root.write(text, to: path) }
        for (path, target) in links {
            try root.write("", to: path)
            #expect(unlink(root(path)) == 0 && symlink(target, root(path)) == 0)
        }
        for path in programs {
            try root.write("", to: path)
            #expect(chmod(root(path), 0o755) == 0)
        }
        return root
    }

    @Test("A machine with systemd, on which a package is installed and a beacon server is configured")
    func systemd() throws {
        let unit = "/etc/systemd/system/blewedge.service"
        let root = try machine(
            [
                "run/systemd/system/x": "", "run/udev/control": "", "run/blewedge/control": "", "etc/mdev.conf": "",
                "etc/modules": "loop\n", "etc/modules-load.d/x": "", "dev/uinput": "",
                "etc/passwd": "blewedge:x:\(ProcessFacts.user):7::/var/lib/blewedge:/bin/false\n",
                "etc/blewedge/blewedge.toml": """
                [beacons]
                app-code-file = "/etc/blewedge/app-code"
                server = "https://beacons.example.com/v1"

                """,
                "etc/blewedge/app-code": "1", "usr/lib/systemd/system/blewedge.service": "",
                "etc/systemd/system/timers.target.wants/blewedge-beacons.timer": "", String(unit.dropFirst()): "unit\n",
                "usr/local/bin/blewedge": "same", "opt/blewedge": "same",
                "sys/class/rfkill/rfkill0/type": "bluetooth\n", "sys/class/rfkill/rfkill0/soft": "1\n",
                "sys/class/rfkill/rfkill1/type": "bluetooth\n", "sys/class/rfkill/rfkill1/soft": "0\n",
                "sys/class/rfkill/rfkill2/type": "wlan\n", "sys/class/rfkill/rfkill2/soft": "1\n",
                "sys/bus/serial/devices/serial0-0/modalias": "of:NbluetoothT(null)Cbrcm,bcm43438-bt\n",
                "usr/bin/kill": "not executable",
            ],
            links: ["proc/self/exe": "/opt/blewedge"],
            programs: ["usr/bin/systemctl", "usr/sbin/modprobe", "sbin/modprobe", "usr/bin/bash"]
        )
        let facts = SetupFacts.collect(below: root.path)
        var expected = SetupFacts()
        expected.programs = [
            "systemctl": "/usr/bin/systemctl", "modprobe": "/usr/sbin/modprobe", "bash": "/usr/bin/bash",
        ]
        expected.manager = .systemd
        (expected.hasUser, expected.isActive, expected.hasServer) = (true, true, true)
        (expected.isPackaged, expected.isTimerEnabled) = (true, true)
        expected.files = [unit: "unit\n", "/etc/modules": "loop\n", "/etc/mdev.conf": ""]
        (expected.program, expected.isProgramInstalled) = ("/opt/blewedge", true)
        expected.softBlocks = ["/sys/class/rfkill/rfkill0/soft"]
        (expected.isMakerGiven, expected.needsSerialDriver) = (true, true)
        #expect(facts == expected)
        // Another program, another owner of the device, and a serial controller with its driver.
        try root.write("other", to: "opt/blewedge")
        try root.write("blewedge:x:\(ProcessFacts.user + 1):7::/var/lib/blewedge:/bin/false\n", to: "etc/passwd")
        try root.write("", to: "sys/bus/serial/devices/serial0-0/driver")
        (expected.isProgramInstalled, expected.isMakerGiven, expected.needsSerialDriver) = (false, false, false)
        #expect(SetupFacts.collect(below: root.path) == expected)
    }

    @Test("A machine with runit and mdev; an empty directory is a machine without anything")
    func runit() throws {
        let root = try machine(
            [
                "etc/service/x": "", "etc/mdev.conf": "x\n", "etc/modules": "", "proc/1/comm": "runit\n",
                "etc/sv/blewedge/run": "run\n", "etc/passwd": "root:x:0:0::/root:/bin/sh\n", "dev/uinput": "",
            ],
            links: ["etc/service/blewedge": "/etc/sv/blewedge", "sbin/init": "/usr/sbin/runit"]
        )
        var expected = SetupFacts()
        (expected.manager, expected.serviceDirectory) = (.runit, "/etc/service")
        (expected.hasMdev, expected.hasModuleList) = (true, true)
        expected.files = ["/etc/mdev.conf": "x\n", "/etc/modules": "", "/etc/sv/blewedge/run": "run\n"]
        // The link counts although its target does not exist below this directory.
        expected.made = ["/etc/service/blewedge", "/etc/sv/blewedge"]
        #expect(SetupFacts.collect(below: root.path) == expected)
        #expect(SetupFacts.collect(below: try TestDirectory().path) == SetupFacts())
    }

    @Test("mdev is recognized by its program too, but not beside udev; OpenRC by its directory and both commands")
    func programs() throws {
        let root = try machine(["run/openrc/x": "", "etc/inittab": ""], programs: ["sbin/mdev", "sbin/rc-service"])
        var facts = SetupFacts.collect(below: root.path)
        #expect(facts.hasMdev && facts.manager == nil)
        try root.write("", to: "run/udev/control")
        try root.write("", to: "sbin/rc-update")
        #expect(chmod(root("sbin/rc-update"), 0o755) == 0)
        facts = SetupFacts.collect(below: root.path)
        #expect(!facts.hasMdev && facts.manager == .openrc)
    }

    @Test("BusyBox's init is recognized by the first process, and for users without access to it by /sbin/init")
    func initProgram() throws {
        for (links, manager) in [
            (["sbin/init": "/bin/busybox"], ServiceManager.busybox),
            (["proc/1/exe": "/bin/busybox", "sbin/init": "/sbin/other"], .busybox),
            (["proc/1/exe": "/sbin/init", "sbin/init": "/bin/busybox"], .sysvinit),
        ] {
            let root = try machine(["etc/inittab": "", "proc/1/comm": "init\n"], links: links)
            #expect(SetupFacts.collect(below: root.path).manager == manager, "\(links)")
        }
    }
}
