// SPDX-License-Identifier: GPL-2.0-or-later

import Configuration
import Daemon
import Devices
import LinuxIO
import ServiceFiles
import SystemPackage

/// The facts about a machine on which the plan of `blewedge setup` depends.
package struct SetupFacts: Equatable, Sendable {
    /// The paths of the programs that setup may run and that exist, by name.
    package var programs: [String: String] = [:]
    /// What starts services; nil for what setup does not know.
    package var manager: ServiceManager?
    /// The directory of the services that runit runs.
    package var serviceDirectory = ""
    /// True if mdev makes device nodes, and not udev.
    package var hasMdev = false
    /// True if modules are loaded by /etc/modules, and no directory of lists is read.
    package var hasModuleList = false
    /// True if the user of the service exists.
    package var hasUser = false
    /// True if the service runs.
    package var isActive = false
    package var hasServer = false
    /// True if a package of the system has installed the service.
    package var isPackaged = false
    /// True if the timer of what asks a server of beacons is started with the machine.
    package var isTimerEnabled = false
    /// The manual page and the completions of this program.
    package var help: [HelpFile] = []
    /// The texts of those files that setup installs or adds lines to and that exist, by path.
    package var files: [String: String] = [:]
    /// Those symbolic links and directories that setup or the service manager makes for the service and that exist.
    package var made: Set<String> = []
    /// The path of this program's file.
    package var program = ""
    /// True if the installation path has a file with the same bytes.
    package var isProgramInstalled = false
    /// The paths of the rfkill switches of Bluetooth radios that are blocked in software; writing "0" to them unblocks.
    package var softBlocks: [String] = []
    /// True if /dev/uinput belongs to the user of the service.
    package var isMakerGiven = false
    /// True if a Bluetooth controller on a serial port has no driver.
    package var needsSerialDriver = false

    package init() {}

    /// The names of the programs that setup may run.
    package static let names = [
        "systemctl", "rc-service", "rc-update", "sv", "kill", "udevadm", "systemd-sysusers", "systemd-tmpfiles",
        "modprobe", "useradd", "adduser", "addgroup",
    ]
    /// The names of all programs that are looked for: those, and the readers of what is installed for people.
    package static let allNames = names + HelpFile.Reader.allCases.map(\.rawValue)
    package static let directories = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"]

    /// The largest program file that is copied, in bytes; a static build has about 10 MB.
    static let mostBytes = 1 << 28

    /// Collects the facts of this machine, without changing anything.
    package static func collect() -> SetupFacts {
        var facts = SetupFacts()
        for name in allNames {
            facts.programs[name] = directories.map { "\($0)/\(name)" }.first(where: FileSystem.isExecutable)
        }
        facts.serviceDirectory = ServiceManager.serviceDirectory ?? ""
        facts.manager = .ofThisMachine
        let hasMdev =
            FileSystem.exists("/etc/mdev.conf") || directories.contains { FileSystem.isExecutable("\($0)/mdev") }
        facts.hasMdev = hasMdev && !FileSystem.exists("/run/udev/control")
        facts.hasModuleList = FileSystem.exists("/etc/modules") && !FileSystem.exists("/etc/modules-load.d")
        let user = AccountFiles().user(named: SetupPlan.user)
        facts.hasUser = user != nil
        facts.isActive = FileSystem.exists("/run/blewedge/control")
        let configuration = try? Configuration.read(DaemonPaths.system.configurationFile)
        facts.hasServer = configuration?.beacons.server != nil
        facts.isPackaged = ServiceFile.all.compactMap(\.packagedPath).contains(where: FileSystem.exists)
        facts.isTimerEnabled = FileSystem.exists("/etc/systemd/system/timers.target.wants/\(SetupPlan.timer)")
        let helped = HelpFile.Reader.allCases.map(\.path)
        for path in Set(ServiceFile.all.map(\.path) + ServiceLines.all.map(\.path) + helped) {
            guard let bytes = try? FileSystem.contents(of: path, limit: 1 << 20) else { continue }
            facts.files[path] = String(decoding: bytes, as: UTF8.self)
        }
        facts.made = Set(SetupPlan.made(facts).filter { FileSystem.exists($0) || FileSystem.target(ofLink: $0) != nil })
        facts.program = FileSystem.target(ofLink: "/proc/self/exe") ?? ""
        facts.isProgramInstalled = isSame(facts.program, SetupPlan.programPath)
        facts.softBlocks = FileSystem.names(in: "/sys/class/rfkill").map { "/sys/class/rfkill/\($0)" }.filter {
            FileSystem.line(of: $0 + "/type") == "bluetooth" && FileSystem.line(of: $0 + "/soft") == "1"
        }.map { $0 + "/soft" }
        let maker = FileSystem.owner(of: UInputDevice.path)
        facts.isMakerGiven = maker != nil && maker == user?.number
        facts.needsSerialDriver = SerialDevice.bluetoothControllers().contains { !$0.hasDriver }
        return facts
    }

    private static func isSame(_ first: String, _ second: String) -> Bool {
        guard first != second else { return true }
        guard let other = try? FileSystem.contents(of: second, limit: mostBytes),
            let own = try? FileSystem.contents(of: first, limit: mostBytes)
        else { return false }
        return own == other
    }
}
