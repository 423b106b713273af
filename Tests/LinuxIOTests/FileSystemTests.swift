// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import LinuxIO
import SystemPackage
import Testing

/// A directory of one test, removed at its end.
private struct TemporaryDirectory: ~Copyable {
    let path: String

    init() throws {
        var template = Array("/tmp/blewedge-test-XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Writes a file below the directory, making the folders in between.
    func write(_ text: String, to name: String) throws {
        var folder = path
        for part in name.split(separator: "/").dropLast() {
            folder += "/" + part
            _ = mkdir(folder, 0o755)
        }
        let file = open(path + "/" + name, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        try #require(file >= 0)
        defer { close(file) }
        let bytes = Array(text.utf8)
        try #require(Glibc.write(file, bytes, bytes.count) == bytes.count)
    }

    deinit { removeTree(path) }
}

/// Removes a file, or a folder with all that is in it; links are removed, not followed.
private func removeTree(_ path: String) {
    guard remove(path) != 0 else { return }
    for name in FileSystem.names(in: path) { removeTree(path + "/" + name) }
    _ = remove(path)
}

@Suite("Files")
struct FileSystemTests {
    @Test("A file is read whole up to the limit, and refused beyond it")
    func limit() throws {
        let directory = try TemporaryDirectory()
        let text = String(repeating: "0123456789", count: 1000)
        try directory.write(text, to: "file")
        #expect(try FileSystem.contents(of: directory.path + "/file", limit: 10_000) == Array(text.utf8))
        #expect(throws: Errno.fileTooLarge) {
            try FileSystem.contents(of: directory.path + "/file", limit: 9_999)
        }
        #expect(throws: Errno.noSuchFileOrDirectory) {
            try FileSystem.contents(of: directory.path + "/none", limit: 1)
        }
    }

    @Test("LK-9: soft and hard blocks of an adapter are told apart")
    func radioSwitches() throws {
        let directory = try TemporaryDirectory()
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
