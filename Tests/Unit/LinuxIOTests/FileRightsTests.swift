// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import LinuxIO

/// Owners and permissions of files; the users are those of the machine, and the tests run as root.
@Suite("Owners and permissions of files", .enabled(if: ProcessFacts.user == 0))
struct FileRightsTests {
    /// Rights of a path as text, such as `640 nobody`.
    private func rights(_ path: String) -> String {
        guard let (owner, mode) = FileSystem.ownerAndMode(of: path) else { return "none" }
        return String(mode, radix: 8) + (owner == 0 ? "" : owner == 65_534 ? " nobody" : " \(owner)")
    }

    @Test("A file is exposed if another user can write it or a directory above it; sticky directories are not")
    func exposure() throws {
        let directory = try TestDirectory()
        try directory.write("", to: "a/b/file")
        let path = FilePath(directory("a/b/file"))
        try FileSystem.makeLink(FilePath(directory("link")), to: path.string)
        let cases: [(change: [(String, UInt32, UInt32)], trusted: Set<UInt32>, exposed: String?, isForeign: Bool)] = [
            ([], [], nil, false),
            ([("a/b/file", 0, 0o646)], [], "a/b/file", false),
            ([("a/b/file", 0, 0o664)], [], nil, false),
            ([("a/b", 0, 0o757)], [], "a/b", false),
            ([("a/b", 0, 0o1777)], [], nil, false),
            ([("a/b/file", 0, 0o1646)], [], "a/b/file", false),
            ([("a", 65_534, 0o755)], [], "a", true),
            ([("a", 65_534, 0o755)], [65_534], nil, false),
            ([("a/b/file", 65_534, 0o644), ("a", 0, 0o777)], [], "a/b/file", true),
        ]
        for (changes, trusted, exposed, isForeign) in cases {
            for (name, owner, mode) in changes {
                try #require(chown(directory(name), owner, 0) == 0 && chmod(directory(name), mode) == 0)
            }
            for path in [path, FilePath(directory("link"))] {
                let found = FileSystem.exposure(of: path, trusted: trusted)
                let name = exposed == "a/b/file" ? path.lastComponent?.string == "link" ? "link" : "a/b/file" : exposed
                #expect(found?.path == name.map { directory($0) } && found?.isForeign ?? false == isForeign)
                if let found, let exposed {
                    let (owner, mode) = try #require(FileSystem.ownerAndMode(of: directory(exposed)))
                    #expect(found.owner == owner && found.mode == mode)
                }
            }
            for name in ["a", "a/b", "a/b/file"] {
                try #require(chown(directory(name), 0, 0) == 0 && chmod(directory(name), 0o755) == 0)
            }
        }
        #expect(FileSystem.exposure(of: FilePath(directory("none")), trusted: []) == nil)
    }

    @Test("A group is private if only its user is in it, as the main group and as a member")
    func privateGroup() throws {
        let directory = try TestDirectory()
        try directory.write(
            "a:x:1000:1000::/:\nb:x:1001:1001::/:\nc:x:1002:1003::/:\nd:x:1000:1004::/:\n",
            to: "passwd"
        )
        try directory.write("a:x:1000:\nb:x:1001:a\nc:x:1003:\nd:x:1004:a,d\ne:x:1005:a,d,b\n", to: "group")
        let files = AccountFiles(directory: directory.path)
        let groups: [UInt32] = [1000, 1001, 1003, 1004, 1005, 1006]
        #expect(groups.map { files.isPrivate(group: $0, of: 1000) } == [true, false, false, true, false, true])
        #expect(groups.map { files.isPrivate(group: $0, of: 1001) } == [false, false, false, false, false, true])
    }

