// SPDX-License-Identifier: GPL-2.0-or-later

/// File that integrates blewedge into a system.
///
/// Its text is that of the file in this directory at build time.
public struct ServiceFile: Hashable, Sendable {
    /// Path at which `blewedge setup` installs the file.
    public let path: String
    /// Path at which a package installs the file; nil for systems without systemd, which have no package.
    public var packagedPath: String? {
        switch reader {
        case .sysusers, .tmpfiles, .modulesLoad, .udev, .systemd: "/usr/lib" + path.dropFirst("/etc".count)
        case .openrc, .runit, .inittab, .others: nil
        }
    }
    /// Contents of the file.
    public let text: String
    /// Program that reads the file.
    public let reader: Reader
    /// True if the file is executable.
    public let isProgram: Bool
    /// True for a file of the beacon server client, which is installed only if a server is configured.
    public let isOfServer: Bool

    /// Programs that read such files.
    public enum Reader: Hashable, Sendable, CaseIterable {
        /// systemd-sysusers, which creates users and groups.
        case sysusers
        /// systemd-tmpfiles, which creates directories.
        case tmpfiles
        /// systemd-modules-load, or another service manager's equivalent.
        case modulesLoad
        /// udev.
        case udev
        /// systemd.
        case systemd
        /// OpenRC.
        case openrc
        /// runit.
        case runit
        /// Administrators, if init itself starts the service (sysvinit, BusyBox).
        case inittab
        /// All service managers except systemd.
        case others
    }

    /// All files, in the order of installation.
    public static let all = [
        ServiceFile("/etc/sysusers.d/blewedge.conf", PackageResources.sysusers_conf, .sysusers),
        ServiceFile("/etc/tmpfiles.d/blewedge.conf", PackageResources.tmpfiles_conf, .tmpfiles),
        ServiceFile("/etc/modules-load.d/blewedge.conf", PackageResources.modules_load_conf, .modulesLoad),
        ServiceFile("/etc/udev/rules.d/60-blewedge.rules", PackageResources._0_blewedge_rules, .udev),
        ServiceFile("/etc/systemd/system/blewedge.service", PackageResources.blewedge_service, .systemd),
        ServiceFile(
            "/etc/systemd/system/blewedge-beacons.service",
            PackageResources.blewedge_beacons_service,
            .systemd,
            isOfServer: true
        ),
        ServiceFile(
            "/etc/systemd/system/blewedge-beacons.timer",
            PackageResources.blewedge_beacons_timer,
            .systemd,
            isOfServer: true
        ),
        ServiceFile("/usr/local/sbin/blewedge-service", PackageResources.blewedge_service_sh, .others, isProgram: true),
        ServiceFile("/etc/init.d/blewedge", PackageResources.blewedge_openrc, .openrc, isProgram: true),
        ServiceFile("/etc/init.d/blewedge", PackageResources.blewedge_sysvinit, .inittab, isProgram: true),
        ServiceFile("/etc/sv/blewedge/log/run", PackageResources.blewedge_log_runit, .runit, isProgram: true),
        ServiceFile("/etc/sv/blewedge/finish", PackageResources.blewedge_finish_runit, .runit, isProgram: true),
        ServiceFile("/etc/sv/blewedge/run", PackageResources.blewedge_runit, .runit, isProgram: true),
    ]

    private init(
        _ path: String,
        _ bytes: [UInt8],
        _ reader: Reader,
        isOfServer: Bool = false,
        isProgram: Bool = false
    ) {
        self.isOfServer = isOfServer
        self.isProgram = isProgram
        self.path = path
        self.text = String(decoding: bytes, as: UTF8.self)
        self.reader = reader
    }
}
