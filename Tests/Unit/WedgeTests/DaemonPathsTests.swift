// SPDX-License-Identifier: GPL-2.0-or-later

import Control
import Devices
import Glibc
import SystemPackage
import TestSupport
import Testing
import Texts

@Suite("Directories of a daemon")
struct DaemonPathsTests {
    private func paths(user: UInt32 = 1000, _ environment: [String: String]) -> DaemonPaths? {
        DaemonPaths(user: user) { environment[$0] }
    }

    @Test(
        "A state directory below one that others may write, or that is theirs, is refused; below a sticky one it is not"
    )
    func above() throws {
        let directory = try TestDirectory()
        let own = geteuid()
        try directory.write("", to: "above/state/mark")
        let paths = DaemonPaths(
            configuration: FilePath(directory("etc")),
            state: FilePath(directory("above/state")),
            runtime: FilePath(directory("run"))
        )
        try #require(chmod(directory("above/state"), 0o755) == 0)
        for (mode, isRefused) in [(0o755, false), (0o757, true), (0o777, true), (0o1777, false)] as [(mode_t, Bool)] {
            try #require(chmod(directory("above"), mode) == 0)
            let failure = failure { () throws(DaemonPaths.Refusal) in try paths.checkState(user: own) }
            #expect((failure?.status == .permission) == isRefused, "\(String(mode, radix: 8))")
            #expect(!isRefused || failure?.cause.english.contains("\(directory("above")),") == true)
        }
        // A link in a directory that anybody can write to.
        try #require(symlink(directory("above/state"), directory("link")) == 0 && chmod(directory.path, 0o777) == 0)
        let linked = DaemonPaths(
            configuration: paths.configuration,
            state: FilePath(directory("link")),
            runtime: "/run"
        )
        #expect(failure { () throws(DaemonPaths.Refusal) in try linked.checkState(user: own) }?.status == .permission)
        try #require(chmod(directory.path, 0o700) == 0 && chmod(directory("above"), 0o755) == 0)
        guard own == 0 else { return }
        try #require(chown(directory("above"), 12345, 12345) == 0)
        #expect(failure { () throws(DaemonPaths.Refusal) in try paths.checkState(user: 0, serviceUser: 7) } != nil)
        #expect(failure { () throws(DaemonPaths.Refusal) in try paths.checkState(user: 0, serviceUser: 12345) } == nil)
    }

    @Test("A file that says what is typed or run is refused where others may write to it, or to a directory above it")
    func files() throws {
        let directory = try TestDirectory()
        try directory.write("", to: "above/file")
        let file = FilePath(directory("above/file"))
        func status(_ user: UInt32 = geteuid(), invoker: UInt32? = nil) -> Texts.ExitStatus? {
            failure { () throws(DaemonPaths.Refusal) in try DaemonPaths.check(file, user: user, invoker: invoker) }?
                .status
        }
        #expect(status() == nil)
        #expect(failure { () throws(DaemonPaths.Refusal) in try DaemonPaths.check("/nonexistent/file") } == nil)
        for (path, mode, isRefused) in [
            ("above/file", 0o666, true), ("above/file", 0o606, true), ("above/file", 0o644, false),
            ("above", 0o777, true), ("above", 0o1777, false), ("above", 0o755, false),
        ] as [(String, mode_t, Bool)] {
            try #require(chmod(directory(path), mode) == 0)
            #expect((status() == .permission) == isRefused, "\(path) \(String(mode, radix: 8))")
        }
        guard geteuid() == 0 else { return }
        try #require(chown(directory("above"), 12345, 12345) == 0 && chown(file.string, 12345, 12345) == 0)
        #expect(status(0) == .permission && status(4242) == .permission)
        // The directory is accepted for its owner, and for root if the owner used sudo.
        #expect(status(12345) == nil && status(0, invoker: 12345) == nil && status(4242, invoker: 12345) == .permission)
    }

    private func failure(_ body: () throws(DaemonPaths.Refusal) -> Void) -> CommandFailure? {
        do throws(DaemonPaths.Refusal) {
            try body()
            return nil
        } catch {
            return error.failure
        }
    }

