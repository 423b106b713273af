// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
import Glibc
package import SystemPackage

package enum Process {
    /// Makes writes to a closed pipe fail with EPIPE instead of ending the process (C: `signal`).
    package static func ignoreBrokenPipes() {
        blewedge_ignore_signal(SIGPIPE)
    }

    /// Leaves the owner of a new file or directory its permissions, whatever mask the process was started with: a directory
    /// that was made under 0177 could not be entered.
    ///
    /// To be called before anything is made. The corresponding C function is `umask`.
    package static func keepOwnersPermissions() { _ = umask(umask(0o077) & 0o077) }

    /// Refuses core dumps, and keeps this process's memory from other processes of its user: no ptrace(2), no /proc/PID/mem.
    ///
    /// A program that takes this one's place has to ask again. The corresponding C function is `prctl` (PR_SET_DUMPABLE).
    package static func refuseInspection() throws(Errno) {
        _ = try SystemCall.run { blewedge_prctl(PR_SET_DUMPABLE, 0, 0) }
    }

    /// Runs this program anew in this process, with the same arguments and these variables in its environment (C:
    /// `setenv` and `execv`).
    package static func replaceBySelf(telling variables: [(name: String, value: String)]) throws(Errno) {
        let arguments = CommandLine.arguments
        // Sound: no other thread reads the environment any more, and the copies live until the program is another.
        for variable in variables { _ = unsafe setenv(variable.name, variable.value, 1) }
        var pointers = unsafe arguments.map { unsafe strdup($0) }
        unsafe pointers.append(nil)
        defer { unsafe pointers.forEach { unsafe free($0) } }
        _ = try SystemCall.run { unsafe execv("/proc/self/exe", &pointers) }
    }

    /// Lets the kernel take back the pages of the program's file that only its beginning has needed, most of it all.
    ///
    /// They stay in the page cache; what is touched again is mapped again. The corresponding C functions are
    /// `dl_iterate_phdr` and `madvise` (MADV_DONTNEED).
    package static func giveBackStartupPages() { blewedge_give_back_startup_pages() }

    package static func exit(_ code: Int32) -> Never {
        CLinux._exit(code)
    }
}

/// A running program, as /proc shows it.
package struct ProcessEntry: Equatable, Sendable {
    package var pid: Int32
    /// The first 15 bytes of its name.
    package var name: String
    /// The virtual terminal that it belongs to: 1 is tty1; nil for none.
    package var virtualTerminal: Int?
    /// True where it is in its terminal's foreground process group, which reads the keys.
    package var isInFront: Bool

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

    /// The words that a process was started with; empty where they cannot be read (proc_pid_cmdline(5)).
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

/// The identity of this process, and its environment.
package enum ProcessFacts {
    /// The value of an environment variable; nil where it is not set, or empty (C: `getenv`).
    package static func environment(_ name: String) -> String? {
        // Sound: the text is copied at once, and the product never changes its environment.
        guard let value = unsafe getenv(name) else { return nil }
        let text = unsafe String(cString: value)
        return text.isEmpty ? nil : text
    }

    /// The effective user (C: `geteuid`).
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

    /// This process's number (C: `getpid`).
    package static var number: Int32 { getpid() }
}

/// The memory of this process, in kB.
package struct MemoryUse: Sendable {
    /// Its share of the pages that are resident (Pss).
    package var share = 0
    /// The most that was resident at once.
    package var peak = 0

    /// The memory now; 0 where the kernel does not say it (proc(5): smaps_rollup, status).
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

/// A shared library that is loaded when it is first needed, and whose functions are found by name.
///
/// It stays loaded: unloading gains nothing.
@safe
package struct LoadedLibrary {
    /// The reason for which a library or one of its functions is not there.
    package struct Failure: Error, Equatable, Sendable {
        package var reason: String

        package init(_ reason: String) { self.reason = reason }
    }

    /// False in the fully static form of the program, which has no loader.
    package static var isPossible: Bool { blewedge_loads_libraries() }

    private let handle: UnsafeMutableRawPointer

    /// Loads the library of that file name, which the loader looks for where libraries lie (C: `dlopen`).
    package init(_ fileName: String) throws(Failure) {
        // Sound: the loader's text is copied before the next call of it.
        guard let handle = unsafe dlopen(fileName, RTLD_NOW | RTLD_LOCAL) else {
            let reason = unsafe dlerror().map { unsafe String(cString: $0) }
            throw Failure(reason ?? fileName)
        }
        unsafe self.handle = handle
    }

    /// The function of that name; whoever calls it gives it the type that the library's header has (C: `dlsym`).
    @unsafe
    package func function(_ name: String) throws(Failure) -> UnsafeMutableRawPointer {
        // Sound: the handle is that of a library that is never unloaded.
        guard let function = unsafe dlsym(handle, name) else {
            throw Failure("it has no function \(name)")
        }
        return unsafe function
    }
}
