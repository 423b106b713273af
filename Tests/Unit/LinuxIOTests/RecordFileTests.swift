// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import LinuxIO
import SystemPackage
import TestSupport
import Testing

@Suite("A file of records")
struct RecordFileTests {
    private static let header = Array("header".utf8)

    /// Calls `body` with a path in a temporary directory, which is deleted afterwards.
    private func withPath(_ body: (String) throws -> Void) throws {
        let directory = try TestDirectory()
        try withExtendedLifetime(directory) { try body(directory("records")) }
    }

    private func contents(_ path: String) throws -> String {
        String(decoding: try FileSystem.contents(of: path, limit: 1 << 20), as: UTF8.self)
    }

    private func mode(_ path: String) -> mode_t {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
    }

    @Test("The file is its owner's alone, begins with the header, and is continued the next time")
    func madeAndContinued() throws {
        try withPath { path in
            var first = try RecordFile(path, header: Self.header, limit: 1000)
            #expect(mode(path) == 0o600)
            try first.append(Array("one".utf8))
            let isWaiting = first.isWaiting
            #expect(isWaiting)
            try first.flush()
            #expect(try contents(path) == "headerone")
            try #require(chmod(path, 0o644) == 0)
            var second = try RecordFile(path, header: Self.header, limit: 1000)
            #expect(mode(path) == 0o600)
            try second.append(Array("two".utf8))
            try second.flush()
            #expect(try contents(path) == "headeronetwo")
        }
    }

    @Test("Another file, a link and a device are left as they are")
    func others() throws {
        try withPath { path in
            try "something else".withCString { text in
                let file = try #require(fopen(path, "w"))
                fputs(text, file)
                fclose(file)
            }
            #expect(throws: Errno.fileExists) { _ = try RecordFile(path, header: Self.header, limit: 1000) }
            #expect(try contents(path) == "something else")
            try #require(symlink(path, path + ".link") == 0)
            #expect(throws: Errno.tooManySymbolicLinkLevels) {
                _ = try RecordFile(path + ".link", header: Self.header, limit: 1000)
            }
            #expect(throws: Errno.fileExists) { _ = try RecordFile("/dev/null", header: Self.header, limit: 1000) }
        }
    }

    @Test("T31: another user's file is left as it is, whatever it has")
    func ownedByAnother() throws {
        try withPath { path in
            _ = try RecordFile(path, header: Self.header, limit: 1000)
            // Only root can change the owner of a file.
            guard geteuid() == 0 else { return }
            try #require(chown(path, 12345, 12345) == 0 && chmod(path, 0o644) == 0)
            #expect(throws: Errno.notPermitted) { _ = try RecordFile(path, header: Self.header, limit: 1000) }
            #expect(mode(path) == 0o644)
        }
    }

    @Test("The limit is never passed, and what was taken before it is written")
    func limit() throws {
        try withPath { path in
            var file = try RecordFile(path, header: Self.header, limit: 10)
            try file.append(Array("1234".utf8))
            #expect(throws: Errno.fileTooLarge) { try file.append([0]) }
            try file.flush()
            #expect(try contents(path) == "header1234")
            var again = try RecordFile(path, header: Self.header, limit: 10)
            #expect(throws: Errno.fileTooLarge) { try again.append([0]) }
        }
    }
}
