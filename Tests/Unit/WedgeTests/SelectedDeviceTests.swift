// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import Configuration
import Control
import Daemon
import Devices
import Glibc
import LinuxIO
import SystemPackage
import TestSupport
import Testing
import Texts

@Suite("The choice of device")
struct SelectedDeviceTests {
    private static let device = DeviceAddress(BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F5), .random)
    private static let text = """
        address = F0:F1:F2:F3:F4:F5
        type = random
        name = "LINBLE-TEST"
        """

    /// Calls `body` with a temporary directory, which is deleted afterwards.
    private func inDirectory(_ body: (FilePath) throws -> Void) throws {
        let directory = try TestDirectory()
        defer { chmod(directory.path, 0o700) }
        try body(FilePath(directory.path))
    }

    private func names(_ directory: FilePath) -> [String] {
        guard let stream = opendir(directory.string) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    private func put(_ bytes: [UInt8], _ path: FilePath) throws {
        let file = try #require(fopen(path.string, "w"))
        defer { fclose(file) }
        #expect(fwrite(bytes, 1, bytes.count, file) == bytes.count)
    }

    @Test("A device without a name is named by its address once")
    func label() {
        for choice in [SelectedDevice(Self.device, name: nil), SelectedDevice(Self.device, name: "LINBLE-TEST")] {
            let failure = CommandFailure.chosenAlready(choice)
            for language in [Language.english, .japanese] {
                let text = failure.cause.text(language)
                #expect(
                    text.split(separator: "F0:F1:F2:F3:F4:F5", omittingEmptySubsequences: false).count == 2,
                    "\(text)"
                )
                #expect(text.contains("LINBLE-TEST") == (choice.name != nil))
            }
        }
    }

    @Test("D-4: address, type and name come back as they were stored, whatever a device calls itself")
    func roundTrip() throws {
        let names = [
            nil, "LINBLE-TEST", "LT01 BC000120", "", "読取機 ½", "a\"b\\c", "two\nlines\u{0}\u{1B}[2J", "\u{202E}gnp",
            "\\u{41}",
        ]
        for name in names {
            for device in [Self.device, DeviceAddress(Self.device.address, .public)] {
                let kept = SelectedDevice(device, name: name)
                #expect(try SelectedDevice(parsing: kept.text) == kept)
                #expect(
                    kept.text.unicodeScalars.allSatisfy { $0 == "\n" || $0.properties.generalCategory != .control }
                )
                #expect(kept.text.hasPrefix("{") && kept.text.hasSuffix("}\n"))
            }
        }
        #expect(try SelectedDevice(parsing: Self.text) == SelectedDevice(Self.device, name: "LINBLE-TEST"))
        for level in GATTLinkSecurity.Level.allCases {
            let kept = SelectedDevice(Self.device, name: "LINBLE-TEST", security: level)
            #expect(try SelectedDevice(parsing: kept.text) == kept)
            #expect(kept.text.contains(#""security":"\#(level)""#))
        }
        #expect(throws: SelectedDevice.Fault.self) { try SelectedDevice(parsing: Self.text + "\nsecurity = some") }
    }

    @Test(
        "A text that is no choice is refused with its line",
        arguments: [
            ("", 1), ("address = F0:F1:F2:F3:F4:F5", 1), ("type = random", 1),
            ("address = F0:F1:F2:F3:F4\ntype = random", 1), ("address = F0:F1:F2:F3:F4:F5\ntype = static", 2),
            ("# note\naddress F0:F1:F2:F3:F4:F5", 2), (text + "\nname = \"again\"", 4), (text + "\ncolour = red", 4),
            ("address = F0:F1:F2:F3:F4:F5\ntype = random\nname = plain", 3),
            ("address = F0:F1:F2:F3:F4:F5\ntype = random\nname = \"\\u{110000}\"", 3),
            ("address = F0:F1:F2:F3:F4:F5\ntype = random\nname = \"\\n\"", 3),
            ("address = F0:F1:F2:F3:F4:F5\ntype = random\nname = \"", 3), ("{", 1), ("{}", 1), ("{\"address\":", 1),
            (#"{"address":"F0:F1:F2:F3:F4:F5"}"#, 1), (#"{"type":"random","address":"F0:F1:F2:F3:F4"}"#, 1),
            (#"{"address":"F0:F1:F2:F3:F4:F5","type":1}"#, 1), (#"{"colour":"red"}"#, 1),
            ("{\"address\":\"F0:F1:F2:F3:F4:F5\",\n\"type\":}", 2),
            (#"{"address":"F0:F1:F2:F3:F4:F5","type":"random","type":"public"}"#, 1),
        ]
    )
    func garbled(text: String, line: Int) {
        let fault = #expect(throws: SelectedDevice.Fault.self) { try SelectedDevice(parsing: text) }
        #expect(fault?.line == line)
    }

    @Test("A file that was cut anywhere is a choice of the same device, or no choice; never of another")
    func cut() throws {
        let text = Array(SelectedDevice(Self.device, name: "LINBLE-TEST").text.utf8)
        for length in 0..<text.count {
            let part = String(decoding: text.prefix(length), as: UTF8.self)
            if let read = try? SelectedDevice(parsing: part) { #expect(read.device == Self.device) }
        }
    }

    @Test("Bytes of any kind are read or refused, and never trap")
    func random() {
        var generator = SeededGenerator(seed: 5)
        let alphabet = Array("address = type name \"\\u{}0F:\n#random".unicodeScalars)
        for _ in 0..<20_000 {
            var text = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 0...60, using: &generator) {
                text.append(alphabet[Int.random(in: 0..<alphabet.count, using: &generator)])
            }
            _ = try? SelectedDevice(parsing: String(text))
        }
    }

    @Test("A choice is kept, replaced and dropped; nothing else is left in the directory")
    func store() throws {
        try inDirectory { directory in
            let store = ChoiceStore(directory.appending("state/selection"))
            #expect(try store.read() == nil)
            try store.forget()
            let first = SelectedDevice(Self.device, name: "A")
            let second = SelectedDevice(DeviceAddress(BluetoothAddress(rawValue: 1), .public), name: nil)
            try store.write(first)
            #expect(try store.read() == first)
            try store.write(second)
            #expect(try store.read() == second)
            #expect(names(directory.appending("state")) == ["selection"])
            try store.forget()
            #expect(try store.read() == nil)
            rmdir(directory.appending("state").string)
        }
    }

    @Test("A garbled, a too long and an unreadable file are errors that name it, not a missing choice")
    func unreadable() throws {
        try inDirectory { directory in
            let store = ChoiceStore(directory.appending("selection"))
            try put(Array("address = nonsense\n".utf8), store.path)
            let garbled = #expect(throws: ChoiceStore.Failure.self) { try store.read() }
            #expect(garbled.map { CommandFailure($0).status } == .configuration)
            #expect(garbled.map { CommandFailure($0).cause.english.contains("selection") } == true)
            try put([0x61, 0xFF, 0xFE], store.path)
            #expect(throws: ChoiceStore.Failure.self) { try store.read() }
            try put([UInt8](repeating: 0x23, count: 5000), store.path)
            #expect(throws: ChoiceStore.Failure.unreadable(store.path, .fileTooLarge)) { try store.read() }
            unlink(store.path.string)
            mkdir(store.path.string, 0o700)
            #expect(throws: ChoiceStore.Failure.unreadable(store.path, .isDirectory)) { try store.read() }
            rmdir(store.path.string)
        }
    }

    @Test("A choice that cannot be written leaves the earlier one as it was, and says why")
    func unwritable() throws {
        // Simulates a full disk: since nothing can be renamed to /dev/full, a directory takes the place of the file.
        try inDirectory { directory in
            let store = ChoiceStore(directory.appending("selection"))
            mkdir(store.path.string, 0o700)
            #expect(throws: ChoiceStore.Failure.unwritable(store.path, .isDirectory)) {
                try store.write(SelectedDevice(Self.device, name: nil))
            }
            #expect(names(directory) == ["selection"])
            rmdir(store.path.string)
        }
        // File system on which no files can be created.
        let store = ChoiceStore("/proc/blewedge/selection")
        #expect(throws: ChoiceStore.Failure.self) { try store.write(SelectedDevice(Self.device, name: nil)) }
        #expect(CommandFailure(ChoiceStore.Failure.unwritable("/x/selection", .noSpace)).status == .inputOutput)
        #expect(
            CommandFailure(ChoiceStore.Failure.unwritable("/x/selection", .permissionDenied)).status == .permission
        )
    }
}
