// SPDX-License-Identifier: GPL-2.0-or-later

/// What a region is; most are several of these (SW-3).
package struct RegionKinds: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// In the file's static regions, or a designated beacon's.
    package static let reserved = RegionKinds(rawValue: 1)
    /// One of the file's static regions, as it stands there.
    package static let initial = RegionKinds(rawValue: 2)
    /// In the file's dynamic regions.
    package static let dynamic = RegionKinds(rawValue: 4)
    /// One of the server's regions.
    package static let managed = RegionKinds(rawValue: 8)
    /// A designated beacon's.
    package static let designated = RegionKinds(rawValue: 16)

    /// The words for the kinds, as clients and configurations write them.
    package static let words: [(word: String, kind: RegionKinds)] = [
        ("reserved", .reserved), ("initial", .initial), ("dynamic", .dynamic), ("managed", .managed),
        ("designated", .designated),
    ]

    /// The words of the kinds that it is.
    package var words: [String] { Self.words.filter { contains($0.kind) }.map(\.word) }
}
