// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
import Glibc
package import SystemPackage

package enum Process {
    /// Makes writes to a closed pipe fail with EPIPE instead of ending the process (C: `signal`).
    package static func ignoreBrokenPipes() {
        blewedge_ignore_signal(SIGPIPE)
    }

    /// Clears the owner's bits in the umask, so that the owner gets all requested permissions of new files and
    /// directories.
    ///
    /// Otherwise, for example, a directory created under the umask 0177 could not be entered.
    ///
    /// Call it before any file is created. The corresponding C function is `umask`.
    package static func keepOwnersPermissions() { _ = umask(umask(0o077) & 0o077) }

    /// Disables core dumps, and prevents other processes of the user from accessing this process's memory with
    /// ptrace(2) or /proc/PID/mem.
    ///
    /// A program that replaces this one by exec must call it again. The corresponding C function is `prctl`
    /// (PR_SET_DUMPABLE).
    package static func refuseInspection() throws(Errno) {
        _ = try SystemCall.run { blewedge_prctl(PR_SET_DUMPABLE, 0, 0) }
    }

    /// Runs this program again in this process, with the same arguments and these additional environment variables
    /// (C: `setenv` and `execv`).
    package static func replaceBySelf(telling variables: [(name: String, value: String)]) throws(Errno) {
        let arguments = CommandLine.arguments
        // Sound: no other thread reads the environment at this point, and the copies live until exec replaces the
        // program.
        for variable in variables { _ = unsafe setenv(variable.name, variable.value, 1) }
        var pointers = unsafe arguments.map { unsafe strdup($0) }
        unsafe pointers.append(nil)
        defer { unsafe pointers.forEach { unsafe free($0) } }
        _ = try SystemCall.run { unsafe execv("/proc/self/exe", &pointers) }
    }

    /// Allows the kernel to reclaim those pages of the program's file that were needed only at start-up.
    ///
    /// These are most of the pages. They stay in the page cache, and are mapped again on the next access. The
    /// corresponding C functions are `dl_iterate_phdr` and `madvise` (MADV_DONTNEED).
    package static func giveBackStartupPages() { blewedge_give_back_startup_pages() }

    package static func exit(_ code: Int32) -> Never {
        CLinux._exit(code)
    }
}

/// A running program, as listed in /proc.
package struct ProcessEntry: Equatable, Sendable {
    package var pid: Int32
    /// First 15 bytes of the program's name.
    package var name: String
    /// Virtual terminal of the program: 1 is tty1; nil if it has none.
    package var virtualTerminal: Int?
    /// True if the program is in its terminal's foreground process group, which receives the keys.
    package var isInFront: Bool

    package init(pid: Int32, name: String, virtualTerminal: Int? = nil, isInFront: Bool = false) {
        self.pid = pid
        self.name = name
        self.virtualTerminal = virtualTerminal
        self.isInFront = isInFront
    }

    /// Returns every program that this process may see.
    package static func all(proc: String = "/proc") -> [ProcessEntry] {
        FileSystem.names(in: proc).compactMap { name in
            guard name.utf8.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }) else { return nil }
            return FileSystem.line(of: "\(proc)/\(name)/stat").flatMap(ProcessEntry.init)
        }
    }

    /// Returns the command line arguments of a process; empty if they cannot be read (proc_pid_cmdline(5)).
    package static func arguments(of process: Int32, proc: String = "/proc") -> [String] {
        guard let bytes = try? FileSystem.contents(of: "\(proc)/\(process)/cmdline", limit: 1 << 20), !bytes.isEmpty
        else { return [] }
        return bytes.split(separator: 0, omittingEmptySubsequences: false).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Parses the text of `/proc/PID/stat`; nil for any other text.
    ///
    /// The fields are: number, name in parentheses, state, parent, group, session, terminal, and the terminal's
    /// foreground group. proc_pid_stat(5).
    package init?(stat: String) {
        // The name may contain spaces and parentheses: it ends at the last closing parenthesis.
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

    /// Indices of `pgrp`, `tty_nr` and `tpgid` among the fields after the name.
    private static let groupField = 2
    private static let terminalField = 4
    private static let frontField = 5
    /// TTY_MAJOR; its minor numbers 1 to 63 are virtual terminals, higher numbers are serial ports.
    private static let terminalMajor: UInt32 = 4
}

/// The identity of this process, and its environment.
package enum ProcessFacts {
    /// Returns the value of an environment variable; nil if it is not set or empty (C: `getenv`).
    package static func environment(_ name: String) -> String? {
        // Sound: the text is copied immediately, and the product changes its environment only right before exec.
        guard let value = unsafe getenv(name) else { return nil }
        let text = unsafe String(cString: value)
        return text.isEmpty ? nil : text
    }

    /// Effective user of this process (C: `geteuid`).
    package static var user: UInt32 { geteuid() }

    /// Returns the effective user of another process; nil if there is no such process.
    ///
    /// The owner of the process's directory in /proc cannot be used, because it is root if the process refuses
    /// inspection. proc_pid_status(5).
    package static func user(of process: Int32) -> UInt32? {
        guard let bytes = try? FileSystem.contents(of: "/proc/\(process)/status", limit: 1 << 16) else { return nil }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        let fields = lines.first { $0.hasPrefix("Uid:") }?.split { $0 == "\t" || $0 == " " } ?? []
        return fields.count > 2 ? UInt32(fields[2]) : nil
    }

    /// Number of this process (C: `getpid`).
    package static var number: Int32 { getpid() }
}

/// The memory of this process, in kB.
package struct MemoryUse: Sendable {
    /// Proportional share of the resident memory (Pss), which divides shared pages among their users.
    package var share = 0
    /// Peak of the resident memory (VmHWM).
    package var peak = 0

    /// Current memory use; 0 if the kernel does not report it (proc(5): smaps_rollup, status).
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

/// A shared library that is loaded on first use, and whose functions are looked up by name.
///
/// It is never unloaded, because unloading would gain nothing.
@safe
package struct LoadedLibrary {
    /// The reason why a library or one of its functions is not available.
    package struct Failure: Error, Equatable, Sendable {
        package var reason: String

        package init(_ reason: String) { self.reason = reason }
    }

    /// False in the fully static build of the program, which has no loader.
    package static var isPossible: Bool { blewedge_loads_libraries() }

    private let handle: UnsafeMutableRawPointer

    /// Loads the library with this file name from the loader's search path (C: `dlopen`).
    package init(_ fileName: String) throws(Failure) {
        guard Self.isPossible else { throw Failure("\(fileName): a static program loads no library") }
        // Sound: the error text is copied before the next call of the loader.
        guard let handle = unsafe dlopen(fileName, RTLD_NOW | RTLD_LOCAL) else {
            let reason = unsafe dlerror().map { unsafe String(cString: $0) }
            throw Failure(reason ?? fileName)
        }
        unsafe self.handle = handle
    }

    /// Returns the function with this name; the caller must convert it to its type in the library's header (C:
    /// `dlsym`).
    @unsafe
    package func function(_ name: String) throws(Failure) -> UnsafeMutableRawPointer {
        // Sound: the handle stays valid, because the library is never unloaded.
        guard let function = unsafe dlsym(handle, name) else {
            throw Failure("it has no function \(name)")
        }
        return unsafe function
    }
}
