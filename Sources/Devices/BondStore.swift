// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothLE
package import LinuxIO
package import SystemPackage
package import Texts

/// The file with the keys of paired devices: a record a line, each with its own checksum (X-8).
///
/// A record may be followed by the name that the device was paired under:
/// ```
/// name F0:F1:F2:F3:F4:F5 random "LINBLE-TEST"
/// ```
/// The file is its owner's alone (0600), and so is its directory (0700). It is written whole or not at all.
package struct BondStore: Sendable {
    /// The fault of a whole file, of which there is none: each line is a record of its own, or is skipped.
    package enum Fault: Error, Equatable, Sendable {}

    /// Why the bonds could not be read or kept; what was there before is there still.
    package enum Failure: Error, Equatable, Sendable {
        case file(KeptFile<Fault>.Failure)
        /// There is a bond with this device on this adapter, which must be forgotten first.
        case known(DeviceAddress)
        case full
    }

    package struct Contents: Equatable, Sendable {
        package var bonds: [Bond] = []
        /// The numbers of the lines that are no bond, or name one again, from 1 on: they are skipped.
        package var brokenLines: [Int] = []
        /// The broken lines that may be a bond's.
        package var damaged: [DamagedBond] = []
        package var names: [DeviceAddress: String] = [:]
        /// What others could read until now.
        package var tightened: [FilePath] = []

        package init() {}

        package func bond(with device: DeviceAddress, on adapter: BluetoothAddress) -> Bond? {
            bonds.first { $0.identityAddress == device && $0.localAddress == adapter }
        }
    }

    package static let mostBonds = 128
    private static let limit = 1 << 16
    /// The user that `setup` makes for the service.
    private static let service = "blewedge"
    private static let heading = "# blewedge-bonds"

    private let file: KeptFile<Fault>

    package var path: FilePath { file.path }

    /// The bonds kept in a file, which need not be there.
    package init(_ path: FilePath) { file = KeptFile(private: path, limit: Self.limit, service: Self.service) }

    /// Reads the bonds; without a file there are none.
    package func read() throws(Failure) -> Contents { try load().contents }

    /// The bonds, as far as they can be read, without a change to the file.
    package func peek() -> [Bond] {
        let bytes = (try? FileSystem.contents(of: path.string, limit: Self.limit)) ?? []
        return bytes.split(separator: UInt8(ascii: "\n")).compactMap {
            Bond(record: String(decoding: $0, as: UTF8.self))
        }
    }

    /// Adds a bond with the name that the device has advertised: both are on the disk when this returns.
    package func add(_ bond: Bond, name: String? = nil) throws(Failure) {
        try withLock { () throws(Failure) in
            let (lines, contents) = try load()
            // The bits of an address are one device's, whatever its type.
            let known = contents.bonds.first { known in
                known.identityAddress.address == bond.identityAddress.address && known.localAddress == bond.localAddress
            }
            if let known { throw .known(known.identityAddress) }
            guard contents.bonds.count < Self.mostBonds else { throw .full }
            var records = lines + [bond.record]
            if let name {
                records.removeAll { BondedName(record: $0)?.device == bond.identityAddress }
                records.append(BondedName(bond.identityAddress, name).record)
            }
            try write(records)
        }
    }

    /// Removes the bonds with the device of an address, whatever adapter they are of, and the broken lines that may be one;
    /// false where there was none.
    @discardableResult
    package func remove(_ address: BluetoothAddress) throws(Failure) -> Bool {
        // A state directory without such a record needs neither be there nor be writable.
        guard Self.kept(try load().lines, without: address) != nil else { return false }
        return try withLock { () throws(Failure) in
            guard let kept = Self.kept(try load().lines, without: address) else { return false }
            try write(kept)
            return true
        }
    }

    /// The lines but those of a device; nil where none is of it.
    private static func kept(_ lines: [String], without address: BluetoothAddress) -> [String]? {
        func isMeant(_ line: String, exactly: Bool) -> Bool {
            if let bond = Bond(record: line) { return bond.identityAddress.address == address }
            if let name = BondedName(record: line) { return name.device.address == address }
            let damaged = DamagedBond(line, number: 0)
            return exactly ? damaged.names(address) : damaged.mayBe(of: address)
        }
        // Where no record has the address, one whose address is damaged may be meant.
        let isFound = lines.contains { BondedName(record: $0) == nil && isMeant($0, exactly: true) }
        let kept = lines.filter { !isMeant($0, exactly: isFound) }
        return kept.count < lines.count ? kept : nil
    }

    /// Reads and writes anew while nobody else does: another adapter's pairing may end at the same time.
    private func withLock<Result>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        try file.withLock(refused: { .file($0) }, body)
    }

    /// The lines that are no heading, and the contents.
    private func load() throws(Failure) -> (lines: [String], contents: Contents) {
        var tightened: [FilePath] = []
        do {
            let bytes = try file.read(onTightened: { tightened.append($0) }, { $0 }) ?? []
            var (lines, contents) = Self.parse(bytes)
            contents.tightened = tightened
            return (lines, contents)
        } catch {
            throw .file(error)
        }
    }

    private static func parse(_ bytes: [UInt8]) -> (lines: [String], contents: Contents) {
        var contents = Contents()
        var lines: [String] = []
        let pieces = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, piece) in pieces.enumerated() {
            let line = String(decoding: piece, as: UTF8.self)
            guard !line.isEmpty, !line.hasPrefix("#") else { continue }
            lines.append(line)
            if let name = BondedName(record: line) {
                contents.names[name.device] = name.text
                continue
            }
            let bond = Bond(record: line)
            let isKnown = bond.map { contents.bond(with: $0.identityAddress, on: $0.localAddress) != nil } ?? false
            if let bond, !isKnown, contents.bonds.count < mostBonds {
                contents.bonds.append(bond)
            } else {
                contents.brokenLines.append(index + 1)
                if !isKnown { contents.damaged.append(DamagedBond(line, number: index + 1)) }
            }
        }
        return (lines, contents)
    }

    private func write(_ lines: [String]) throws(Failure) {
        let text = ([Self.heading] + lines).map { $0 + "\n" }.joined()
        do throws(KeptFile<Fault>.Failure) { try file.write(text) } catch { throw .file(error) }
    }
}

