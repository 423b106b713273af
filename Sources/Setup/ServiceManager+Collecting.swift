// SPDX-License-Identifier: GPL-2.0-or-later

import LinuxIO

extension ServiceManager {
    /// The manager of this machine; nil for one that is not known.
    package static var ofThisMachine: ServiceManager? { ServiceManager(.collect()) }

    /// The directory of the services that runit runs, under one of its usual names.
    static var serviceDirectory: String? {
        ["/etc/service", "/var/service", "/service"].first(where: FileSystem.exists)
    }
}

extension ServiceManager.Signs {
    /// The signs of this machine.
    fileprivate static func collect() -> ServiceManager.Signs {
        var signs = ServiceManager.Signs()
        signs.hasSystemd = FileSystem.exists("/run/systemd/system")
        signs.hasOpenRC =
            FileSystem.exists("/run/openrc")
            && ["rc-service", "rc-update"].allSatisfy { name in
                SetupFacts.directories.contains { FileSystem.isExecutable("\($0)/\(name)") }
            }
        signs.hasServices = ServiceManager.serviceDirectory != nil
        signs.hasInittab = FileSystem.exists("/etc/inittab")
        signs.name = FileSystem.line(of: "/proc/1/comm") ?? ""
        // Only root may see what the first process runs; for others it is what it was started as.
        signs.program = FileSystem.target(ofLink: "/proc/1/exe") ?? FileSystem.target(ofLink: "/sbin/init") ?? ""
        return signs
    }
}
