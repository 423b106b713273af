// SPDX-License-Identifier: GPL-2.0-or-later

/// File of regions and key codes that the beacon operator provides: one entry per line.
///
///     # static: fixed identities; dynamic: changing numbers; key: key code of a static beacon
///     static   E2C56DB5-DFFB-48D2-B060-D0F5A71096E0        Badges of the first floor
///     dynamic  0A1B2C3D-DFFB-48D2-B060-D0F5A71096E0        One-time beacons
///     static   eddystone:00112233445566778899              Gates
///     key      E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1/2    A17C
///
/// Empty lines and lines that begin with `#` are ignored. Up to 100 faults are reported, each with its line number.
package struct RegionFile: Equatable, Sendable {
    /// A region with its display name.
    package struct Entry: Equatable, Sendable {
        package var region: BeaconRegion
        /// Display name; empty if there is none.
        package var name: String

        package init(_ region: BeaconRegion, name: String = "") {
            self.region = region
            self.name = name
        }
    }

    package struct Fault: Error, Equatable, Sendable, CustomStringConvertible {
        /// Line number, starting at 1.
        package var line: Int
        package var reason: String

        package var description: String { "line \(line): \(reason)" }
    }

    package struct Faults: Error, Equatable, Sendable {
        /// The faults, at most 100, in the order of their lines.
        package var list: [Fault]
    }

    /// Maximum size of the file, in bytes.
    package static let mostBytes = 4 << 20
    /// Maximum number of regions; also the maximum number of key codes.
    package static let mostEntries = 20_000
    /// Maximum length of a name or a key code, in characters.
    package static let longestName = 64
    private static let mostFaults = 100

    /// Regions of beacons with fixed identities.
    package private(set) var staticRegions: [Entry] = []
    /// Regions of beacons with changing numbers.
    package private(set) var dynamicRegions: [Entry] = []
    /// Key codes of individual beacons in the file (D-25).
    package private(set) var keyCodes: [BeaconIdentity: String] = [:]

    package init() {}

    package init(_ text: String) throws(Faults) {
        var faults: [Fault] = []
        guard text.utf8.count <= Self.mostBytes else {
            throw Faults(list: [Fault(line: 1, reason: "the file is longer than \(Self.mostBytes) bytes")])
        }
        var seen: Set<BeaconRegion> = []
        var codes: [String: BeaconIdentity] = [:]
        let lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
        for (index, line) in lines.enumerated() where faults.count < Self.mostFaults {
            do throws(LineFault) {
                try take(line, &seen, &codes)
            } catch {
                faults.append(Fault(line: index + 1, reason: error.reason))
            }
        }
        if !faults.isEmpty { throw Faults(list: faults) }
    }

    private struct LineFault: Error {
        var reason: String

        init(_ reason: String) {
            self.reason = reason
        }
    }

    private mutating func take(
        _ line: Substring,
        _ seen: inout Set<BeaconRegion>,
        _ codes: inout [String: BeaconIdentity]
    ) throws(LineFault) {
        let words = line.split(maxSplits: 2) { $0 == " " || $0 == "\t" }
        guard let kind = words.first, !kind.hasPrefix("#") else { return }
        guard words.count > 1 else { throw LineFault("\(kind.debugDescription) wants a region behind it") }
        guard let region = BeaconRegion(String(words[1])) else {
            throw LineFault(
                "\(words[1].debugDescription) is no region: UUID, UUID/MAJOR, UUID/MAJOR/MINOR, eddystone:NAMESPACE or eddystone:NAMESPACE/INSTANCE"
            )
        }
        let rest = words.count > 2 ? Self.trimmed(words[2]) : ""
        guard rest.count <= Self.longestName else {
            throw LineFault("more than \(Self.longestName) characters behind the region")
        }
        guard rest.unicodeScalars.allSatisfy({ !$0.properties.isDefaultIgnorableCodePoint && $0.value >= 0x20 }) else {
            throw LineFault("a character that cannot be shown")
        }
        switch kind {
        case "static", "dynamic":
            guard seen.insert(region).inserted else { throw LineFault("\(region) is there already") }
            guard seen.count <= Self.mostEntries else { throw LineFault("more than \(Self.mostEntries) regions") }
            if kind == "static" {
                staticRegions.append(Entry(region, name: rest))
            } else {
                dynamicRegions.append(Entry(region, name: rest))
            }
        case "key":
            guard let identity = BeaconIdentity(region.description) else {
                throw LineFault("a key code belongs to one beacon: UUID/MAJOR/MINOR or eddystone:NAMESPACE/INSTANCE")
            }
            guard KeyCodeText.isSound(rest) else {
                throw LineFault("a key code of 1 to \(Self.longestName) letters and digits belongs behind the beacon")
            }
            guard keyCodes[identity] == nil else { throw LineFault("\(identity) has a key code already") }
            guard codes[rest] == nil else { throw LineFault("the key code \(rest) is another beacon's already") }
            guard keyCodes.count < Self.mostEntries else { throw LineFault("more than \(Self.mostEntries) key codes") }
            keyCodes[identity] = rest
            codes[rest] = identity
        default: throw LineFault("\(kind.debugDescription) is none of static, dynamic, key")
        }
    }

    private static func trimmed(_ text: Substring) -> String {
        let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        var text = text.drop(while: isSpace)
        while let last = text.last, isSpace(last) { text.removeLast() }
        return String(text)
    }
}

/// Syntax of key codes, which is limited to characters that every table can type.
enum KeyCodeText {
    /// Returns true for 1 to 64 ASCII letters and digits.
    static func isSound(_ text: String) -> Bool {
        (1...RegionFile.longestName).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"):
                    true
                default: false
                }
            }
    }
}
