// SPDX-License-Identifier: GPL-2.0-or-later

package import Texts

/// A set of beacons, as specified by a server or on the command line (D-22).
package enum ServerRegion: Hashable, Sendable, CustomStringConvertible {
    /// A UUID without numbers, with a major number, or with a major and a minor number.
    case uuid(ServerUUID, major: UInt16?, minor: UInt16?)
    /// An Eddystone namespace of 20 hexadecimal digits, optionally with an instance of 12 digits, in upper case.
    case namespace(String, instance: String?)

    private static let eddystone = "eddystone:"

    /// Parses `UUID[/MAJOR[/MINOR]]` or `eddystone:NAMESPACE[/INSTANCE]`, ignoring case; fails for any other text.
    package init?(_ text: String) {
        let isEddystone = text.lowercased().hasPrefix(Self.eddystone)
        let parts = text.dropFirst(isEddystone ? Self.eddystone.count : 0)
            .split(separator: "/", omittingEmptySubsequences: false)
        guard let first = parts.first, parts.count <= 3 else { return nil }
        if !isEddystone, let uuid = ServerUUID(String(first)) {
            let numbers = parts.dropFirst().map { Self.number($0) }
            guard !numbers.contains(nil) else { return nil }
            self = .uuid(uuid, major: numbers.first ?? nil, minor: numbers.dropFirst().first ?? nil)
        } else if isEddystone, let namespace = Self.digits(first, 20), parts.count <= 2 {
            let instance = parts.dropFirst().first.map { Self.digits($0, 12) }
            if case .some(.none) = instance { return nil }
            self = .namespace(namespace, instance: instance ?? nil)
        } else {
            return nil
        }
    }

    package var description: String {
        switch self {
        case .uuid(let uuid, let major, let minor):
            ([uuid.description] + [major, minor].compactMap { $0.map { "\($0)" } }).joined(separator: "/")
        case .namespace(let namespace, let instance):
            Self.eddystone + ([namespace] + [instance].compactMap { $0 }).joined(separator: "/")
        }
    }

    var members: JSONObject {
        var object = JSONObject()
        switch self {
        case .uuid(let uuid, let major, let minor):
            object.add("uuid", uuid.description)
            object.add("major", major)
            object.add("minor", minor)
        case .namespace(let namespace, let instance):
            object.add("namespace", namespace)
            object.add("instance", instance)
        }
        return object
    }

    init(_ object: AnswerMember) throws(ServerAnswerFault) {
        if object["namespace"].isThere {
            let namespace = try Self.digits(object["namespace"], 20)
            let instance = try object["instance"].ifThere.map { (member) throws(ServerAnswerFault) in
                try Self.digits(member, 12)
            }
            self = .namespace(namespace, instance: instance)
            return
        }
        let uuid = try ServerUUID(object["uuid"])
        let major = try object["major"].ifThere.map { (member) throws(ServerAnswerFault) in
            try UInt16(member.integer(0...0xFFFF))
        }
        let minor = try object["minor"].ifThere.map { (member) throws(ServerAnswerFault) in
            try UInt16(member.integer(0...0xFFFF))
        }
        guard major != nil || minor == nil else { throw object["major"].fault("is missing") }
        self = .uuid(uuid, major: major, minor: minor)
    }

    private static func number(_ text: Substring) -> UInt16? {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? UInt16(text) : nil
    }

    private static func digits(_ text: Substring, _ count: Int) -> String? {
        text.utf8.count == count && text.utf8.allSatisfy(ServerUUID.isDigit) ? text.uppercased() : nil
    }

    static func digits(_ member: AnswerMember, _ count: Int) throws(ServerAnswerFault) -> String {
        guard let text = member.value?.string, let digits = digits(text[...], count) else {
            throw member.fault("has not \(count) hexadecimal digits")
        }
        return digits
    }
}

/// A 128-bit UUID, written as 36 characters in upper case.
package struct ServerUUID: Hashable, Sendable, CustomStringConvertible {
    package let description: String

    /// Parses a UUID of 36 characters, ignoring case; fails for any other text.
    package init?(_ text: String) {
        let hyphens: Set<Int> = [8, 13, 18, 23]
        guard text.utf8.count == 36,
            text.utf8.enumerated().allSatisfy({
                hyphens.contains($0) ? $1 == UInt8(ascii: "-") : Self.isDigit($1)
            })
        else { return nil }
        description = text.uppercased()
    }

    init(_ member: AnswerMember) throws(ServerAnswerFault) {
        guard let uuid = member.value?.string.flatMap(ServerUUID.init) else { throw member.fault("is no UUID") }
        self = uuid
    }

    static func isDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x46, 0x61...0x66: true
        default: false
        }
    }
}