extension BondStore.Contents {
    /// What people are told of the file: what was skipped, and what others could read.
    package func notes(_ path: FilePath) -> [Message] {
        var notes = tightened.map { BondText.tightened.message("\($0)") }
        if !brokenLines.isEmpty {
            let lines = brokenLines.map { "\($0)" }.joined(separator: ", ")
            notes.append(BondText.brokenLines.message("\(path)", "\(brokenLines.count)", lines))
        }
        return notes
    }
}

/// The name that a device was paired under, as a line of the file of bonds.
package struct BondedName: Equatable, Sendable {
    private static let word = "name "

    package var device: DeviceAddress
    package var text: String

    package init(_ device: DeviceAddress, _ text: String) {
        self.device = device
        self.text = text
    }

    package var record: String { "\(Self.word)\(device.address) \(device.type) \(SelectedDevice.quoted(text))" }

    /// Reads such a line; nil for anything that `record` does not write.
    package init?(record: String) {
        guard record.hasPrefix(Self.word) else { return nil }
        let words = record.dropFirst(Self.word.count).split(separator: " ", maxSplits: 2)
        guard words.count == 3, let address = BluetoothAddress(words[0]),
            let type = AddressType.allCases.first(where: { "\($0)" == words[1] }),
            let text = SelectedDevice.unquoted(words[2])
        else { return nil }
        self.init(DeviceAddress(address, type), text)
        guard self.record == record else { return nil }
    }
}

/// A line of the file of bonds that cannot be read as one.
package struct DamagedBond: Equatable, Sendable {
    private static let length = 17

    package var number: Int
    /// The words that look like an address.
    private var addresses: [String]

    init(_ line: String, number: Int) {
        self.number = number
        addresses = line.split(separator: " ").map(String.init).filter { word in
            word.utf8.count == Self.length && word.utf8.count { $0 == UInt8(ascii: ":") } >= 4
        }
    }

    func names(_ address: BluetoothAddress) -> Bool { addresses.contains("\(address)") }

    /// True unless the line names another device: one letter of an address may be wrong, and a line without any address may
    /// be any device's.
    package func mayBe(of address: BluetoothAddress) -> Bool {
        let text = "\(address)".utf8
        return addresses.isEmpty || addresses.contains { word in zip(word.utf8, text).count { $0 != $1 } <= 1 }
    }
}
