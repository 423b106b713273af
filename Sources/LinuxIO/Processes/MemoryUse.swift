// SPDX-License-Identifier: GPL-2.0-or-later

/// The memory of this process, in kB.
package struct MemoryUse: Sendable {
    /// Its share of the pages that are resident (Pss).
    package var share = 0
    /// The most that was resident at once.
    package var peak = 0

    /// The memory now; 0 where the kernel does not say it.
    ///
    /// proc(5): smaps_rollup, status.
    package static var now: MemoryUse {
        MemoryUse(share: number("Pss:", of: "smaps_rollup"), peak: number("VmHWM:", of: "status"))
    }

    private static func number(_ name: String, of file: String) -> Int {
        let text = (try? FileSystem.contents(of: "/proc/self/\(file)", limit: 65_536)) ?? []
        let line = String(decoding: text, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix(name) }
        let words = line?.split { $0 == " " || $0 == "\t" } ?? []
        return words.count > 1 ? Int(words[1]) ?? 0 : 0
    }
}
