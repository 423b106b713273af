// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import Devices
import Glibc
import LinuxIO
import SystemPackage
import TestSupport
import Testing

@Suite("A state directory that is locked", .timeLimit(.minutes(10)))
struct LockedStateTests {
    private static let address = "F0:F1:F2:F3:F4:01"
    /// Commands that modify a file of the state directory.
    private static let commands = [
        ["forget", address, "--adapter", "h4:unix:/nonexistent"],
        ["beacons", "designate", "4A1C0D9E-5B8F-4E57-9B7E-1C2D3E4F5A6B.1.2"],
    ]

    /// Creates a state directory with one bond.
    private func home() throws -> TestDirectory {
        let home = try TestDirectory()
        let key = LongTermKey(
            (1...16).map { UInt8($0) },
            isAuthenticated: false,
            isSecureConnections: true,
            role: .central
        )
        let bond = Bond(
            identityAddress: DeviceAddress(try #require(BluetoothAddress(Self.address)), .random),
            localAddress: BluetoothAddress(rawValue: 0x00AA_0100_0042),
            longTermKeys: [key].compactMap(\.self),
            identityResolvingKey: nil
        )
        try BondStore(FilePath(home("bonds"))).add(try #require(bond))
        return home
    }

    @Test(
        "Who holds flock on the directory, as any user can who may read it, keeps no command waiting",
        arguments: commands
    )
    func directory(command: [String]) throws {
        let home = try home()
        let opened = open(home.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { close(opened) }
        try #require(flock(opened, LOCK_EX | LOCK_NB) == 0)
        let outcome = try run(command, environment: home.environment)
        #expect(outcome.status != 75 && !outcome.error.contains(".lock"), "\(outcome)")
    }

    @Test("A lock that is held too long is exit status 75, and names its process and the file", arguments: commands)
    func held(command: [String]) throws {
        let home = try home()
        let lock = try LockFile(DirectoryLock.file(in: FilePath(home.path)))
        let outcome = try run(command, environment: home.environment)
        #expect(outcome.status == 75, "\(outcome)")
        #expect(outcome.error.contains("process \(getpid()) has locked \(home.path)/.lock"), "\(outcome)")
        _ = consume lock
    }

    @Test("SIGTERM ends a command that waits for the lock", arguments: commands)
    func signal(command: [String]) throws {
        let home = try home()
        let lock = try LockFile(DirectoryLock.file(in: FilePath(home.path)))
        let watch = inotify_init1(Int32(IN_CLOEXEC))
        defer { close(watch) }
        let file = DirectoryLock.file(in: FilePath(home.path)).string
        try #require(inotify_add_watch(watch, file, UInt32(IN_OPEN)) >= 0)
        let program = try RunningProgram(command, environment: home.environment)
        // The event comes when the program first tries to get the lock.
        var entry = pollfd(fd: watch, events: Int16(POLLIN), revents: 0)
        #expect(poll(&entry, 1, 120_000) == 1)
        #expect(kill(program.child, SIGTERM) == 0)
        let before = MonotonicClock.now
        let status = try program.end().status
        #expect(status == -SIGTERM || status == 143)
        #expect(MonotonicClock.now - before < .seconds(3))
        _ = consume lock
    }
}
