// SPDX-License-Identifier: GPL-2.0-or-later

/// A file that installs blewedge as a part of a system.
///
/// Its text is that of the file in this directory when the program was built.
public struct ServiceFile: Hashable, Sendable {
    /// The path at which it is installed by `blewedge setup`.
    public let path: String
    /// The path at which a package of the system installs it; nil for what no package has, since its systems have systemd.
    public var packagedPath: String? {
        switch reader {
        case .sysusers, .tmpfiles, .modulesLoad, .udev, .systemd: "/usr/lib" + path.dropFirst("/etc".count)
        case .openrc, .runit, .inittab, .others: nil
        }
    }
    /// The text of the file.
    public let text: String
    /// The part of the system that reads the file.
    public let reader: Reader
    /// True for a program.
    public let isProgram: Bool
    /// True for what asks a server of beacons, which is installed only where one is configured.
    public let isOfServer: Bool

    /// The parts of a system that read such files.
    public enum Reader: Hashable, Sendable, CaseIterable {
        /// systemd-sysusers, which makes users and groups.
        case sysusers
        /// systemd-tmpfiles, which makes directories.
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
        /// An administrator where init itself starts the service: sysvinit, BusyBox's.
        case inittab
        /// Every service manager but systemd.
        case others
    }

    /// All files, in the order in which they are needed.
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
