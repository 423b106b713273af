// SPDX-License-Identifier: GPL-2.0-or-later

/// The state of a part of the kernel that may be a module.
package enum ModuleState: Equatable, Sendable {
    /// Built in, or loaded.
    case loaded
    /// Not loaded, but it can be.
    case loadable
    /// Not among the kernel's modules.
    case absent
    /// Unknown, because the kernel's modules are not on this machine.
    case unknown

    /// The state of the module `name`.
    ///
    /// Linux, Documentation/admin-guide/sysfs-rules.rst for /sys/module; modules.dep(5), modules.builtin(5).
    package init(_ name: String, sysfs: String = "/sys", modules: String = "/lib/modules/" + Self.kernelRelease) {
        if FileSystem.exists("\(sysfs)/module/\(name)") {
            self = .loaded
            return
        }
        // The dependencies of a distribution's modules are about a megabyte.
        guard let list = try? FileSystem.contents(of: "\(modules)/modules.dep", limit: 1 << 24) else {
            self = .unknown
            return
        }
        let builtin = (try? FileSystem.contents(of: "\(modules)/modules.builtin", limit: 1 << 24)) ?? []
        self = Self.names(name, builtin) ? .loaded : Self.names(name, list) ? .loadable : .absent
    }

    /// The running kernel's release, as `uname -r` prints it.
    package static var kernelRelease: String { FileSystem.line(of: "/proc/sys/kernel/osrelease") ?? "" }

    /// True where a line of the list is about the module: `kernel/drivers/input/misc/uinput.ko.xz: …`.
    private static func names(_ name: String, _ list: [UInt8]) -> Bool {
        list.split(separator: UInt8(ascii: "\n")).contains { line in
            let path = line.prefix { $0 != UInt8(ascii: ":") }
            guard let slash = path.lastIndex(of: UInt8(ascii: "/")) else { return false }
            let file = path[path.index(after: slash)...].prefix { $0 != UInt8(ascii: ".") }
            // Files may have a hyphen where names have an underscore.
            return file.elementsEqual(name.utf8) { $0 == $1 || $0 == UInt8(ascii: "-") && $1 == UInt8(ascii: "_") }
        }
    }
}
