// SPDX-License-Identifier: GPL-2.0-or-later

/// A running program, as /proc shows it.
package struct ProcessEntry: Equatable, Sendable {
    /// Its number.
    package var pid: Int32
    /// The first 15 bytes of its name.
    package var name: String
    /// The virtual terminal that it belongs to: 1 is tty1; nil for none.
    package var virtualTerminal: Int?
    /// True where it is in its terminal's foreground process group, which reads the keys.
    package var isInFront: Bool

    /// A program from its fields.
    package init(pid: Int32, name: String, virtualTerminal: Int? = nil, isInFront: Bool = false) {
        self.pid = pid
        self.name = name
        self.virtualTerminal = virtualTerminal
        self.isInFront = isInFront
    }

    /// Every program that this process may see.
    package static func all(proc: String = "/proc") -> [ProcessEntry] {
        FileSystem.names(in: proc).compactMap { name in
            guard name.utf8.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }) else { return nil }
            return FileSystem.line(of: "\(proc)/\(name)/stat").flatMap(ProcessEntry.init)
        }
    }

    /// The words that a process was started with; empty where they cannot be read.
    ///
    /// proc_pid_cmdline(5).
    package static func arguments(of process: Int32, proc: String = "/proc") -> [String] {
        let bytes = (try? FileSystem.contents(of: "\(proc)/\(process)/cmdline", limit: 1 << 20)) ?? []
        return bytes.split(separator: 0, omittingEmptySubsequences: false).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Reads `/proc/PID/stat`: number, name in parentheses, state, parent, group, session, terminal and
    /// the group in front of it; nil for anything else.
    ///
    /// proc_pid_stat(5).
    package init?(stat: String) {
        // The name may hold spaces and parentheses itself: it ends with the last one.
        guard let open = stat.firstIndex(of: "("), let close = stat.lastIndex(of: ")"), open < close,
            let pid = Int32(stat[..<open].filter { $0 != " " })
        else { return nil }
        let fields = stat[stat.index(after: close)...].split(separator: " ")
        guard fields.count > Self.frontField, let device = Int32(fields[Self.terminalField]) else { return nil }
        let number = UInt32(bitPattern: device)
        let major = number >> 8 & 0xFFF
        let minor = number & 0xFF | number >> 12 & 0xFFF00
        self.init(
            pid: pid,
            name: String(stat[stat.index(after: open)..<close]),
            virtualTerminal: major == Self.terminalMajor && (1...63).contains(minor) ? Int(minor) : nil,
            isInFront: fields[Self.groupField] == fields[Self.frontField]
        )
    }

    /// The places of `pgrp`, `tty_nr` and `tpgid` behind the name.
    private static let groupField = 2
    private static let terminalField = 4
    private static let frontField = 5
    /// TTY_MAJOR; its minors 1 to 63 are virtual terminals, and serial ports are beyond.
    private static let terminalMajor: UInt32 = 4
}
