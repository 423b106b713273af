// SPDX-License-Identifier: GPL-2.0-or-later

import Texts

/// The beacons that were designated: the only ones of their regions that react (SW-8, SW-9, D-29).
package struct DesignatedBeacons: Equatable, Sendable {
    package struct Beacon: Equatable, Sendable {
        package var identity: BeaconIdentity
        package var keyCode: String
        /// Whether seeing it switches the watching of the others (SW-15).
        package var isSwitcher: Bool

        package init(_ identity: BeaconIdentity, keyCode: String, isSwitcher: Bool = false) {
            self.identity = identity
            self.keyCode = keyCode
            self.isSwitcher = isSwitcher
        }
    }

    package enum Answer: Int, Hashable, Sendable, CaseIterable {
        case all = 1
        /// The limit was reached: the first ones were designated, as many as there was room for.
        case limitReached = 0
        /// There is no adapter that beacons could be heard with.
        case noAdapter = -1
        /// No region was named, and there is not exactly one static region.
        case noRegion = -2
        case noCodes = -3
        /// The region is none of static beacons.
        case unfitRegion = -4
        /// No beacon of the region has one of the codes.
        case unfitCode = -5
        case tooMany = -6
        case notKept = -7
        case noOptions = -8
    }

    /// How many there may be unless the configuration says otherwise.
    package static let usualLimit = 19
    /// How many a configuration may allow.
    package static let limits = 1...1_000

    /// In the order in which they were designated.
    package internal(set) var beacons: [Beacon] = []

    package init() {}

    package var isEmpty: Bool { beacons.isEmpty }

    /// True for a designated beacon's own region.
    package func contains(_ region: BeaconRegion) -> Bool {
        beacons.contains { BeaconRegion($0.identity) == region }
    }

    package subscript(identity: BeaconIdentity) -> Beacon? { beacons.first { $0.identity == identity } }

    package func beacon(ofCode code: String) -> Beacon? { beacons.first { $0.keyCode == code } }

    /// True where a beacon of that region was designated, so that the others of it do not react.
    package func closes(_ region: BeaconRegion) -> Bool { beacons.contains { region.contains($0.identity) } }

    /// Designates the beacons of these codes, in this order; on 1 and 0 some are added, on any other answer none.
    ///
    /// One that is designated already stays as it is, and needs no room.
    package mutating func designate(
        _ codes: [String],
        in region: BeaconRegion?,
        _ options: WatchOptions,
        of catalogue: RegionCatalogue,
        limit: Int
    ) -> Answer {
        guard let region = region ?? catalogue.onlyStaticRegion else { return .noRegion }
        guard !codes.isEmpty else { return .noCodes }
        guard !options.isEmpty else { return .noOptions }
        guard catalogue.isStatic(region) else { return .unfitRegion }
        var newcomers: [Beacon] = []
        for code in codes {
            guard let identity = catalogue.identity(ofCode: code, in: region) else { return .unfitCode }
            guard self[identity] == nil, !newcomers.contains(where: { $0.identity == identity }) else { continue }
            newcomers.append(Beacon(identity, keyCode: code))
        }
        let room = max(0, limit - beacons.count)
        guard newcomers.isEmpty || room > 0 else { return .tooMany }
        beacons += newcomers.prefix(room)
        return newcomers.count > room ? .limitReached : .all
    }

    /// Sets whether beacons are switchers, of all or of none; false where one of the codes is no designated beacon's.
    package mutating func update(_ codes: [String], isSwitcher: Bool) -> Bool {
        let places = codes.map { code in beacons.firstIndex { $0.keyCode == code } }
        guard !codes.isEmpty, !places.contains(nil) else { return false }
        for place in places.compactMap(\.self) { beacons[place].isSwitcher = isSwitcher }
        return true
    }

    package mutating func release(_ code: String) -> Beacon? {
        beacons.firstIndex { $0.keyCode == code }.map { beacons.remove(at: $0) }
    }
}

extension RegionCatalogue {
    /// The region that is meant where none is named: the only static one.
    package var onlyStaticRegion: BeaconRegion? { file.staticRegions.count == 1 ? file.staticRegions[0].region : nil }
}

extension DesignatedBeacons {
    /// A file that is not one of these: the line, counted from 1.
    package struct UnreadableLine: Error, Equatable, Sendable {
        package var line: Int

        package init(line: Int) {
            self.line = line
        }
    }

    private typealias Field = (identity: String?, code: String?, isSwitcher: Bool?, line: Int)

    /// The text of the file: a JSON object with the list `designated`, a line for each of its elements.
    package var text: String {
        let lines = beacons.map { beacon in
            var object = JSONObject()
            object.add("beacon", "\(beacon.identity)")
            object.add("code", beacon.keyCode)
            object.add("switcher", beacon.isSwitcher)
            return object.text
        }
        return "{\"designated\":[\n" + lines.joined(separator: ",\n") + "\n]}\n"
    }

    /// Reads such a text, or the lines of an earlier version, whole or not at all.
    package init(text: String) throws(UnreadableLine) {
        self.init()
        for field in text.hasPrefix("{") ? try Self.elements(of: text) : try Self.lines(of: text) {
            guard let identity = field.identity.flatMap({ BeaconIdentity($0) }), let code = field.code,
                let isSwitcher = field.isSwitcher, KeyCodeText.isSound(code), self[identity] == nil,
                beacons.count < Self.limits.upperBound
            else { throw UnreadableLine(line: field.line) }
            beacons.append(Beacon(identity, keyCode: code, isSwitcher: isSwitcher))
        }
    }

    private static func elements(of text: String) throws(UnreadableLine) -> [Field] {
        let value: JSONValue
        do throws(JSONValue.Fault) {
            value = try JSONValue(Array(text.utf8))
        } catch {
            throw UnreadableLine(line: error.line)
        }
        guard let list = value["designated"]?.array else { throw UnreadableLine(line: 1) }
        return list.enumerated().map { index, beacon in
            (beacon["beacon"]?.string, beacon["code"]?.string, beacon["switcher"]?.bool, index + 2)
        }
    }

    /// The lines of an earlier version: a heading, then `beacon` or `switcher`, the identity and the code.
    private static func lines(of text: String) throws(UnreadableLine) -> [Field] {
        var lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
        guard lines.first == "blewedge designated beacons 1" else { throw UnreadableLine(line: 1) }
        // The end of the last line is the proof that the text is whole.
        guard lines.removeLast().isEmpty else { throw UnreadableLine(line: lines.count + 1) }
        return lines.enumerated().dropFirst().map { index, line in
            let words = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
            guard words.count == 3, let place = ["beacon", "switcher"].firstIndex(of: words[0]) else {
                return (nil, nil, nil, index + 1)
            }
            return (words[1], words[2], place == 1, index + 1)
        }
    }
}
