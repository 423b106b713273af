// SPDX-License-Identifier: GPL-2.0-or-later

package import Beacons
import Texts

/// What happens as a region is entered and left (D-30): `[beacons.actions.NAME]`.
///
///     [beacons.actions.badge]
///     region = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"
///     do = "type"
///     unauthenticated = true
package struct BeaconAction: Equatable, Sendable {
    /// The kinds of actions.
    package enum Deed: String, Hashable, Sendable, CaseIterable {
        /// Received data is typed only while the region is inside.
        case gate
        /// The key code of the beacon that enters the region is typed, as a barcode.
        case type
        /// The hook is told of entry and exit.
        case hook
        /// Clients are told of entry and exit, as of every region that is watched.
        case event

        /// Whether anybody who copies the beacon gains by it.
        package var wantsConsent: Bool { self == .gate || self == .type }
    }

    /// Its name in the configuration.
    package var name: String
    /// The region.
    package var region: BeaconRegion
    /// What is done.
    package var deed: Deed

    /// The most actions of a configuration.
    static let most = 64
    /// The longest name.
    static let longestName = 32

    /// An action.
    package init(name: String, region: BeaconRegion, deed: Deed) {
        self.name = name
        self.region = region
        self.deed = deed
    }

    /// The action that a table describes, nil where something of it is wrong; and what.
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

    /// The table, which reads as the same.
    var text: String {
        var lines = ["[beacons.actions.\(name)]", "region = \"\(region)\"", "do = \"\(deed.rawValue)\""]
        if deed.wantsConsent { lines.append("unauthenticated = true") }
        return lines.joined(separator: "\n") + "\n"
    }
}