    @Test(
        "Private contents are read from a plain file of the owner or, as root, the service; others' rights are removed"
    )
    func privateContents() throws {
        let directory = try TestDirectory()
        let path = FilePath(directory("file"))
        func read(_ limit: Int = 3, service: String = "nobody") throws -> [String] {
            let (bytes, isTightened) = try FileSystem.privateContents(of: path, limit: limit, service: service)
            return [String(decoding: bytes, as: UTF8.self), "\(isTightened)", rights(path.string)]
        }
        try directory.write("abc", to: "file")
        chmod(path.string, 0o644)
        #expect(try read() == ["abc", "true", "600"])
        #expect(try read() == ["abc", "false", "600"])
        #expect(throws: Errno.fileTooLarge) { try read(2) }
        chown(path.string, 65_534, 0)
        chmod(path.string, 0o601)
        #expect(throws: Errno.notPermitted) { try read(service: "root") }
        #expect(rights(path.string) == "601 nobody")
        #expect(try read() == ["abc", "true", "600 nobody"])
        link(path.string, directory("other"))
        #expect(throws: Errno.tooManyLinks) { try read() }
        unlink(path.string)
        symlink(directory("other"), path.string)
        #expect(throws: Errno.tooManySymbolicLinkLevels) { try read() }
        unlink(path.string)
        mkfifo(path.string, 0o600)
        #expect(throws: Errno.invalidArgument) { try read() }

        let folder = FilePath(directory("folder"))
        mkdir(folder.string, 0o755)
        #expect(try FileSystem.keepPrivate(directory: folder, service: "nobody"))
        #expect(try !FileSystem.keepPrivate(directory: folder, service: "nobody"))
        #expect(rights(folder.string) == "700")
        #expect(throws: Errno.notDirectory) {
            try FileSystem.keepPrivate(directory: FilePath(directory("other")), service: "nobody")
        }
    }

    @Test("Contents come with the rights of the file that was read, which must be a plain one")
    func contentsAndRights() throws {
        let directory = try TestDirectory()
        try directory.write("abc", to: "file")
        chmod(directory("file"), 0o604)
        chown(directory("file"), 65_534, 0)
        let found = try FileSystem.contentsAndRights(of: FilePath(directory("file")), limit: 3)
        #expect(found.bytes == Array("abc".utf8) && found.owner == 65_534 && found.mode == 0o604)
        #expect(throws: Errno.fileTooLarge) {
            try FileSystem.contentsAndRights(of: FilePath(directory("file")), limit: 2)
        }
        #expect(throws: Errno.invalidArgument) { try FileSystem.contentsAndRights(of: "/dev/null", limit: 2) }
    }

    @Test("Files are given to a user and to root; a service owns what root has put into its directory")
    func owners() throws {
        let directory = try TestDirectory()
        try directory.write("", to: "state/file")
        try FileSystem.give(FilePath(directory("state/file")), toUserNamed: "nobody")
        #expect(rights(directory("state/file")) == "644 nobody")
        try FileSystem.giveToRoot(FilePath(directory("state/file")))
        #expect(rights(directory("state/file")) == "600")
        #expect(throws: Errno.noSuchFileOrDirectory) {
            try FileSystem.give(FilePath(directory("state/file")), toUserNamed: "no such user")
        }
        let nobody = try #require(ServiceUser(named: "nobody"))
        #expect(ServiceUser(named: "no such user") == nil && nobody.number == 65_534 && nobody.name == "nobody")
        try nobody.own(directory: FilePath(directory("state")))
        #expect(rights(directory("state")) == "755 nobody" && rights(directory("state/file")) == "600 nobody")
        // The directory of another user is left alone, and a missing one is created.
        try directory.write("", to: "state/other")
        try nobody.own(directory: FilePath(directory("state")))
        #expect(rights(directory("state/other")) == "644")
        try nobody.own(directory: FilePath(directory("new/state")))
        #expect(rights(directory("new/state")) == "755 nobody" && rights(directory("new")) == "755")
        // A file in that directory is its owner's.
        try FileSystem.replace(FilePath(directory("state/made")), with: [], mode: 0o640)
        #expect(rights(directory("state/made")) == "640 nobody")
    }

    @Test("The files of a process are its owner's, whatever its mask was before")
    func process() async {
        await #expect(processExitsWith: .success) {
            umask(0o022)
            Process.keepOwnersPermissions()
            #expect(umask(0) == 0o022)
            umask(0o777)
            Process.keepOwnersPermissions()
            #expect(umask(0) == 0o077)
        }
    }

    #if DEBUG
        @Test("A file is replaced durably by default; an error leaves the file as it was, and nothing beside it")
        func durability() throws {
            let directory = try TestDirectory()
            let path = FilePath(directory("file"))
            let calls = Mutex<[String]>([])
            func replace(_ text: String, isDurable: Bool = true, failing: CallSite.Call? = nil) throws -> [String] {
                defer { CallScript.use(nil) }
                calls.withLock { $0 = [] }
                CallScript.use { site in
                    calls.withLock { $0.append(site.call.rawValue) }
                    return site.call == failing ? .error(.noSpace) : nil
                }
                try FileSystem.replace(path, with: Array(text.utf8), mode: 0o600, isDurable: isDurable)
                return calls.withLock { $0 }
            }
            #expect(try replace("a") == ["open", "open", "write", "fsync", "rename", "fsync"])
            #expect(try replace("b", isDurable: false) == ["open", "open", "write", "rename"])
            for call in [CallSite.Call.write, .fsync, .rename] {
                #expect(throws: Errno.noSpace) { try replace("c", failing: call) }
                #expect(FileSystem.line(of: path.string) == "b")
                #expect(FileSystem.names(in: directory.path, hidden: true) == [".", ".."])
            }
            #expect(throws: Errno.invalidArgument) { try FileSystem.replace("/", with: [], mode: 0o600) }
            try FileSystem.remove(path)
            #expect(!FileSystem.exists(path.string))
            try FileSystem.remove(path)
        }
    #endif

    @Test("A directory is made with those above it, of which only the last has the mode; a file in the way is an error")
    func directories() throws {
        let directory = try TestDirectory()
        try FileSystem.makeDirectory(FilePath(directory("a/b/c")), mode: 0o700)
        try FileSystem.makeDirectory(FilePath(directory("a/b/c")), mode: 0o755)
        #expect(["a", "a/b", "a/b/c"].map { rights(directory($0)) } == ["755", "755", "700"])
        try directory.write("", to: "a/.hidden")
        try directory.write("#!", to: "a/file")
        #expect(FileSystem.names(in: directory("a")) == ["b", "file"])
        #expect(FileSystem.names(in: directory("a"), hidden: true) == [".", "..", ".hidden"])
        #expect(FileSystem.names(in: directory("none")) == [])
        #expect(throws: Errno.fileExists) { try FileSystem.makeDirectory(FilePath(directory("a/file")), mode: 0o755) }
        #expect(FileSystem.isDirectory(directory("a")) && !FileSystem.isDirectory(directory("a/file")))
        #expect(!FileSystem.isExecutable(directory("a/file")))
        chmod(directory("a/file"), 0o100)
        #expect(FileSystem.isExecutable(directory("a/file")) && !FileSystem.exists(directory("a/none")))
        symlink("file", directory("a/link"))
        #expect(FileSystem.target(ofLink: directory("a/link")) == "file")
        #expect(FileSystem.target(ofLink: directory("a/file")) == nil)
        try directory.write("  first\nsecond\n", to: "text")
        #expect(FileSystem.line(of: directory("text")) == "first" && FileSystem.line(of: directory("none")) == nil)
        // The mark of a file changes with its contents, and with the file itself.
        let marks = try ["x", "xy", "xz"].map { text in
            try FileSystem.replace(FilePath(directory("text")), with: Array(text.utf8), mode: 0o600)
            return try #require(FileSystem.mark(of: directory("text")))
        }
        #expect(Set(marks.map(\.number)).count > 1 && marks[0] != marks[1] && marks.map(\.length) == [1, 2, 2])
        #expect(FileSystem.mark(of: directory("text")) == marks[2] && FileSystem.mark(of: directory("none")) == nil)
    }
}
