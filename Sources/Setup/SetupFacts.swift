// SPDX-License-Identifier: GPL-2.0-or-later

/// What `blewedge setup` finds on a machine before it changes anything.
package struct SetupFacts: Equatable, Sendable {
    /// The programs that setup may run and that are there: where, by their names.
    package var programs: [String: String] = [:]
    /// Whether systemd is the first process.
    package var hasSystemd = false
    /// Whether the service's user exists.
    package var hasUser = false
    /// Whether the service runs.
    package var isActive = false
    /// The texts of the files that setup installs and that are there already, by their paths.
    package var files: [String: String] = [:]
    /// This program's file.
    package var program = ""
    /// Whether a file with the same bytes lies where setup would put it.
    package var isProgramInstalled = false
    /// The switches of Bluetooth radios that software has turned off: files that "0" is written to.
    package var softBlocks: [String] = []
    /// Whether what keyboards are made through belongs to the service's group.
    package var isMakerGiven = false
    /// Whether a controller on a serial port waits for its driver.
    package var needsSerialDriver = false

    /// A machine of which nothing is known.
    package init() {}

    /// The programs that setup may run.
    package static let names = [
        "systemctl", "udevadm", "systemd-sysusers", "systemd-tmpfiles", "modprobe", "useradd", "adduser",
    ]
    /// Where they and this program may be, first what an administrator put there.
    package static let directories = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"]
}
