// SPDX-License-Identifier: GPL-2.0-or-later

package import Beacons
import BluetoothAdapters
import BluetoothHost
import BluetoothPackets
import Devices
import LinuxIO
import SystemPackage

/// Tables `[beacons]` and `[beacons.actions.NAME]` of the configuration (SW-1).
package struct BeaconConfiguration: Equatable, Sendable {
    package var regionsFile: String?
    package var watched: [BeaconMonitor.Group] = []
    package var options = WatchOptions.usual
    package var entryWindow = RegionWatch.Settings().entryWindow
    package var exitSilence = RegionWatch.Settings().exitSilence
    package var pathLoss = 2.0
    package var mostDesignated = DesignatedBeacons.usualLimit
    package var updateInterval = 12
    package var isTest = true
    package var edition = "SWAMP"
    package var version = "1.3.0"
    package var appCodeFile: String?
    package var server: String?
    /// Identifier of the user in the application, sent with each request (SW-18).
    package var userID: String?
    package var advertised: BeaconIdentity?
    package var advertisedFormat = BeaconFrame.Format.iBeacon
    package var advertisedPower = -59
    package var actions: [BeaconAction] = []

    package init() {}

    /// Maximum length of `userID` in bytes.
    static let longestUserID = 128
    static let pathLosses = 1.0...6.0
    /// Permitted interval between two fetches, in hours: at most a year.
    static let updateIntervals = 1...8760

    package var settings: RegionWatch.Settings {
        var settings = RegionWatch.Settings()
        settings.entryWindow = entryWindow
        settings.exitSilence = exitSilence
        return settings
    }

    /// Returns the user identifier if it is 1 to 128 bytes of printable text; nil otherwise.
    static func userID(_ text: String) -> String? {
        let isFit = (1...longestUserID).contains(text.utf8.count) && LocalName.printable(text) == text
        return isFit ? text : nil
    }

    /// True if the daemon must scan for beacons.
    package var isWatching: Bool { !watched.isEmpty || !actions.isEmpty }
}

/// Action on entry to and exit from a region (D-30): `[beacons.actions.NAME]`.
///
///     [beacons.actions.badge]
///     do = "type"
///     unauthenticated = true
package struct BeaconAction: Equatable, Sendable {
    package enum Deed: String, Hashable, Sendable, CaseIterable {
        /// Type received data only while we are inside the region.
        case gate
        /// When we enter the region, type the key code of the beacon as a barcode.
        case type
        /// Run the hook on entry and exit.
        case hook
        /// Notify clients of entry and exit; this is also done for every watched region.
        case event

        /// True if the action requires `unauthenticated = true`, because a copied beacon could trigger or enable
        /// typing.
        package var wantsConsent: Bool { self == .gate || self == .type }
    }

    package var name: String
    package var region: BeaconRegion
    package var deed: Deed

    static let most = 64
    static let longestName = 32

    package init(name: String, region: BeaconRegion, deed: Deed) {
        self.name = name
        self.region = region
        self.deed = deed
    }

    /// Parses the action in a table; returns nil and the faults if there are any.
    static func read(_ members: [TOMLMember], name: String, line: Int) -> (BeaconAction?, [ConfigurationFault]) {
        var reader = TOMLTableReader(members, line: line)
        let region = reader.need("region") { (value: TOMLValue) throws(UnfitValue) in
            let wanted = "a region such as \"E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1/2\""
            guard let region = BeaconRegion(try value.text(wanted)) else { throw UnfitValue(wanted) }
            return region
        }
        let deed = reader.need("do") { (value: TOMLValue) throws(UnfitValue) in
            let wanted = "one of \(ConfigurationKey.names(Deed.self))"
            guard let deed = Deed(rawValue: try value.text(wanted)) else { throw UnfitValue(wanted) }
            return deed
        }
        let isUnauthenticated = reader.take("unauthenticated") { (value: TOMLValue) throws(UnfitValue) in
            try value.flag()
        }
        if let deed, deed.wantsConsent, isUnauthenticated != true {
            reader.note(
                nil,
                "do = \"\(deed.rawValue)\" wants unauthenticated = true beside it: anybody can copy a beacon"
            )
        }
        reader.end()
        guard reader.faults.isEmpty, let region, let deed else { return (nil, reader.faults) }
        return (BeaconAction(name: name, region: region, deed: deed), [])
    }

    var text: String {
        var lines = ["[beacons.actions.\(name)]", "region = \"\(region)\"", "do = \"\(deed.rawValue)\""]
        if deed.wantsConsent { lines.append("unauthenticated = true") }
        return lines.joined(separator: "\n") + "\n"
    }
}

extension Configuration {
    mutating func readActions(_ member: TOMLMember, _ lines: inout [String: Int]) -> [ConfigurationFault] {
        member.readTables(at: "beacons.actions", most: BeaconAction.most, &lines) { name in
            Self.isPlainName(name, BeaconAction.longestName)
                ? nil : "an action's name has small letters, digits and hyphens, at most \(BeaconAction.longestName)"
        } read: { members, name, line in
            let (action, faults) = BeaconAction.read(members, name: name, line: line)
            if let action { beacons.actions.append(action) }
            return faults
        }
    }

    /// Contradictory and invalid values of `[beacons]` and its actions, with the keys concerned.
    var beaconContradictions: [(keys: [String], reason: String)] {
        var faults: [(keys: [String], reason: String)] = []
        if let identity = beacons.advertised,
            BeaconFrame(beacons.advertisedFormat, identity, measuredPower: nil) == nil
        {
            let reason = "beacons.advertise: \(beacons.advertisedFormat.rawValue) cannot carry \(identity)"
            faults.append((["beacons.advertise", "beacons.advertise-format"], reason))
        }
        if beacons.regionsFile == nil, beacons.watched.contains(where: { $0 != .managed && $0 != .designated }) {
            faults.append((["beacons.watch"], "beacons.watch wants a file of regions: set beacons.regions"))
        }
        if let server = beacons.server, !server.hasPrefix("https://") {
            faults.append((["beacons.server"], "beacons.server wants an address that begins with https://"))
        }
        if beacons.server != nil, beacons.appCodeFile == nil {
            faults.append((["beacons.server"], "beacons.server wants an access code: set beacons.app-code-file"))
        }
        for (key, path) in [("beacons.regions", beacons.regionsFile), ("beacons.app-code-file", beacons.appCodeFile)] {
            if let path, !path.hasPrefix("/") {
                faults.append(([key], "\(key) wants a whole path, which begins with /"))
            }
        }
        for action in beacons.actions {
            let key = "beacons.actions.\(action.name)"
            if action.deed == .type, security > .none {
                faults.append(
                    (
                        [key],
                        "\(key): a beacon is not authenticated, and security = \"\(security.word)\" types nothing that is not"
                    )
                )
            }
            if action.deed == .hook, hook == nil { faults.append(([key], "\(key): there is no hook: set hook")) }
        }
        return faults
    }

    /// Reads the region file named by the configuration; returns an empty catalogue if no file is named.
    package func regions() throws(ConfigurationError) -> RegionCatalogue {
        guard let path = beacons.regionsFile else { return RegionCatalogue(RegionFile()) }
        let bytes: [UInt8]
        do throws(Errno) {
            bytes = try FileSystem.textContents(of: path, limit: RegionFile.mostBytes)
        } catch {
            throw .regionsUnreadable(path, error)
        }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .notText(path) }
        do throws(RegionFile.Faults) {
            return RegionCatalogue(try RegionFile(text))
        } catch {
            throw .regionFaults(path, error)
        }
    }
}
