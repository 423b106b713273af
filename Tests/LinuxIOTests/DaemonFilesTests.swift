// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import LinuxIO
import SystemPackage
import TestSupport
import Testing

@Suite("What a daemon watches, locks and tells")
struct DaemonFilesTests {
    /// A directory of its own, removed afterwards.
    private func inDirectory(_ body: (FilePath) throws -> Void) throws {
        let directory = try TestDirectory()
        try withExtendedLifetime(directory) { try body(FilePath(directory.path)) }
    }

    private func put(_ text: String, _ path: FilePath) throws {
        let file = try #require(fopen(path.string, "w"))
        defer { fclose(file) }
        #expect(fputs(text, file) >= 0)
    }

    @Test("LK-18: a file that is written, replaced or removed is told by its name, others by theirs")
    func watch() throws {
        try inDirectory { directory in
            let watch = try FileWatch(directory: directory)
            #expect(try watch.take() == FileWatch.Changes())
            try put("x", directory.appending("other"))
            let written = try watch.take()
            #expect(written.names == ["other"])
            #expect(!written.mayConcern("selection"))
            try FileSystem.replace(directory.appending("selection"), with: [0x61], mode: 0o644)
            #expect(try watch.take().mayConcern("selection"))
            // As an editor does it: the file was closed before it is moved here.
            try put("x", directory.appending("other"))
            #expect(try watch.take().names == ["other"])
            try #require(rename(directory.appending("other").string, directory.appending("selection").string) == 0)
            #expect(try watch.take().names == ["other", "selection"])
            try FileSystem.remove(directory.appending("selection"))
            #expect(try watch.take().mayConcern("selection"))
            #expect(try watch.take() == FileWatch.Changes())
        }
    }

    @Test("LK-18: of a great many changes none is missed: they are told as incomplete")
    func overflow() throws {
        try inDirectory { directory in
            let watch = try FileWatch(directory: directory)
            let queue = try FileSystem.contents(of: "/proc/sys/fs/inotify/max_queued_events", limit: 64)
            let capacity = try #require(Int(String(decoding: queue, as: UTF8.self).filter(\.isNumber)))
            // One event each: two in a row of one name and kind are told as one.
            for number in 0...capacity { try put("x", directory.appending(number % 2 == 0 ? "other" : ".hidden")) }
            try put("x", directory.appending("selection"))
            let changes = try watch.take()
            #expect(changes.isIncomplete && !changes.names.contains("selection") && changes.mayConcern("selection"))
        }
    }

    @Test("LK-18: a directory that goes is told")
    func gone() throws {
        let directory = FilePath("/tmp/blewedge-gone.\(getpid())")
        try #require(mkdir(directory.string, 0o700) == 0)
        let watch = try FileWatch(directory: directory)
        rmdir(directory.string)
        #expect(try watch.take().isGone)
    }

    @Test("D-12: a lock is one process's, names it, and goes with its owner")
    func lock() throws {
        try inDirectory { directory in
            let path = directory.appending("hci0.lock")
            #expect(LockFile.holder(path) == nil)
            do {
                let lock = try LockFile(path)
                #expect(LockFile.holder(path) == getpid())
                #expect(throws: Errno.wouldBlock) { _ = try LockFile(path) }
                _ = consume lock
            }
            #expect(LockFile.holder(path) == nil)
            let again = try LockFile(path)
            #expect(LockFile.holder(path) == getpid())
            _ = consume again
        }
    }

    @Test("D-12: a link in the lock's place is not followed")
    func lockLink() throws {
        try inDirectory { directory in
            try put("precious", directory.appending("other"))
            symlink(directory.appending("other").string, directory.appending("hci0.lock").string)
            #expect(throws: Errno.tooManySymbolicLinkLevels) { _ = try LockFile(directory.appending("hci0.lock")) }
            #expect(FileSystem.line(of: directory.appending("other").string) == "precious")
        }
    }

    @Test("D-9: a socket that is listened at stays, one that was left behind is replaced; each removes its own")
    func sockets() throws {
        try inDirectory { directory in
            let (path, aside) = (directory.appending("socket").string, directory.appending("aside").string)
            let first = try LocalListener(at: path, mode: 0o600)
            #expect(throws: Errno.addressInUse) { _ = try LocalListener(at: path, mode: 0o600) }
            #expect(FileSystem.exists(path))
            try #require(rename(path, aside) == 0)
            let second = try LocalListener(at: path, mode: 0o600)
            _ = consume first
            #expect(FileSystem.exists(path))
            _ = consume second
            #expect(!FileSystem.exists(path))
            // Nobody listens at this file any more.
            try #require(rename(aside, path) == 0)
            let third = try LocalListener(at: path, mode: 0o600)
            #expect(throws: Never.self) { _ = try LocalStream(connectingTo: path) }
            _ = consume third
        }
    }

    @Test("LK-22: the terminal in front is read from the kernel's words, and nothing from others")
    func terminal() throws {
        try inDirectory { directory in
            let path = directory.appending("active")
            for (text, number) in [("tty1\n", 1), ("tty63\n", 63), ("ttyS0\n", nil), ("", nil), ("console\n", nil)] {
                try put(text, path)
                #expect(try ForegroundTerminal(path.string).number == number, "\(text)")
            }
        }
    }

    @Test("The service manager is told through a file or an abstract name; what is neither is refused")
    func notify() throws {
        for path in ["", "@", "relative", "vsock:2:1", "/" + String(repeating: "x", count: 120)] {
            #expect(throws: Errno.self) { _ = try NotifySocket(path) }
        }
        // Nobody listens: nothing happens.
        var lonely = try NotifySocket("@blewedge-nobody-\(getpid())")
        lonely.send("READY=1")
    }
}
