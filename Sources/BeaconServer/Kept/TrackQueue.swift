// SPDX-License-Identifier: GPL-2.0-or-later

package import Texts

/// The tracks that are waiting to be sent, and the counts of earlier tracks (SW-7).
///
/// A record is given up after the first attempt and three retries, but waits while the server cannot be reached. An
/// attempt is counted before it is made, so that the count is never too low.
package struct TrackQueue: Equatable, Sendable {
    package struct Entry: Hashable, Sendable {
        package var record: TrackRecord
        package var attempts = 0
    }

    /// Maximum number of records; when it is reached, adding a record drops the oldest one.
    package static let capacity = 1000
    /// Maximum number of sightings in all records together; it limits the size of the file.
    package static let mostSightings = 20_000
    /// Pauses before the first, second and third retry.
    package static let pauses = [Duration.seconds(2), .seconds(4), .seconds(8)]
    package static let mostAttempts = 1 + pauses.count

    /// Records that are waiting to be sent, oldest first.
    package private(set) var entries: [Entry] = []
    package private(set) var sent = 0
    /// Number of records that were dropped because the queue was full.
    package private(set) var dropped = 0
    /// Number of records that were given up after their last attempt.
    package private(set) var givenUp = 0
    /// Record that was sent last; nil if no record was sent.
    package private(set) var last: TrackRecord?

    package init() {}

    /// Adds a record; if the queue is full, drops the oldest records and counts them.
    package mutating func add(_ record: TrackRecord) {
        var sightings = entries.reduce(record.sightings.count) { $0 + $1.record.sightings.count }
        while entries.count >= Self.capacity || sightings > Self.mostSightings, let oldest = entries.first {
            entries.removeFirst()
            sightings -= oldest.record.sightings.count
            dropped += 1
        }
        entries.append(Entry(record: record))
    }

    /// Counts an attempt that is about to be made.
    ///
    /// Returns false if the record was removed or has no attempts left.
    package mutating func begin(_ record: TrackRecord) -> Bool {
        guard let index = index(of: record), entries[index].attempts < Self.mostAttempts else { return false }
        entries[index].attempts += 1
        return true
    }

    package mutating func accept(_ record: TrackRecord) {
        sent += 1
        last = record
        if let index = index(of: record) { entries.remove(at: index) }
    }

    /// Uncounts an attempt in which nothing reached the server.
    package mutating func takeBack(_ record: TrackRecord) {
        if let index = index(of: record) { entries[index].attempts = max(0, entries[index].attempts - 1) }
    }

    /// Handles a failed attempt, and returns the pause before the next attempt.
    ///
    /// The result is nil if the record is given up or was removed.
    package mutating func fail(_ record: TrackRecord) -> Duration? {
        guard let index = index(of: record) else { return nil }
        let attempts = entries[index].attempts
        guard attempts < Self.mostAttempts else {
            entries.remove(at: index)
            givenUp += 1
            return nil
        }
        return Self.pauses[max(0, attempts - 1)]
    }

    /// Gives up records whose last attempt was interrupted because the sending process ended.
    package mutating func giveUpExhausted() {
        let count = entries.count
        entries.removeAll { $0.attempts >= Self.mostAttempts }
        givenUp += count - entries.count
    }

    private func index(of record: TrackRecord) -> Int? {
        entries.firstIndex { $0.record.number == record.number }
    }

    /// Contents of the file: JSON, with a line feed at the end.
    package var text: String {
        var object = counts
        object.add("version", 1)
        object.add("last", last?.members)
        object.add(
            "entries",
            entries.map { entry in
                var member = JSONObject()
                member.add("attempts", entry.attempts)
                member.add("record", entry.record.members)
                return member
            }
        )
        return object.text + "\n"
    }

    package var counts: JSONObject {
        var object = JSONObject()
        object.add("sent", sent)
        object.add("givenUp", givenUp)
        object.add("dropped", dropped)
        return object
    }

    package init(parsing bytes: [UInt8]) throws(ServerAnswerFault) {
        let object = try AnswerMember(whole: bytes)
        _ = try object["version"].integer(1...1)
        sent = try object["sent"].integer(0...Int.max)
        givenUp = try object["givenUp"].integer(0...Int.max)
        dropped = try object["dropped"].integer(0...Int.max)
        last = try object["last"].ifThere.map { (member) throws(ServerAnswerFault) in try TrackRecord(member) }
        for member in try object["entries"].elements(most: Self.capacity) {
            let attempts = try member["attempts"].integer(0...Self.mostAttempts)
            entries.append(Entry(record: try TrackRecord(member["record"]), attempts: attempts))
        }
    }
}