    @Test("T31: a state directory that others may write is refused with 77; one's own, root's, the service's is not")
    func state() throws {
        let directory = try TestDirectory()
        let paths = DaemonPaths(configuration: "/c", state: FilePath(directory("state")), runtime: "/r")
        let own = geteuid()
        #expect(throws: Never.self) { try paths.checkState() }
        try #require(mkdir(directory("state"), 0o755) == 0)
        for mode in [0o700, 0o755] as [mode_t] {
            try #require(chmod(directory("state"), mode) == 0)
            #expect(throws: Never.self) { try paths.checkState(user: own) }
        }
        for mode in [0o775, 0o757, 0o777, 0o1777] as [mode_t] {
            try #require(chmod(directory("state"), mode) == 0)
            let failure = #expect(throws: DaemonPaths.Refusal.self) { try paths.checkState(user: own) }?.failure
            #expect(failure?.status == .permission)
            #expect(failure?.cause.english.contains("\(paths.state)") == true)
            #expect(failure?.cause.english.contains(String(mode, radix: 8)) == true)
        }
        // Only root can change the owner of a directory.
        guard own == 0 else { return }
        try #require(chmod(directory("state"), 0o755) == 0 && chown(directory("state"), 12345, 12345) == 0)
        for user in [0, 4242] as [UInt32] {
            let failure = #expect(throws: DaemonPaths.Refusal.self) {
                try paths.checkState(user: user, serviceUser: 7)
            }?.failure
            #expect(failure?.status == .permission)
            #expect(failure?.cause.english.contains("12345") == true)
        }
        #expect(throws: Never.self) { try paths.checkState(user: 12345, serviceUser: 7) }
        #expect(throws: Never.self) { try paths.checkState(user: 0, serviceUser: 12345) }
        try #require(chown(directory("state"), 0, 0) == 0)
        #expect(throws: Never.self) { try paths.checkState(user: 4242, serviceUser: 7) }
    }

    @Test("D-8: root's directories are the system's, whatever the XDG variables")
    func system() throws {
        let found = try #require(paths(user: 0, ["HOME": "/root", "XDG_STATE_HOME": "/elsewhere"]))
        #expect(found == .system)
        #expect(found.configurationFile == "/etc/blewedge/blewedge.toml")
        #expect(found.choice == "/var/lib/blewedge/selection")
        #expect(found.controlSocket == "/run/blewedge/control")
        #expect(found.lock("hci0") == "/run/blewedge/hci0.lock")
        #expect(found.lock("user:hci0") == "/run/blewedge/hci0.lock")
        #expect(found.lock("h4:unix:/tmp/../a") == "/run/blewedge/h4-unix--tmp----a.lock")
        #expect(found.lock("h4:unix:/ü１z9") == "/run/blewedge/h4-unix----z9.lock")
        #expect(found.withSystem == [.system])
    }

    @Test("D-8: a user's are the XDG directories, or their defaults below the home")
    func user() throws {
        let given = [
            "HOME": "/home/a", "XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "/s", "XDG_RUNTIME_DIR": "/run/user/1000",
        ]
        #expect(
            paths(given)
                == DaemonPaths(configuration: "/c/blewedge", state: "/s/blewedge", runtime: "/run/user/1000/blewedge")
        )
        let plain = try #require(paths(["HOME": "/home/a"]))
        #expect(
            plain
                == DaemonPaths(
                    configuration: "/home/a/.config/blewedge",
                    state: "/home/a/.local/state/blewedge",
                    runtime: "/home/a/.local/state/blewedge/run"
                )
        )
        #expect(plain.withSystem == [plain, .system])
    }

    @Test("D-8: a command asks its own daemon, then the system's; with a runtime directory of its own no other")
    func reachable() throws {
        func places(_ environment: [String: String]) throws -> [DaemonPaths] {
            try #require(DaemonPaths.reachable(user: 0) { environment[$0] })
        }
        #expect(try places([:]) == [.system])
        #expect(try places(["STATE_DIRECTORY": "/s"]).map(\.runtime) == ["/run/blewedge", "/run/blewedge"])
        let apart = try places(["RUNTIME_DIRECTORY": "/run/other"])
        #expect(apart.map(\.controlSocket) == ["/run/other/control"])
    }

    @Test("D-8: a path that is not absolute is ignored, and without a home there is none")
    func unusable() {
        #expect(paths(["HOME": "/home/a", "XDG_STATE_HOME": "state"])?.state == "/home/a/.local/state/blewedge")
        #expect(paths([:]) == nil)
        #expect(paths(["HOME": "home"]) == nil)
    }

    @Test("D-8: what systemd gives a service wins, for root and for a user without a home; of several the first")
    func service() {
        let given = [
            "CONFIGURATION_DIRECTORY": "/etc/b", "STATE_DIRECTORY": "/var/lib/private/b:/x",
            "RUNTIME_DIRECTORY": "/run/b",
        ]
        let expected = DaemonPaths(configuration: "/etc/b", state: "/var/lib/private/b", runtime: "/run/b")
        #expect(paths(user: 0, given) == expected)
        #expect(paths(user: 990, given) == expected)
        #expect(paths(user: 1000, given.merging(["HOME": "/home/a"]) { old, _ in old }) == expected)
    }
}
