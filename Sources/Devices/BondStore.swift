// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
package import BluetoothPackets
package import LinuxIO
package import SystemPackage
package import Texts

/// File with the keys of paired devices: one record per line, each with its own checksum (X-8).
///
/// A record may be followed by the name that the device was paired under:
/// ```
/// name F0:F1:F2:F3:F4:F5 random "LINBLE-TEST"
/// ```
/// Only its owner can access the file (0600) and its directory (0700). The file is replaced atomically.
package struct BondStore: Sendable {
    /// Error for the file as a whole; it never occurs, because each faulty line is skipped.
    package enum Fault: Error, Equatable, Sendable {}

    /// The cause of a failed read or change; in either case, the bonds are unchanged.
    package enum Failure: Error, Equatable, Sendable {
        case file(KeptFile<Fault>.Failure)
        /// A bond with this device on this adapter already exists, and must be removed first.
        case known(DeviceAddress)
        case full
    }

    package struct Contents: Equatable, Sendable {
        package var bonds: [Bond] = []
        /// Numbers of the skipped lines, starting at 1.
        ///
        /// These are lines that cannot be parsed, repeat a bond, or exceed the maximum number of bonds.
        package var brokenLines: [Int] = []
        /// Skipped lines that may have contained bonds.
        package var damaged: [DamagedBond] = []
        package var names: [DeviceAddress: String] = [:]
        /// Paths that other users could access before this read, which has restricted their permissions.
        package var tightened: [FilePath] = []

        package init() {}

        package func bond(with device: DeviceAddress, on adapter: BluetoothAddress) -> Bond? {
            bonds.first { $0.identityAddress == device && $0.localAddress == adapter }
        }
    }

    package static let mostBonds = 128
    private static let limit = 1 << 16
    /// Name of the user that `blewedge setup` creates for the service.
    private static let service = "blewedge"
    private static let heading = "# blewedge-bonds"

    private let file: KeptFile<Fault>

    package var path: FilePath { file.path }

    /// Creates a store for a file, which need not exist.
    package init(_ path: FilePath) { file = KeptFile(private: path, limit: Self.limit, service: Self.service) }

    /// Reads the bonds; if the file does not exist, there are none.
    package func read() throws(Failure) -> Contents { try load().contents }

    /// Returns the bonds that can be read, without changing the file or its permissions.
    package func peek() -> [Bond] {
        let bytes = (try? FileSystem.contents(of: path.string, limit: Self.limit)) ?? []
        return bytes.split(separator: UInt8(ascii: "\n")).compactMap {
            Bond(record: String(decoding: $0, as: UTF8.self))
        }
    }

    /// Adds a bond and the device's advertised name; both are on disk when the method returns.
    package func add(_ bond: Bond, name: String? = nil) throws(Failure) {
        try withLock { () throws(Failure) in
            let (lines, contents) = try load()
            // An address identifies a device, whatever its address type is.
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

    /// Removes all bonds with the device at this address, on any adapter; returns false if there were none.
    ///
    /// Damaged lines that may be such a bond are removed too.
    @discardableResult
    package func remove(_ address: BluetoothAddress) throws(Failure) -> Bool {
        // If the file has no record of the device, the state directory need not exist or be writable.
        guard Self.kept(try load().lines, without: address) != nil else { return false }
        return try withLock { () throws(Failure) in
            guard let kept = Self.kept(try load().lines, without: address) else { return false }
            try write(kept)
            return true
        }
    }

    /// Returns the lines that remain after a device is removed; nil if there are no lines for the device.
    private static func kept(_ lines: [String], without address: BluetoothAddress) -> [String]? {
        func isMeant(_ line: String, exactly: Bool) -> Bool {
            if let bond = Bond(record: line) { return bond.identityAddress.address == address }
            if let name = BondedName(record: line) { return name.device.address == address }
            let damaged = DamagedBond(line, number: 0)
            return exactly ? damaged.names(address) : damaged.mayBe(of: address)
        }
        // Damaged records that only might belong to this device are removed only if no record has its exact address.
        let isFound = lines.contains { BondedName(record: $0) == nil && isMeant($0, exactly: true) }
        let kept = lines.filter { !isMeant($0, exactly: isFound) }
        return kept.count < lines.count ? kept : nil
    }

    /// Runs `body` while holding the file's lock, because a pairing on another adapter may end at the same time.
    private func withLock<Result>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        try file.withLock(refused: { .file($0) }, body)
    }

    /// Reads the lines of the file, except comments, and parses their contents.
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
    /// Returns messages for the user about skipped lines, and about permissions that were restricted.
    package func notes(_ path: FilePath) -> [Message] {
        var notes = tightened.map { BondText.tightened.message("\($0)") }
        if !brokenLines.isEmpty {
            let lines = brokenLines.map { "\($0)" }.joined(separator: ", ")
            notes.append(BondText.brokenLines.message("\(path)", "\(brokenLines.count)", lines))
        }
        return notes
    }
}

/// Name under which a device was paired; it is a line in the bond file.
package struct BondedName: Equatable, Sendable {
    private static let word = "name "

    package var device: DeviceAddress
    package var text: String

    package init(_ device: DeviceAddress, _ text: String) {
        self.device = device
        self.text = text
    }

    package var record: String { "\(Self.word)\(device.address) \(device.type) \(SelectedDevice.quoted(text))" }

    /// Parses a name record; returns nil for any text that `record` does not produce.
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

/// A line of the bond file that cannot be parsed.
package struct DamagedBond: Equatable, Sendable {
    private static let length = 17

    package var number: Int
    /// The words in the line that look like addresses.
    private var addresses: [String]

    init(_ line: String, number: Int) {
        self.number = number
        addresses = line.split(separator: " ").map(String.init).filter { word in
            word.utf8.count == Self.length && word.utf8.count { $0 == UInt8(ascii: ":") } >= 4
        }
    }

    func names(_ address: BluetoothAddress) -> Bool { addresses.contains("\(address)") }

    /// Returns true if the line may belong to the device with this address.
    ///
    /// One character of the line's address may be wrong; a line without an address may belong to any device.
    package func mayBe(of address: BluetoothAddress) -> Bool {
        let text = "\(address)".utf8
        return addresses.isEmpty || addresses.contains { word in zip(word.utf8, text).count { $0 != $1 } <= 1 }
    }
}
