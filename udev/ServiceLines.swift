// SPDX-License-Identifier: GPL-2.0-or-later

/// Lines that `blewedge setup` adds to a file of the system.
///
/// They are those of the file in this directory at build time, without its comments.
public struct ServiceLines: Hashable, Sendable {
    /// Path of the system's file.
    public let path: String
    /// Lines to add.
    public let lines: [String]
    /// True if the lines must be at the beginning of the file, because its first matching line decides.
    public let isFirst: Bool

    /// Start of the service by sysvinit.
    public static let sysvinit = ServiceLines("/etc/inittab", PackageResources.inittab_sysvinit)
    /// Start of the service by BusyBox's init.
    public static let busybox = ServiceLines("/etc/inittab", PackageResources.inittab_busybox)
    /// Permissions of device nodes for mdev.
    public static let mdev = ServiceLines("/etc/mdev.conf", PackageResources.mdev_conf, isFirst: true)
    /// Modules to load, for systems that do not read a directory of lists.
    public static let modules = ServiceLines("/etc/modules", PackageResources.modules_load_conf)
    /// Lines for all files.
    public static let all = [sysvinit, busybox, mdev, modules]

    private init(_ path: String, _ bytes: [UInt8], isFirst: Bool = false) {
        self.path = path
        self.isFirst = isFirst
        lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init).filter {
            !$0.hasPrefix("#")
        }
    }
}
