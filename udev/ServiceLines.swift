// SPDX-License-Identifier: GPL-2.0-or-later

/// Lines of blewedge's in a file that belongs to the system.
///
/// They are those of the file in this directory when the program was built, without its comments.
public struct ServiceLines: Hashable, Sendable {
    /// The path of the system's file.
    public let path: String
    /// The lines.
    public let lines: [String]
    /// True where the file's first line that fits decides, so that these have to stand in front.
    public let isFirst: Bool

    /// The service of sysvinit.
    public static let sysvinit = ServiceLines("/etc/inittab", PackageResources.inittab_sysvinit)
    /// The service of BusyBox's init.
    public static let busybox = ServiceLines("/etc/inittab", PackageResources.inittab_busybox)
    /// The rights to device nodes where mdev makes them.
    public static let mdev = ServiceLines("/etc/mdev.conf", PackageResources.mdev_conf, isFirst: true)
    /// The modules where no directory of lists is read.
    public static let modules = ServiceLines("/etc/modules", PackageResources.modules_load_conf)
    /// All of them.
    public static let all = [sysvinit, busybox, mdev, modules]

    private init(_ path: String, _ bytes: [UInt8], isFirst: Bool = false) {
        self.path = path
        self.isFirst = isFirst
        lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init).filter {
            !$0.hasPrefix("#")
        }
    }
}
