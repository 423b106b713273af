// SPDX-License-Identifier: GPL-2.0-or-later

import Texts

/// The designated beacons; only they trigger events in their regions (SW-8, SW-9, D-29).
package struct DesignatedBeacons: Equatable, Sendable {
    package struct Beacon: Equatable, Sendable {
        package var identity: BeaconIdentity
        package var keyCode: String
        /// True if the beacon is a switcher (SW-15).
        ///
        /// Entering its region starts the watching of all beacons that are not switchers, and leaving the region stops
        /// it.
        package var isSwitcher: Bool

        package init(_ identity: BeaconIdentity, keyCode: String, isSwitcher: Bool = false) {
            self.identity = identity
            self.keyCode = keyCode
            self.isSwitcher = isSwitcher
        }
    }

    package enum Answer: Int, Hashable, Sendable, CaseIterable {
        case all = 1
        /// The limit was reached: only the first beacons were designated.
        case limitReached = 0
        /// No adapter is available to receive beacons.
        case noAdapter = -1
        /// No region was given, and there is no static region or more than one.
        case noRegion = -2
        case noCodes = -3
        /// The region is not static.
        case unfitRegion = -4
        /// One of the codes does not belong to a beacon of the region.
        case unfitCode = -5
        case tooMany = -6
        case notKept = -7
        case noOptions = -8
    }

    /// Default maximum number of designated beacons.
    package static let usualLimit = 19
    /// Permitted range for the configured maximum number of designated beacons.
    package static let limits = 1...1_000

    /// Beacons in the order of their designation.
    package internal(set) var beacons: [Beacon] = []

    package init() {}

    package var isEmpty: Bool { beacons.isEmpty }

    /// Returns true if the region is exactly the region of a designated beacon.
    package func contains(_ region: BeaconRegion) -> Bool {
        beacons.contains { BeaconRegion($0.identity) == region }
    }

    package subscript(identity: BeaconIdentity) -> Beacon? { beacons.first { $0.identity == identity } }

    package func beacon(ofCode code: String) -> Beacon? { beacons.first { $0.keyCode == code } }

    /// Returns true if the region contains a designated beacon, so that its other beacons are ignored.
    package func closes(_ region: BeaconRegion) -> Bool { beacons.contains { region.contains($0.identity) } }

    /// Designates the beacons with these codes, in this order.
    ///
    /// Beacons are added only if the result is `all` or `limitReached`. A beacon that is already designated stays
    /// unchanged, and does not count towards the limit again.
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

    /// Marks all beacons with these codes as switchers, or as beacons that are not switchers.
    ///
    /// If a code is unknown, it changes nothing and returns false.
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
    /// The region that is used if none is given: the static region, provided that there is only one.
    package var onlyStaticRegion: BeaconRegion? { file.staticRegions.count == 1 ? file.staticRegions[0].region : nil }
}

extension DesignatedBeacons {
    /// An error in the file, with its line number, starting at 1.
    package struct UnreadableLine: Error, Equatable, Sendable {
        package var line: Int

        package init(line: Int) {
            self.line = line
        }
    }

    private typealias Field = (identity: String?, code: String?, isSwitcher: Bool?, line: Int)

    /// Contents of the file: a JSON object with the list `designated`, with one line per element.
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

    /// Parses the contents of the file, in the current format or in the line format of an earlier version.
    ///
    /// Throws if any line is invalid.
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

    /// Parses the line format of an earlier version.
    ///
    /// After a heading, each line consists of `beacon` or `switcher`, the identity, and the code.
    private static func lines(of text: String) throws(UnreadableLine) -> [Field] {
        var lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
        guard lines.first == "blewedge designated beacons 1" else { throw UnreadableLine(line: 1) }
        // A line feed at the end shows that the text is complete.
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
