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

@Suite("The keys of paired devices", .timeLimit(.minutes(10)))
struct BondStoreTests {
    private static let adapter = BluetoothAddress(rawValue: 0x00AA_0100_0042)

    private func device(_ number: Int) -> DeviceAddress {
        DeviceAddress(BluetoothAddress(rawValue: 0xF0F1_F2F3_F400 + UInt64(number)), .random)
    }

    private func bond(_ number: Int, authenticated: Bool = false) throws -> Bond {
        let value = (0..<16).map { UInt8(truncatingIfNeeded: number &+ $0 &+ 1) }
        let keys = [
            LongTermKey(value, isAuthenticated: authenticated, isSecureConnections: true, role: .central),
            LongTermKey(
                value,
                encryptedDiversifier: 0x1234,
                random: 0x0102_0304_0506_0708,
                isAuthenticated: authenticated,
                isSecureConnections: false,
                role: .peripheral
            ),
        ]
        let made = Bond(
            identityAddress: device(number),
            localAddress: Self.adapter,
            longTermKeys: keys.prefix(number % 2 + 1).compactMap(\.self),
            identityResolvingKey: number % 3 == 0 ? value : nil
        )
        return try #require(made)
    }

    private func mode(_ path: String) -> UInt32 {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
    }

    private func text(_ path: FilePath) throws -> String {
        let file = try #require(fopen(path.string, "r"))
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        return String(decoding: bytes[..<fread(&bytes, 1, bytes.count, file)], as: UTF8.self)
    }

    @Test("Pairings that end at the same time lose no bond")
    func together() async throws {
        let directory = try TestDirectory()
        let path = FilePath(directory("state")).appending("bonds")
        let bonds = try (0..<64).map { try bond($0) }
        await withTaskGroup { group in
            for part in 0..<8 {
                group.addTask { for bond in bonds[(8 * part)..<(8 * part + 8)] { try? BondStore(path).add(bond) } }
            }
        }
        #expect(Set(try BondStore(path).read().bonds) == Set(bonds))
    }

    @Test("A bond comes back as it was kept, and any letter changed makes it none")
    func records() throws {
        for number in 0..<12 {
            let bond = try bond(number, authenticated: number % 2 == 0)
            #expect(Bond(record: bond.record) == bond)
        }
        let record = try bond(3).record
        for position in record.indices {
            for other in ["0", "f", " ", "="] where String(record[position]) != other {
                var changed = record
                changed.replaceSubrange(position...position, with: other)
                #expect(Bond(record: changed) == nil)
            }
            #expect(Bond(record: String(record[..<position])) == nil)
        }
        #expect(Bond(record: record + " ") == nil)
    }

    @Test("The file is its owner's alone, and so is its directory; what others could read is tightened and said")
    func privacy() throws {
        let directory = try TestDirectory()
        let store = BondStore(FilePath(directory("state")).appending("bonds"))
        try store.add(bond(1))
        #expect(mode(directory("state")) == 0o700)
        #expect(mode(store.path.string) == 0o600)
        #expect(try store.read().tightened.isEmpty)
        #expect(chmod(directory("state"), 0o755) == 0 && chmod(store.path.string, 0o644) == 0)
        let contents = try store.read()
        #expect(contents.tightened == [FilePath(directory("state")), store.path])
        #expect(contents.notes(store.path).count == 2)
        #expect(mode(directory("state")) == 0o700 && mode(store.path.string) == 0o600)
        #expect(contents.bonds == [try bond(1)])
        // A directory that exists before the first key, and that all users can read.
        let later = BondStore(FilePath(directory("later")).appending("bonds"))
        #expect(mkdir(directory("later"), 0o755) == 0 && chmod(directory("later"), 0o755) == 0)
        #expect(try later.read().bonds.isEmpty)
        #expect(mode(directory("later")) == 0o755)
        try later.add(bond(1))
        #expect(mode(directory("later")) == 0o700)
    }

    @Test(
        "A FIFO in the place of the file, and a file with a second name, are refused and left as they are",
        .timeLimit(.minutes(10))
    )
    func irregular() throws {
        let directory = try TestDirectory()
        let store = BondStore(FilePath(directory("state")).appending("bonds"))
        try store.add(bond(1))
        try #require(link(store.path.string, directory("second")) == 0 && chmod(directory("second"), 0o644) == 0)
        #expect(throws: BondStore.Failure.file(.irregular(store.path))) { try store.read() }
        #expect(mode(directory("second")) == 0o644)
        try #require(unlink(directory("second")) == 0)
        #expect(try store.read().bonds == [try bond(1)])
        try #require(unlink(store.path.string) == 0 && mkfifo(store.path.string, 0o600) == 0)
        #expect(throws: BondStore.Failure.file(.irregular(store.path))) { try store.read() }
        #expect(throws: BondStore.Failure.file(.irregular(store.path))) { try store.add(bond(2)) }
        // The result is the same if there is a writer.
        let writer = open(store.path.string, O_RDWR | O_NONBLOCK)
        defer { close(writer) }
        #expect(throws: BondStore.Failure.file(.irregular(store.path))) { try store.read() }
        #expect(CommandFailure(BondStore.Failure.file(.irregular(store.path))).status == .permission)
    }

