// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import LinuxIO
import Synchronization
import SystemPackage
import TestSupport
import Testing

@Suite("The lock of a directory", .timeLimit(.minutes(10)))
struct DirectoryLockTests {
    /// Returns the failure that `hold` reports.
    private func attempt(_ path: String, _ body: () -> Void = {}) -> DirectoryLock.Failure? {
        do throws(DirectoryLock.Failure) {
            try DirectoryLock.hold(FilePath(path), refused: { $0 }, { () throws(DirectoryLock.Failure) in body() })
            return nil
        } catch {
            return error
        }
    }

    @Test("A directory that another process has locked with flock does not delay it; nothing is left behind")
    func directory() throws {
        let directory = try TestDirectory()
        let opened = open(directory.path, O_RDONLY | O_DIRECTORY)
        defer { close(opened) }
        try #require(flock(opened, LOCK_EX | LOCK_NB) == 0)
        #expect(attempt(directory.path) == nil)
        #expect(FileSystem.names(in: directory.path, hidden: true) == [".", ".."])
    }

    @Test("While it is held its owner alone can open its file, and a second process is told who holds it")
    func held() throws {
        let directory = try TestDirectory()
        let file = DirectoryLock.file(in: FilePath(directory.path))
        var failure: DirectoryLock.Failure?
        let outcome = attempt(directory.path) {
            var status = stat()
            #expect(stat(file.string, &status) == 0 && status.st_mode & 0o777 == 0o600)
            failure = attempt(directory.path)
        }
        #expect(outcome == nil)
        #expect(failure == .held(file, by: getpid()))
        #expect(attempt(directory.path) == nil)
    }

    @Test("SIGTERM and SIGINT end the wait, and stay pending", arguments: [SIGTERM, SIGINT])
    func signals(number: Int32) throws {
        let directory = try TestDirectory()
        let file = DirectoryLock.file(in: FilePath(directory.path))
        let path = directory.path
        let lock = try LockFile(file)
        let found = Mutex<DirectoryLock.Failure?>(nil)
        let thread = try SystemThread(name: "waiting") {
            // Blocked, as for signals that are read with a signalfd.
            var mask = sigset_t()
            sigemptyset(&mask)
            sigaddset(&mask, number)
            pthread_sigmask(SIG_BLOCK, &mask, nil)
            pthread_kill(pthread_self(), number)
            let failure = attempt(path)
            var taken: Int32 = 0
            #expect(sigwait(&mask, &taken) == 0 && taken == number)
            found.withLock { $0 = failure }
        }
        thread.join()
        #expect(found.withLock { $0 } == .interrupted(file, by: getpid(), signal: number))
        _ = consume lock
        withExtendedLifetime(directory) {}
    }

    @Test(
        "A FIFO, a symbolic link, a second name and another user's file in its place are refused and left as they are"
    )
    func foreign() throws {
        let directory = try TestDirectory()
        let file = DirectoryLock.file(in: FilePath(directory.path)).string
        try directory.write("x", to: "target")
        chmod(directory("target"), 0o644)
        try #require(symlink(directory("target"), file) == 0)
        #expect(attempt(directory.path) == .failed(.tooManySymbolicLinkLevels))
        try #require(unlink(file) == 0 && link(directory("target"), file) == 0)
        #expect(attempt(directory.path) == .failed(.notPermitted))
        var status = stat()
        #expect(stat(file, &status) == 0 && status.st_mode & 0o777 == 0o644)
        try #require(unlink(file) == 0 && mkfifo(file, 0o600) == 0)
        #expect(attempt(directory.path) == .failed(.notPermitted))
        try #require(unlink(file) == 0)
        guard geteuid() == 0 else { return }
        try directory.write("x", to: ".lock")
        try #require(chown(file, 65_534, 65_534) == 0)
        #expect(attempt(directory.path) == .failed(.notPermitted))
        #expect(stat(file, &status) == 0 && status.st_uid == 65_534)
    }

    @Test("Root's lock in another user's directory is that user's to open, so that a killed command leaves it usable")
    func owner() throws {
        try #require(geteuid() == 0, "only root can give a directory away")
        let directory = try TestDirectory()
        try #require(chown(directory.path, 65_534, 65_534) == 0)
        let file = DirectoryLock.file(in: FilePath(directory.path))
        let lock = try LockFile(file)
        #expect(FileSystem.owner(of: file.string) == 65_534)
        _ = consume lock
        #expect(attempt(directory.path) == nil)
    }
}
