// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
import Glibc

/// The identity of this process, and its environment.
package enum ProcessFacts {
    /// The value of an environment variable; nil where it is not set, or empty.
    ///
    /// The corresponding C function is `getenv`.
    package static func environment(_ name: String) -> String? {
        // Sound: the text is copied at once, and the product never changes its environment.
        guard let value = unsafe getenv(name) else { return nil }
        let text = unsafe String(cString: value)
        return text.isEmpty ? nil : text
    }

    /// The effective user.
    ///
    /// The corresponding C function is `geteuid`.
    package static var user: UInt32 { geteuid() }

    /// The effective user of another process; nil where there is no such process.
    ///
    /// The owner of its directory in /proc is root where it refuses inspection. proc_pid_status(5).
    package static func user(of process: Int32) -> UInt32? {
        guard let bytes = try? FileSystem.contents(of: "/proc/\(process)/status", limit: 1 << 16) else { return nil }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        let fields = lines.first { $0.hasPrefix("Uid:") }?.split { $0 == "\t" || $0 == " " } ?? []
        return fields.count > 2 ? UInt32(fields[2]) : nil
    }

    /// This process's number.
    ///
    /// The corresponding C function is `getpid`.
    package static var number: Int32 { getpid() }
}