    @Test("Another user's directory, or a link in the place of the file, is refused")
    func foreign() throws {
        let directory = try TestDirectory()
        let store = BondStore(FilePath(directory("state")).appending("bonds"))
        try store.add(bond(1))
        let target = directory("elsewhere")
        #expect(rename(store.path.string, target) == 0 && symlink(target, store.path.string) == 0)
        #expect(throws: BondStore.Failure.file(.unreadable(store.path, .tooManySymbolicLinkLevels))) {
            try store.read()
        }
        #expect(unlink(store.path.string) == 0 && rename(target, store.path.string) == 0)
        #expect(CommandFailure(BondStore.Failure.file(.foreign(store.path))).status == .permission)
        try #require(geteuid() == 0, "only root can give a file away")
        #expect(chown(directory("state"), 65534, 65534) == 0)
        #expect(throws: BondStore.Failure.file(.foreign(store.path))) { try store.read() }
        #expect(throws: BondStore.Failure.file(.foreign(store.path))) { try store.add(bond(2)) }
        #expect(chown(directory("state"), 0, 0) == 0 && chown(store.path.string, 65534, 65534) == 0)
        #expect(throws: BondStore.Failure.file(.foreign(store.path))) { try store.read() }
    }

    @Test("One broken record among ten is skipped, counted and said, and stays in the file")
    func broken() throws {
        let directory = try TestDirectory()
        let store = BondStore(FilePath(directory.path).appending("bonds"))
        for number in 0..<10 { try store.add(bond(number)) }
        let lines = try text(store.path).split(separator: "\n").map(String.init)
        #expect(lines.count == 11)
        for damaged in 1...10 {
            var changed = lines
            changed[damaged] = changed[damaged].replacingLast()
            try directory.write(changed.map { $0 + "\n" }.joined(), to: "bonds")
            #expect(chmod(store.path.string, 0o600) == 0)
            let contents = try store.read()
            #expect(contents.bonds.count == 9)
            #expect(contents.brokenLines == [damaged + 1])
            let note = try #require(contents.notes(store.path).first)
            #expect(note.english.contains("skipped 1 damaged records (lines \(damaged + 1))"))
            try store.add(bond(20))
            #expect(try text(store.path).contains(changed[damaged]))
            #expect(try store.read().bonds.count == 10)
        }
    }

    @Test("T7: a bond is never overwritten; it is made anew only when it was forgotten")
    func immutable() throws {
        let directory = try TestDirectory()
        let store = BondStore(FilePath(directory.path).appending("bonds"))
        try store.add(bond(1))
        let before = try text(store.path)
        #expect(throws: BondStore.Failure.known(device(1))) { try store.add(bond(1, authenticated: true)) }
        #expect(try text(store.path) == before)
        #expect(CommandFailure(BondStore.Failure.known(device(1))).status == .usage)
        // Only the first of two records counts.
        try directory.write(before + (try bond(1, authenticated: true)).record + "\n", to: "bonds")
        #expect(try store.read().bonds == [try bond(1)])
        #expect(try store.read().brokenLines == [3])
        #expect(try store.remove(device(1).address))
        #expect(try !store.remove(device(1).address))
        try store.add(bond(1, authenticated: true))
        #expect(try store.read().bonds.first?.security.level == .authenticated)
    }

    @Test("A file that is too long is refused, and no more bonds are kept than there may be")
    func bounds() throws {
        let directory = try TestDirectory()
        let store = BondStore(FilePath(directory.path).appending("bonds"))
        let records = try (0..<BondStore.mostBonds).map { try bond($0).record + "\n" }
        try directory.write(records.joined(), to: "bonds")
        #expect(try store.read().bonds.count == BondStore.mostBonds)
        #expect(throws: BondStore.Failure.full) { try store.add(bond(BondStore.mostBonds)) }
        try directory.write(String(repeating: "#\n", count: 1 << 16), to: "bonds")
        #expect(throws: BondStore.Failure.file(.unreadable(store.path, .fileTooLarge))) { try store.read() }
    }
}

extension String {
    /// Returns the text with another digit at its end.
    fileprivate func replacingLast() -> String { dropLast() + (last == "0" ? "1" : "0") }
}
