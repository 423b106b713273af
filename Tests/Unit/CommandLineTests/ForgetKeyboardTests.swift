// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import LinuxIO
import SystemPackage
import TestSupport
import Testing

@Suite("`forget` and the services of a keyboard", .timeLimit(.minutes(10)))
struct ForgetKeyboardTests {
    private static let keyboard = "C0:FF:EE:01:00:04"

    /// Returns a line of hid-devices.
    private static func record(_ device: String) -> String {
        RecordChecksum.appended(to: "hid C0:FF:EE:00:00:02 \(device) public 1 service=0010,002A,0111,00,03")
    }

    @Test("The services of a forgotten keyboard are deleted with its keys, and those of other keyboards are kept")
    func services() throws {
        let home = try TestDirectory()
        let pair = ["pair", "HID Scanner", "--adapter", "memory:hid"]
        let paired = try run(pair, environment: home.environment)
        #expect(paired.status == 0, "\(paired)")
        let file = FilePath(home("hid-devices"))
        let heading = "# blewedge-hid-devices"
        let other = Self.record("C0:FF:EE:01:00:05")
        let text = [heading, Self.record(Self.keyboard), other].map { $0 + "\n" }.joined()
        try FileSystem.replace(file, with: Array(text.utf8), mode: 0o600)
        let forgotten = try run(["forget", Self.keyboard], environment: home.environment)
        #expect(forgotten.status == 0, "\(forgotten)")
        let rest = try FileSystem.textContents(of: file.string, limit: 4096)
        #expect(String(decoding: rest, as: UTF8.self) == "\(heading)\n\(other)\n")
    }

    @Test("If the file of services cannot be read, the failure names it")
    func unreadable() throws {
        let home = try TestDirectory()
        let file = FilePath(home("hid-devices"))
        try FileSystem.replace(file, with: [UInt8](repeating: 0x23, count: 2 << 20), mode: 0o600)
        let outcome = try run(["forget", Self.keyboard], environment: home.environment)
        #expect(outcome.status == 74, "\(outcome)")
        #expect(outcome.error.contains("cannot read the services of keyboards in \(file)"), "\(outcome)")
    }
}
