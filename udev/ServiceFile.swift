// SPDX-License-Identifier: GPL-2.0-or-later

/// A file that makes blewedge a part of a system: the text is that of the file beside this one, as it was when the program was
/// built.
public struct ServiceFile: Hashable, Sendable {
    /// Where it is installed.
    public let path: String
    /// What is in it.
    public let text: String
    /// What reads it.
    public let reader: Reader

    /// The part of a system that a file is for.
    public enum Reader: Hashable, Sendable, CaseIterable {
        /// systemd-sysusers, which makes users and groups.
        case sysusers
        /// systemd-tmpfiles, which makes directories.
        case tmpfiles
        /// systemd-modules-load and its kin.
        case modulesLoad
        /// udev.
        case udev
        /// The service manager.
        case systemd
    }

    /// All of them, in the order in which they are needed.
    public static let all = [
        ServiceFile("/etc/sysusers.d/blewedge.conf", PackageResources.sysusers_conf, .sysusers),
        ServiceFile("/etc/tmpfiles.d/blewedge.conf", PackageResources.tmpfiles_conf, .tmpfiles),
        ServiceFile("/etc/modules-load.d/blewedge.conf", PackageResources.modules_load_conf, .modulesLoad),
        ServiceFile("/etc/udev/rules.d/60-blewedge.rules", PackageResources._0_blewedge_rules, .udev),
        ServiceFile("/etc/systemd/system/blewedge.service", PackageResources.blewedge_service, .systemd),
    ]

    private init(_ path: String, _ bytes: [UInt8], _ reader: Reader) {
        self.path = path
        self.text = String(decoding: bytes, as: UTF8.self)
        self.reader = reader
    }
}
