// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
package import SystemPackage

/// A watch on a directory that reports which files have changed.
package struct FileWatch: ~Copyable {
    /// The changes since the last call.
    package struct Changes: Equatable, Sendable {
        /// Names of files that were written, moved into the directory, moved out of it or deleted.
        package var names: Set<String> = []
        /// True if changes were lost, so that any file may have changed.
        package var isIncomplete = false
        /// True if the directory itself was deleted or moved; no more changes will be reported.
        package var isGone = false

        package init() {}

        /// Returns true if the file with this name may have changed.
        package func mayConcern(_ name: String) -> Bool { isIncomplete || isGone || names.contains(name) }
    }

    /// Descriptor that is readable when there are changes.
    package let descriptor: Descriptor

    /// Watches a directory (C: `inotify_init1` and `inotify_add_watch`).
    package init(directory: FilePath) throws(Errno) {
        let site = CallSite(.loop, .inotifyInit)
        let flags = Int32(IN_CLOEXEC | IN_NONBLOCK)
        let made = Descriptor(owning: try SystemCall.run(site) { inotify_init1(flags) }, .loop)
        let number = made.number
        let events = IN_CLOSE_WRITE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF
        _ = try SystemCall.run {
            unsafe inotify_add_watch(number, directory.string, UInt32(events) | UInt32(IN_ONLYDIR))
        }
        descriptor = made
    }

    /// Returns the changes since the last call (inotify(7), Reading events).
    package func take() throws(Errno) -> Changes {
        var changes = Changes()
        // Room for many events, each with a name of at most 255 bytes.
        var buffer = [UInt8](repeating: 0, count: 16 * 1024)
        while case .done(let count) = try descriptor.read(into: &buffer), count > 0 {
            Self.parse(buffer[..<min(count, buffer.count)], into: &changes)
        }
        return changes
    }

    /// Parses `struct inotify_event` structures: watch, mask, cookie, length of the name, name.
    private static func parse(_ bytes: ArraySlice<UInt8>, into changes: inout Changes) {
        var rest = bytes
        let headerSize = MemoryLayout<inotify_event>.size
        while rest.count >= headerSize {
            let header = Array(rest.prefix(headerSize))
            // Sound: the members have these offsets on every machine, and are within the header.
            let (mask, length) = unsafe header.withUnsafeBytes { raw in
                unsafe (
                    raw.loadUnaligned(fromByteOffset: 4, as: UInt32.self),
                    raw.loadUnaligned(fromByteOffset: 12, as: UInt32.self)
                )
            }
            let name = rest.dropFirst(headerSize).prefix(Int(length))
            rest = rest.dropFirst(headerSize + Int(length))
            if mask & UInt32(IN_Q_OVERFLOW) != 0 { changes.isIncomplete = true }
            if mask & UInt32(IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED) != 0 { changes.isGone = true }
            let text = String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
            if !text.isEmpty { changes.names.insert(text) }
        }
    }
}
