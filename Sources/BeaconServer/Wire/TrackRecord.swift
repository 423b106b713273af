// SPDX-License-Identifier: GPL-2.0-or-later

package import Texts

/// A complete track (D-26): the sightings of one region's beacons.
package struct TrackRecord: Hashable, Sendable {
    package struct Sighting: Hashable, Sendable {
        /// The part of the beacon's identity that follows its UUID or namespace.
        ///
        /// The UUID or namespace itself is that of the region.
        package enum Number: Hashable, Sendable {
            case majorMinor(UInt16, UInt16)
            /// Instance of an Eddystone beacon: 12 hexadecimal digits in upper case.
            case instance(String)
        }

        package var number: Number
        /// Key code of at most 64 characters; nil if the beacon has none.
        package var keyCode: String?
        /// Signal strength in dBm; nil if unknown.
        package var rssi: Int8?
        /// Time since the first sighting, in milliseconds; at most 15,000.
        package var milliseconds: Int

        package init(major: UInt16, minor: UInt16, keyCode: String? = nil, rssi: Int8? = nil, milliseconds: Int) {
            self.init(.majorMinor(major, minor), keyCode: keyCode, rssi: rssi, milliseconds: milliseconds)
        }

        package init(_ number: Number, keyCode: String? = nil, rssi: Int8? = nil, milliseconds: Int) {
            (self.number, self.keyCode, self.rssi, self.milliseconds) = (number, keyCode, rssi, milliseconds)
        }

        fileprivate var members: JSONObject {
            var object = JSONObject()
            switch number {
            case .majorMinor(let major, let minor):
                object.add("major", major)
                object.add("minor", minor)
            case .instance(let digits): object.add("instance", digits)
            }
            object.add("keyCode", keyCode)
            object.add("rssi", rssi)
            object.add("after", milliseconds)
            return object
        }

        /// Parses a sighting of a beacon in a region.
        fileprivate init(_ member: AnswerMember, in region: ServerRegion) throws(ServerAnswerFault) {
            switch region {
            case .uuid:
                let major = try UInt16(member["major"].integer(0...0xFFFF))
                number = .majorMinor(major, try UInt16(member["minor"].integer(0...0xFFFF)))
            case .namespace: number = .instance(try ServerRegion.digits(member["instance"], 12))
            }
            keyCode = try member["keyCode"].ifThere?.string(longest: 64)
            let strength = try member["rssi"].ifThere?.integer(-128...127)
            rssi = strength.map { Int8($0) }
            milliseconds = try member["after"].integer(0...TrackRecord.longest)
        }
    }

    /// Maximum duration of a track, in milliseconds.
    package static let longest = 15_000
    /// Maximum number of sightings: four, plus those in one list of a ranged region's beacons, which has at most 256.
    package static let mostSightings = 260

    /// Unique number of the record, which allows the server to detect duplicates.
    package let number: UInt64
    package let region: ServerRegion
    /// Time of the first sighting, in seconds since 1970-01-01 00:00:00 UTC.
    package let seconds: Int
    /// Sightings in order; there are 1 to 260.
    package private(set) var sightings: [Sighting]

    /// Creates a record, with a random number if none is given.
    ///
    /// Fails if a limit is exceeded, or if a key code contains a control character. Therefore, every stored or sent
    /// record can be parsed again.
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

    /// Number of the record in the form in which it is sent to the server: 16 hexadecimal digits.
    package var identifier: String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    package var members: JSONObject {
        var object = JSONObject()
        object.add("record", identifier)
        object.add("region", region.members)
        object.add("at", seconds)
        object.add("sightings", sightings.map(\.members))
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
            sightings.append(try Sighting(member, in: region))
        }
    }
}

/// A request to a beacon server (D-27); the article `Wire` in the documentation contains examples.
package enum ServerRequest: Hashable, Sendable {
    /// An event or a state of a region, which is written to the test log (SW-11).
    package enum Event: String, Hashable, Sendable, CaseIterable {
        case enter
        case exit
        /// We are inside the region.
        case inside
        /// We are outside the region.
        case outside
    }

    case regions(RegionScope)
    /// A track to be recorded (SW-7).
    case track(TrackRecord)
    /// An event to be logged in test mode, with its time in seconds since 1970-01-01 00:00:00 UTC (SW-11).
    case testLog(ServerRegion, Event, seconds: Int)
    /// The validation of a one-time beacon (SW-14).
    case validate(OnetimeBeacon)

    /// Path of the request below the server's address.
    package var path: String {
        switch self {
        case .regions: "regions"
        case .track: "track"
        case .testLog: "test-log"
        case .validate: "validate"
        }
    }

    private var members: JSONObject {
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

    /// Returns the members of the request, including the application's identifier for its user if there is one.
    package func members(of user: String?) -> JSONObject {
        var object = members
        object.add("auid", user)
        return object
    }

    /// Returns the request body: JSON in UTF-8.
    package func body(of user: String?) -> [UInt8] { Array(members(of: user).text.utf8) }
}
