// SPDX-License-Identifier: GPL-2.0-or-later

package import Texts

/// A track that is complete (D-26): what was sighted of one region's beacons.
package struct TrackRecord: Hashable, Sendable {
    package struct Sighting: Hashable, Sendable {
        /// The first of the beacon's numbers; of Eddystone the first half of the instance's last four bytes.
        package var major: UInt16
        /// The second of the beacon's numbers.
        package var minor: UInt16
        /// The key code, of at most 64 signs; nil where the beacon has none.
        package var keyCode: String?
        /// The signal's strength in dBm; nil where it is not known.
        package var rssi: Int8?
        /// The time since the first sighting, in milliseconds, at most 15,000.
        package var milliseconds: Int

        package init(major: UInt16, minor: UInt16, keyCode: String? = nil, rssi: Int8? = nil, milliseconds: Int) {
            (self.major, self.minor, self.keyCode) = (major, minor, keyCode)
            (self.rssi, self.milliseconds) = (rssi, milliseconds)
        }
    }

    /// The longest that a track takes, in milliseconds.
    package static let longest = 15_000
    package static let mostSightings = 16

    /// A number that no other record has, so that the server notices one that it gets again.
    package let number: UInt64
    package let region: ServerRegion
    /// The first sighting, in seconds since 1970-01-01 00:00:00 UTC.
    package let seconds: Int
    /// What was sighted, in its order; 1 to 16.
    package private(set) var sightings: [Sighting]

    /// A record from its parts, with a random number if none is given; nil where a bound is exceeded, or a key code has a
    /// control character: what is kept and sent can always be read.
    package init?(
        _ region: ServerRegion,
        seconds: Int,
        sightings: [Sighting],
        number: UInt64 = .random(in: .min ... .max)
    ) {
        (self.region, self.seconds, self.sightings, self.number) = (region, seconds, sightings, number)
        guard let whole = try? AnswerMember(whole: Array(members.text.utf8)), (try? TrackRecord(whole)) == self else {
            return nil
        }
    }

    /// The number as it is sent: 16 hexadecimal digits.
    package var identifier: String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    package var members: JSONObject {
        var object = JSONObject()
        object.add("record", identifier)
        object.add("region", region.members)
        object.add("at", seconds)
        object.add(
            "sightings",
            sightings.map { sighting in
                var member = JSONObject()
                member.add("major", sighting.major)
                member.add("minor", sighting.minor)
                member.add("keyCode", sighting.keyCode)
                member.add("rssi", sighting.rssi)
                member.add("after", sighting.milliseconds)
                return member
            }
        )
        return object
    }

    init(_ object: AnswerMember) throws(ServerAnswerFault) {
        guard let digits = object["record"].value?.string, digits.utf8.count == 16,
            digits.utf8.allSatisfy(ServerUUID.isDigit), let number = UInt64(digits, radix: 16)
        else { throw object["record"].fault("has not 16 hexadecimal digits") }
        self.number = number
        region = try ServerRegion(object["region"])
        seconds = Int(clamping: try object["at"].integer(0...(Int64(1) << 40)))
        sightings = []
        guard object["sightings"].value != .array([]) else { throw object["sightings"].fault("is empty") }
        for member in try object["sightings"].elements(most: Self.mostSightings) {
            let rssi = try member["rssi"].ifThere?.integer(-128...127)
            sightings.append(
                Sighting(
                    major: UInt16(try member["major"].integer(0...0xFFFF)),
                    minor: UInt16(try member["minor"].integer(0...0xFFFF)),
                    keyCode: try member["keyCode"].ifThere?.string(longest: 64),
                    rssi: rssi.map { Int8($0) },
                    milliseconds: try member["after"].integer(0...Self.longest)
                )
            )
        }
    }
}

/// What a server of beacons is asked (D-27); the article `Wire` of the documentation has examples.
package enum ServerRequest: Hashable, Sendable {
    /// What happened at a region (SW-11).
    package enum Event: String, Hashable, Sendable, CaseIterable {
        case enter
        case exit
        /// It is around us.
        case inside
        /// It is not around us.
        case outside
    }

    case regions(RegionScope)
    /// A track, to be recorded (SW-7).
    case track(TrackRecord)
    /// An event, to be logged in test mode, at so many seconds since 1970-01-01 00:00:00 UTC (SW-11).
    case testLog(ServerRegion, Event, seconds: Int)
    /// A check of a one-time beacon (SW-14).
    case validate(OnetimeBeacon)

    /// What stands behind the server's address.
    package var path: String {
        switch self {
        case .regions: "regions"
        case .track: "track"
        case .testLog: "test-log"
        case .validate: "validate"
        }
    }

    package var members: JSONObject {
        var object = JSONObject()
        switch self {
        case .regions(let scope):
            object.add("type", scope.word)
            object.add("beacons", scope.variety?.rawValue)
        case .track(let record):
            return record.members
        case .testLog(let region, let event, let seconds):
            object.add("region", region.members)
            object.add("event", event.rawValue)
            object.add("at", seconds)
        case .validate(let beacon):
            object = ServerRegion.uuid(beacon.uuid, major: beacon.major, minor: beacon.minor).members
        }
        return object
    }

    /// What is sent, as UTF-8.
    package var body: [UInt8] { Array(members.text.utf8) }
}
