// SPDX-License-Identifier: GPL-2.0-or-later

package import Texts

/// A region that a server manages for an application (SW-10).
package struct ManagedRegion: Hashable, Sendable {
    /// Whose region it is.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// For tests.
        case test
        /// The application's own.
        case owned
        /// Another party's, which the application may use.
        case thirdParty = "third-party"
    }

    /// Which beacons make it.
    package enum Variety: String, Hashable, Sendable, CaseIterable {
        /// Beacons whose numbers stay.
        case `static`
        /// Beacons whose numbers change.
        case dynamic
    }

    /// Which beacons it has.
    package var region: ServerRegion
    /// Whose region it is.
    package var kind: Kind
    /// Which beacons make it.
    package var variety: Variety
    /// The name for people, of at most 64 signs; nil for none.
    package var name: String?

    /// A region from its parts.
    package init(_ region: ServerRegion, _ kind: Kind, _ variety: Variety = .static, name: String? = nil) {
        (self.region, self.kind, self.variety, self.name) = (region, kind, variety, name)
    }

    /// Its members as JSON.
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

    /// The most regions in one answer.
    static let most = 10_000

    /// Reads a list in which no region stands twice.
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

/// Which of the managed regions are meant: those of a kind, or all; of the application's own perhaps only those of one sort
/// of beacons.
package struct RegionScope: Hashable, Sendable, CustomStringConvertible {
    /// Whose regions; nil for all.
    package let kind: ManagedRegion.Kind?
    /// Which beacons; nil for all.
    package let variety: ManagedRegion.Variety?

    /// All.
    package static let whole = RegionScope(kind: nil, variety: nil)

    /// The words of kinds.
    package static let words = ["whole"] + ManagedRegion.Kind.allCases.map(\.rawValue)

    /// Those of a kind by its word; nil for another word, or for a sort of beacons of others than the application's own.
    package init?(_ word: String, beacons variety: ManagedRegion.Variety? = nil) {
        let kind = ManagedRegion.Kind(rawValue: word)
        guard kind != nil || word == "whole", variety == nil || kind == .owned else { return nil }
        self.init(kind: kind, variety: variety)
    }

    /// Reads what `description` gives.
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

    /// The word of the kind, such as `third-party`.
    package var word: String { kind?.rawValue ?? "whole" }

    package var description: String { ([word] + [variety?.rawValue].compactMap { $0 }).joined(separator: " ") }

    /// Whether the region is meant.
    package func covers(_ region: ManagedRegion) -> Bool {
        (kind == nil || kind == region.kind) && (variety == nil || variety == region.variety)
    }

    /// Whether all that the other means is meant.
    package func covers(_ other: RegionScope) -> Bool {
        (kind == nil || kind == other.kind) && (variety == nil || variety == other.variety)
    }
}
