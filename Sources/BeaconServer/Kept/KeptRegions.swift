// SPDX-License-Identifier: GPL-2.0-or-later

package import LinuxIO
package import SystemPackage
import Texts

/// The managed regions from the last fetch, and the changes that the fetch has made (SW-10).
package struct KeptRegions: Equatable, Sendable {
    /// The difference between the fetched regions and the regions that were stored before.
    package enum Difference: String, Hashable, Sendable {
        case none = "no-difference"
        case new = "has-new"
        case abandoned = "has-abandoned"
        case newAndAbandoned = "has-new-and-abandoned"
    }

    /// Regions that the server manages now.
    package private(set) var current: [ManagedRegion] = []
    /// Regions that the last fetch added.
    package private(set) var new: [ManagedRegion] = []
    /// Regions that the last fetch removed.
    package private(set) var abandoned: [ManagedRegion] = []
    /// Time of the last fetch of each scope, in seconds since 1970-01-01 00:00:00 UTC.
    package private(set) var fetched: [RegionScope: Int] = [:]

    package init() {}

    package var difference: Difference {
        switch (new.isEmpty, abandoned.isEmpty) {
        case (true, true): .none
        case (false, true): .new
        case (true, false): .abandoned
        case (false, false): .newAndAbandoned
        }
    }

    /// Returns the time from which this scope may be fetched again; nil if it may be fetched now.
    ///
    /// Times are in seconds since 1970-01-01 00:00:00 UTC. A fetch counts for all scopes that it covers. A fetch whose
    /// time is in the future, because of a wrong clock, is ignored.
    package func nextFetch(of scope: RegionScope, interval hours: Int, at now: Int) -> Int? {
        let last = fetched.filter { $0.key.covers(scope) && $0.value <= now }.values.max()
        guard let last else { return nil }
        let next = last + max(0, hours) * 3600
        return next > now ? next : nil
    }

    /// Returns true if a fetch between `start` and `now` covers the scope.
    ///
    /// Times are in seconds since 1970-01-01 00:00:00 UTC.
    package func isFetched(_ scope: RegionScope, since start: Int, at now: Int) -> Bool {
        fetched.contains { $0.key.covers(scope) && start <= $0.value && $0.value <= now }
    }

    /// Replaces the regions of a scope with the fetched regions, and updates the lists of new and abandoned regions.
    package mutating func take(_ regions: [ManagedRegion], of scope: RegionScope, at now: Int) {
        let known = Set(current.map(\.region))
        let found = Set(regions.map(\.region))
        let isGone = { (kept: ManagedRegion) in scope.covers(kept) && !found.contains(kept.region) }
        new = regions.filter { !known.contains($0.region) }
        abandoned = current.filter(isGone)
        current = current.filter { !scope.covers($0) && !found.contains($0.region) } + regions
        fetched[scope] = max(0, now)
    }

    /// Contents of the file: JSON, with a line feed at the end.
    package var text: String {
        var object = JSONObject()
        object.add("version", 1)
        object.add(
            "fetched",
            fetched.sorted { $0.key.description < $1.key.description }.map { scope, seconds in
                var member = JSONObject()
                member.add("type", scope.description)
                member.add("at", seconds)
                return member
            }
        )
        object.add("regions", current.map(\.members))
        object.add("new", new.map(\.members))
        object.add("abandoned", abandoned.map(\.members))
        return object.text + "\n"
    }

    package init(parsing bytes: [UInt8]) throws(ServerAnswerFault) {
        let object = try AnswerMember(whole: bytes)
        _ = try object["version"].integer(1...1)
        for member in try object["fetched"].elements(most: 16) {
            let text = try member["type"].string(longest: 64)
            guard let scope = RegionScope(description: text) else { throw member["type"].fault("is no type") }
            fetched[scope] = Int(clamping: try member["at"].integer(0...(Int64(1) << 40)))
        }
        current = try Self.list(object["regions"])
        new = try Self.list(object["new"])
        abandoned = try Self.list(object["abandoned"])
    }

    /// Parses a list of regions; the list may be as long as the lists of all scopes together.
    private static func list(_ member: AnswerMember) throws(ServerAnswerFault) -> [ManagedRegion] {
        var regions: [ManagedRegion] = []
        for element in try member.elements(most: 8 * ManagedRegion.most) { regions.append(try ManagedRegion(element)) }
        return regions
    }
}

/// File that stores data of the beacon server between runs of the program.
package typealias ServerFile = KeptFile<ServerAnswerFault>

extension ServerFile {
    /// Maximum size of the file, in bytes.
    static var limit: Int { 32 << 20 }

    func withLock<Value>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
        try withLock(refused: { $0 }, body)
    }

    /// Removes the file while holding its lock.
    func removeUnderLock() throws(Failure) {
        guard FileSystem.exists(path.string) else { return }
        try withLock { () throws(Failure) in try remove() }
    }
}

package struct RegionStore: Sendable {
    private let file: ServerFile

    package init(_ path: FilePath) { file = ServerFile(path, limit: ServerFile.limit) }

    /// Reads the regions; returns an empty value if the file does not exist.
    package func read() throws(ServerFile.Failure) -> KeptRegions {
        try file.read { bytes throws(ServerAnswerFault) in try KeptRegions(parsing: bytes) } ?? KeptRegions()
    }

    package func remove() throws(ServerFile.Failure) { try file.removeUnderLock() }

    /// Changes the stored regions while holding the file's lock.
    ///
    /// The regions are on disk when the method returns, and unchanged if it throws.
    package func update(_ body: (inout KeptRegions) -> Void) throws(ServerFile.Failure) -> KeptRegions {
        try file.withLock { () throws(ServerFile.Failure) in
            var regions = try read()
            body(&regions)
            try file.write(regions.text)
            return regions
        }
    }
}
