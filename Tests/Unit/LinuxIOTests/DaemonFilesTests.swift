// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import LinuxIO
import Synchronization
import SystemPackage
import TestSupport
import Testing

@Suite("Watched files, locks and notifications of a daemon")
struct DaemonFilesTests {
    /// Calls `body` with a temporary directory, which is deleted afterwards.
    private func inDirectory(_ body: (FilePath) throws -> Void) throws {
        let directory = try TestDirectory()
        try withExtendedLifetime(directory) { try body(FilePath(directory.path)) }
    }

    private func put(_ text: String, _ path: FilePath) throws {
        let file = try #require(fopen(path.string, "w"))
        defer { fclose(file) }
        #expect(fputs(text, file) >= 0)
    }

    @Test("A file that is written, replaced or removed is told by its name, others by theirs")
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
            // Like an editor, closes the file before moving it here.
            try put("x", directory.appending("other"))
            #expect(try watch.take().names == ["other"])
            try #require(rename(directory.appending("other").string, directory.appending("selection").string) == 0)
            #expect(try watch.take().names == ["other", "selection"])
            try FileSystem.remove(directory.appending("selection"))
            #expect(try watch.take().mayConcern("selection"))
            #expect(try watch.take() == FileWatch.Changes())
        }
    }

    @Test("Of a great many changes none is missed: they are told as incomplete")
    func overflow() throws {
        try inDirectory { directory in
            let watch = try FileWatch(directory: directory)
            let queue = try FileSystem.contents(of: "/proc/sys/fs/inotify/max_queued_events", limit: 64)
            let capacity = try #require(Int(String(decoding: queue, as: UTF8.self).filter(\.isNumber)))
            // One event each, because the kernel merges consecutive events with the same name and kind. A program
            // started by another test may keep the file open for a moment, which delays some events and makes them
            // consecutive, hence the additional ones.
            for number in 0...(capacity + capacity / 4) {
                try put("x", directory.appending(number % 2 == 0 ? "other" : ".hidden"))
            }
            try put("x", directory.appending("selection"))
            let changes = try watch.take()
            #expect(changes.isIncomplete && !changes.names.contains("selection") && changes.mayConcern("selection"))
        }
    }

    @Test("The removal of a watched directory is reported")
    func gone() throws {
        let directory = FilePath("/tmp/blewedge-gone.\(getpid())")
        try #require(mkdir(directory.string, 0o700) == 0)
        let watch = try FileWatch(directory: directory)
        rmdir(directory.string)
        #expect(try watch.take().isGone)
    }

    @Test("What a killed process has left of a file is gone when that is written again; a living one's stays")
    func leftovers() throws {
        try inDirectory { directory in
            let path = directory.appending("selection")
            // No process can have this number (PID_MAX_LIMIT).
            for left in ["selection.2147483000", "selection.\(getppid())", "selection.\(getpid())", "bonds.2147483000"]
            {
                try put("x", directory.appending(".\(left)"))
            }
            try FileSystem.replace(path, with: [0x61], mode: 0o644)
            let hidden = FileSystem.names(in: directory.string, hidden: true).filter { $0.count > 2 }
            #expect(hidden == [".bonds.2147483000", ".selection.\(getppid())"])
            #expect(FileSystem.names(in: directory.string) == ["selection"])
        }
    }

    @Test("D-12: a lock is one process's, names it, and goes with its owner; given back, it leaves nothing")
    func lock() throws {
        try inDirectory { directory in
            let path = directory.appending("hci0.lock")
            #expect(LockFile.holder(path) == nil)
            do {
                let lock = try LockFile(path)
                let isAbandoned = lock.isAbandoned
                #expect(!isAbandoned)
                #expect(LockFile.holder(path) == getpid())
                #expect(throws: Errno.wouldBlock) { _ = try LockFile(path) }
                _ = consume lock
            }
            #expect(LockFile.holder(path) == nil)
            let again = try LockFile(path)
            let wasAbandoned = again.isAbandoned
            #expect(wasAbandoned)
            #expect(LockFile.holder(path) == getpid())
            again.remove()
            let third = try LockFile(path)
            let isLeft = third.isAbandoned
            #expect(!isLeft)
            third.remove()
            #expect(LockFile.holder(path) == nil)
            #expect(FileSystem.names(in: directory.string).isEmpty)
        }
    }

    @Test("D-12: its owner alone may open a lock, one from before included; who holds it is everybody's to read")
    func lockMode() throws {
        try inDirectory { directory in
            let path = directory.appending("hci0.lock")
            try put("", path)
            chmod(path.string, 0o666)
            let lock = try LockFile(path)
            var status = stat()
            #expect(stat(path.string, &status) == 0 && status.st_mode & 0o777 == 0o600)
            #expect(stat(path.string + ".pid", &status) == 0 && status.st_mode & 0o777 == 0o644)
            _ = consume lock
        }
    }

    @Test("D-12: a lock that may not be opened is held by who is named beside it, by nobody once that one has ended")
    func othersLock() throws {
        try inDirectory { directory in
            let path = directory.appending("hci0.lock")
            let seen = Mutex<[Int32?]>([])
            /// Records the holder as seen by another user; threads have separate file permissions.
            func look() throws {
                let thread = try SystemThread(name: "other") {
                    // Function of glibc that Swift does not import.
                    typealias SetUser = @convention(c) (UInt32) -> Int32
                    _ = dlsym(nil, "setfsuid").map { unsafeBitCast($0, to: SetUser.self)(65_534) }
                    let holder = LockFile.holder(path)
                    seen.withLock { $0.append(holder) }
                }
                thread.join()
            }
            chmod(directory.string, 0o755)
            try put("", path)
            chmod(path.string, 0)
            try look()
            try put("\(getpid())\n", directory.appending("hci0.lock.pid"))
            try look()
            // No process can have this number (PID_MAX_LIMIT).
            try put("2147483000\n", directory.appending("hci0.lock.pid"))
            try look()
            #expect(seen.withLock { $0 } == [0, getpid(), nil])
        }
    }

    @Test("D-12: a lock goes over to the program that takes this one's place, and nobody can take it in between")
    func inheritedLock() throws {
        try inDirectory { directory in
            let path = directory.appending("hci0.lock")
            let lock = try LockFile(path)
            let number = lock.keepOpen()
            #expect(fcntl(number, F_GETFD) == 0)
            // Duplicate of the open file, as it remains after exec.
            let left = dup(number)
            _ = consume lock
            #expect(LockFile.holder(path) == getpid())
            #expect(throws: Errno.wouldBlock) { _ = try LockFile(path) }
            guard let inherited = LockFile(inherited: left) else {
                Issue.record("it is not taken over")
                return
            }
            let (isIt, isOther) = (inherited.isLock(at: path), inherited.isLock(at: directory.appending("hci1.lock")))
            #expect(fcntl(left, F_GETFD) == FD_CLOEXEC && isIt && !isOther)
            inherited.remove()
            #expect(LockFile.holder(path) == nil)
            for number in [1, 9999] as [Int32] {
                if LockFile(inherited: number) != nil { Issue.record("\(number) is no lock") }
            }
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
            // Nobody listens on this socket file any more.
            try #require(rename(aside, path) == 0)
            let third = try LocalListener(at: path, mode: 0o600)
            #expect(throws: Never.self) { _ = try LocalStream(connectingTo: path) }
            _ = consume third
        }
    }

    @Test("The foreground terminal is parsed from the kernel's text, and any other text is rejected")
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
        // Without a listener, nothing happens.
        var lonely = try NotifySocket("@blewedge-nobody-\(getpid())")
        lonely.send("READY=1")
    }
}
