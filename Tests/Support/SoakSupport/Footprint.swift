// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import LinuxIO

/// Memory and descriptors of the process.
package struct Footprint: Sendable {
    /// Private anonymous memory in KiB (Pss_Anon of /proc/self/smaps_rollup).
    package var memory = 0
    /// Open descriptors.
    package var descriptors = 0

    /// Current values.
    static var now: Footprint {
        var footprint = Footprint()
        let text = (try? FileSystem.contents(of: "/proc/self/smaps_rollup", limit: 65_536)) ?? []
        for line in String(decoding: text, as: UTF8.self).split(separator: "\n") where line.hasPrefix("Pss_Anon:") {
            footprint.memory = Int(line.split(separator: " ").dropFirst().first ?? "") ?? 0
        }
        if let folder = opendir("/proc/self/fd") {
            while readdir(folder) != nil { footprint.descriptors += 1 }
            closedir(folder)
        }
        // Without `.`, `..`, and the descriptor of the directory itself.
        footprint.descriptors -= 3
        return footprint
    }
}
