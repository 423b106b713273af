// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import LinuxIO
import SystemPackage
import TestSupport
import Testing

@Suite("Files")
struct FileSystemTests {
    @Test("A file is read whole up to the limit, and refused beyond it")
    func limit() throws {
        let directory = try TestDirectory()
        let text = String(repeating: "0123456789", count: 1000)
        try directory.write(text, to: "file")
        #expect(try FileSystem.contents(of: directory("file"), limit: 10_000) == Array(text.utf8))
        #expect(throws: Errno.fileTooLarge) {
            try FileSystem.contents(of: directory("file"), limit: 9_999)
        }
        #expect(throws: Errno.noSuchFileOrDirectory) {
            try FileSystem.contents(of: directory("none"), limit: 1)
        }
    }

    @Test("A text is read without the byte order mark before it, which does not count against the limit")
    func byteOrderMark() throws {
        let directory = try TestDirectory()
        for (written, text) in [
            ("\u{FEFF}abc", "abc"), ("abc", "abc"), ("a\u{FEFF}", "a\u{FEFF}"), ("\u{FEFF}", ""), ("", ""),
        ] {
            try directory.write(written, to: "file")
            let count = text.utf8.count
            #expect(try FileSystem.textContents(of: directory("file"), limit: count) == Array(text.utf8))
            guard count > 0 else { continue }
            #expect(throws: Errno.fileTooLarge) { try FileSystem.textContents(of: directory("file"), limit: count - 1) }
        }
    }

    @Test("A file that is replaced has the mode that was asked for, whatever the mask of the process")
    func replacedMode() throws {
        let directory = try TestDirectory()
        var status = stat()
        // Umasks that remove the write permission of others, and usually that of the group.
        for mode: UInt32 in [0o666, 0o600] {
            try FileSystem.replace(FilePath(directory("file")), with: [0x61], mode: mode)
            #expect(stat(directory("file"), &status) == 0 && status.st_mode & 0o777 == mode)
        }
    }

    @Test("A link is made with the folder that it lies in; the same one again is none, another one is refused")
    func links() throws {
        let directory = try TestDirectory()
        let path = FilePath(directory("a/link"))
        for _ in 1...2 { try FileSystem.makeLink(path, to: "there") }
        #expect(FileSystem.target(ofLink: path.string) == "there")
        #expect(throws: Errno.fileExists) { try FileSystem.makeLink(path, to: "elsewhere") }
        #expect(FileSystem.target(ofLink: path.string) == "there")
    }

    @Test("A folder goes with its files, hidden ones too, but not with folders; what links in it lead to stays")
    func removedDirectory() throws {
        let directory = try TestDirectory()
        for name in ["kept", "gone/file", "gone/.hidden", "full/folder/file"] { try directory.write("", to: name) }
        try FileSystem.makeLink(FilePath(directory("gone/link")), to: directory("kept"))
        for _ in 1...2 { try FileSystem.removeDirectory(FilePath(directory("gone"))) }
        #expect(!FileSystem.exists(directory("gone")))
        #expect(FileSystem.exists(directory("kept")))
        #expect(throws: Errno.self) { try FileSystem.removeDirectory(FilePath(directory("full"))) }
        #expect(FileSystem.exists(directory("full/folder/file")))
    }

    @Test("LK-9: soft and hard blocks of an adapter are distinguished")
    func radioSwitches() throws {
        let directory = try TestDirectory()
        try directory.write("1\n", to: "class/bluetooth/hci0/rfkill3/soft")
        try directory.write("0\n", to: "class/bluetooth/hci0/rfkill3/hard")
        let blocked = try #require(RFKill(controller: 0, sysfs: directory.path))
        #expect(blocked.isSoftBlocked)
        #expect(!blocked.isHardBlocked)
        try directory.write("0\n", to: "class/bluetooth/hci0/rfkill3/soft")
        try directory.write("1\n", to: "class/bluetooth/hci0/rfkill3/hard")
        let switched = try #require(RFKill(controller: 0, sysfs: directory.path))
        #expect(!switched.isSoftBlocked)
        #expect(switched.isHardBlocked)
        #expect(RFKill(controller: 1, sysfs: directory.path) == nil)
    }
}
