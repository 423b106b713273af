// SPDX-License-Identifier: GPL-2.0-or-later

import Configuration
import Daemon
import Devices
import LinuxIO
import ServiceFiles
import SystemPackage

/// The facts about a machine from which `blewedge setup` determines its steps.
package struct SetupFacts: Equatable, Sendable {
    /// Paths, by name, of those programs that setup may run and that exist.
    package var programs: [String: String] = [:]
    /// Service manager of the machine; nil if setup does not support it.
    package var manager: ServiceManager?
    /// Directory where runit looks for services; empty if there is none.
    package var serviceDirectory = ""
    /// True if mdev, not udev, creates device nodes.
    package var hasMdev = false
    /// True if kernel modules are listed in /etc/modules, because there is no directory for lists of modules.
    package var hasModuleList = false
    /// True if the service's user exists.
    package var hasUser = false
    /// True if the service is running.
    package var isActive = false
    package var hasServer = false
    /// True if a system package has installed the service.
    package var isPackaged = false
    /// True if the timer for the beacon server is enabled at boot.
    package var isTimerEnabled = false
    /// The manual page and the completions of this program.
    package var help: [HelpFile] = []
    /// Contents, by path, of those files that setup installs or adds lines to, if they exist.
    package var files: [String: String] = [:]
    /// Those symbolic links and directories that setup or the service manager creates for the service, if they exist.
    package var made: Set<String> = []
    /// Path of this program's executable file.
    package var program = ""
    /// True if the file at the installation path has the same contents as this program.
    package var isProgramInstalled = false
    /// Paths of the rfkill switches that block Bluetooth radios in software.
    ///
    /// Writing "0" to a switch unblocks its radio.
    package var softBlocks: [String] = []
    /// True if /dev/uinput belongs to the service's user.
    package var isMakerGiven = false
    /// True if a Bluetooth controller on a serial port has no driver.
    package var needsSerialDriver = false

    package init() {}

    /// Names of the programs that setup may run.
    package static let names = [
        "systemctl", "rc-service", "rc-update", "sv", "kill", "udevadm", "systemd-sysusers", "systemd-tmpfiles",
        "modprobe", "useradd", "adduser", "addgroup",
    ]
    /// Names of all programs to look for: those in `names`, and those that read the manual page and the completions.
    package static let allNames = names + HelpFile.Reader.allCases.map(\.program)
    package static let directories = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"]

    /// Maximum size of the program file that is copied, in bytes; a static build has about 10 MB.
    static let mostBytes = 1 << 28

    /// Collects the facts about this machine, without changing anything.
    ///
    /// `root` is the directory that contains the machine's files; empty for this machine.
    package static func collect(below root: String = "") -> SetupFacts {
        func exists(_ path: String) -> Bool { FileSystem.exists(root + path) }
        func isExecutable(_ path: String) -> Bool { FileSystem.isExecutable(root + path) }
        var facts = SetupFacts()
        for name in allNames {
            facts.programs[name] = directories.map { "\($0)/\(name)" }.first(where: isExecutable)
        }
        facts.serviceDirectory = ServiceManager.serviceDirectory(below: root) ?? ""
        facts.manager = .found(below: root)
        let hasMdev = exists("/etc/mdev.conf") || directories.contains { isExecutable("\($0)/mdev") }
        facts.hasMdev = hasMdev && !exists("/run/udev/control")
        facts.hasModuleList = exists("/etc/modules") && !exists("/etc/modules-load.d")
        let user = AccountFiles(directory: root + "/etc").user(named: SetupPlan.user)
        facts.hasUser = user != nil
        facts.isActive = exists("/run/blewedge/control")
        let configuration = try? Configuration.read(FilePath(root + DaemonPaths.system.configurationFile.string))
        facts.hasServer = configuration?.beacons.server != nil
        facts.isPackaged = ServiceFile.all.compactMap(\.packagedPath).contains(where: exists)
        facts.isTimerEnabled = exists("/etc/systemd/system/timers.target.wants/\(SetupPlan.timer)")
        let helped = HelpFile.Reader.allCases.map(\.path)
        for path in Set(ServiceFile.all.map(\.path) + ServiceLines.all.map(\.path) + helped) {
            guard let bytes = try? FileSystem.contents(of: root + path, limit: 1 << 20) else { continue }
            facts.files[path] = String(decoding: bytes, as: UTF8.self)
        }
        facts.made = Set(
            SetupPlan.made(facts).filter { exists($0) || FileSystem.target(ofLink: root + $0) != nil }
        )
        facts.program = FileSystem.target(ofLink: root + "/proc/self/exe") ?? ""
        facts.isProgramInstalled = isSame(root + facts.program, root + SetupPlan.programPath)
        let switches = FileSystem.names(in: root + "/sys/class/rfkill").map { "/sys/class/rfkill/\($0)" }
        facts.softBlocks = switches.filter {
            FileSystem.line(of: root + $0 + "/type") == "bluetooth" && FileSystem.line(of: root + $0 + "/soft") == "1"
        }.map { $0 + "/soft" }
        facts.isMakerGiven = user.map { FileSystem.owner(of: root + UInputDevice.path) == $0.number } ?? false
        facts.needsSerialDriver = SerialDevice.bluetoothControllers(sysfs: root + "/sys").contains { !$0.hasDriver }
        return facts
    }

    private static func isSame(_ first: String, _ second: String) -> Bool {
        guard let other = try? FileSystem.contents(of: second, limit: mostBytes),
            let own = try? FileSystem.contents(of: first, limit: mostBytes)
        else { return false }
        return own == other
    }
}
