// SPDX-License-Identifier: GPL-2.0-or-later

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
    /// True if the configuration names a server of beacons.
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
    /// The paths of the rfkill switches of Bluetooth radios that are blocked in software; writing "0" to them
    /// unblocks.
    package var softBlocks: [String] = []
    /// True if /dev/uinput belongs to the user of the service.
    package var isMakerGiven = false
    /// True if a Bluetooth controller on a serial port has no driver.
    package var needsSerialDriver = false

    /// Makes the facts of a machine on which nothing was found.
    package init() {}

    /// The names of the programs that setup may run.
    package static let names = [
        "systemctl", "rc-service", "rc-update", "sv", "kill", "udevadm", "systemd-sysusers", "systemd-tmpfiles",
        "modprobe", "useradd", "adduser", "addgroup",
    ]
    /// The names of all programs that are looked for: those, and the readers of what is installed for people.
    package static let allNames = names + HelpFile.Reader.allCases.map(\.rawValue)
    /// The directories of these programs and of blewedge, the administrator's first.
    package static let directories = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"]
}