/// A one-time beacon: its numbers change, and a server can validate it (SW-14).
package struct OnetimeBeacon: Hashable, Sendable {
    package var uuid: ServerUUID
    package var major: UInt16
    package var minor: UInt16

    package init(_ uuid: ServerUUID, major: UInt16, minor: UInt16) {
        (self.uuid, self.major, self.minor) = (uuid, major, minor)
    }
}

/// A region that a server manages for an application (SW-10).
package struct ManagedRegion: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// The region is an official region of the server's operator.
        case service
        case test
        /// The region is owned by the application.
        case owned
        /// The region is owned by another party, and the application may use it.
        case thirdParty = "third-party"
    }

    package enum Variety: String, Hashable, Sendable, CaseIterable {
        case `static`
        case dynamic
    }

    package var region: ServerRegion
    package var kind: Kind
    package var variety: Variety
    /// Display name of at most 64 characters; nil if there is none.
    package var name: String?

    package init(_ region: ServerRegion, _ kind: Kind, _ variety: Variety = .static, name: String? = nil) {
        (self.region, self.kind, self.variety, self.name) = (region, kind, variety, name)
    }

    package var members: JSONObject {
        var object = region.members
        object.add("type", kind.rawValue)
        object.add("beacons", variety.rawValue)
        object.add("name", name)
        return object
    }

    init(_ object: AnswerMember) throws(ServerAnswerFault) {
        region = try ServerRegion(object)
        kind = try object["type"].word()
        variety = try object["beacons"].ifThere?.word() ?? .static
        name = try object["name"].ifThere?.string(longest: 64)
    }

    static let most = 10_000

    /// Parses a list of regions; throws if a region occurs twice.
    static func list(_ member: AnswerMember) throws(ServerAnswerFault) -> [ManagedRegion] {
        var regions: [ManagedRegion] = []
        var places: [ServerRegion: String] = [:]
        for element in try member.elements(most: most) {
            let region = try ManagedRegion(element)
            if let place = places.updateValue(element.place, forKey: region.region) {
                throw element.fault("is the region of \(place) again")
            }
            regions.append(region)
        }
        return regions
    }
}

/// A selection of managed regions: all regions, or the regions of one kind.
///
/// The regions of the kinds `service` and `owned` can also be selected by the variety of their beacons, which makes
/// four kinds of beacons (SW-20).
package struct RegionScope: Hashable, Sendable, CustomStringConvertible {
    /// Kind of the regions; nil for all kinds.
    package let kind: ManagedRegion.Kind?
    /// Variety of the regions' beacons; nil for all varieties.
    package let variety: ManagedRegion.Variety?

    package static let whole = RegionScope(kind: nil, variety: nil)
    /// The official regions, which `beacons set-up` fetches (SW-21).
    package static let official = RegionScope(kind: .service, variety: nil)

    package static let words = ["whole"] + ManagedRegion.Kind.allCases.map(\.rawValue)

    /// Creates a scope from the word for a kind.
    ///
    /// Fails for an unknown word, or if a variety is given for a kind other than `service` or `owned`.
    package init?(_ word: String, beacons variety: ManagedRegion.Variety? = nil) {
        let kind = ManagedRegion.Kind(rawValue: word)
        guard kind != nil || word == "whole", variety == nil || kind == .service || kind == .owned else { return nil }
        self.init(kind: kind, variety: variety)
    }

    /// Parses the format of `description`.
    init?(description: String) {
        let parts = description.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard parts.count <= 2 else { return nil }
        let variety = parts.dropFirst().first.map { ManagedRegion.Variety(rawValue: $0) }
        if case .some(.none) = variety { return nil }
        self.init(parts.first ?? "", beacons: variety ?? nil)
    }

    private init(kind: ManagedRegion.Kind?, variety: ManagedRegion.Variety?) {
        (self.kind, self.variety) = (kind, variety)
    }

    /// Word for the kind, such as `third-party`; `whole` for all kinds.
    package var word: String { kind?.rawValue ?? "whole" }

    package var description: String { ([word] + [variety?.rawValue].compactMap { $0 }).joined(separator: " ") }

    package func covers(_ region: ManagedRegion) -> Bool {
        (kind == nil || kind == region.kind) && (variety == nil || variety == region.variety)
    }

    package func covers(_ other: RegionScope) -> Bool {
        (kind == nil || kind == other.kind) && (variety == nil || variety == other.variety)
    }
}
