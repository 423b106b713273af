// SPDX-License-Identifier: GPL-2.0-or-later

package import Texts

/// The tracks that have to be sent, with what became of those before them (SW-7): pure.
///
/// A record is sent once, and three times again at most; then it is given up. What is counted is never less than what
/// happened: an attempt is counted before it is made.
package struct TrackQueue: Equatable, Sendable {
    package struct Entry: Hashable, Sendable {
        package var record: TrackRecord
        package var attempts = 0
    }

    /// The most records; one more drops the oldest.
    package static let capacity = 1000
    /// What has to pass before each of the further attempts.
    package static let pauses = [Duration.seconds(2), .seconds(4), .seconds(8)]
    package static let mostAttempts = 1 + pauses.count

    /// What waits, the oldest first.
    package private(set) var entries: [Entry] = []
    package private(set) var sent = 0
    /// How many were dropped because there was no room.
    package private(set) var dropped = 0
    /// How many were given up after their last attempt.
    package private(set) var givenUp = 0
    /// The record that was sent last; nil for none.
    package private(set) var last: TrackRecord?

    package init() {}

    /// Adds a record; where there is no room the oldest is dropped, and counted.
    package mutating func add(_ record: TrackRecord) {
        if entries.count >= Self.capacity {
            dropped += entries.count - Self.capacity + 1
            entries.removeFirst(entries.count - Self.capacity + 1)
        }
        entries.append(Entry(record: record))
    }

    /// Counts an attempt for a record, which is about to be made; false where it is there no more.
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

    /// An attempt for a record has failed: what has to pass before the next one, nil where it is given up.
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

    /// Gives up those whose last attempt was begun by a process that did not live to see its end.
    package mutating func giveUpExhausted() {
        let count = entries.count
        entries.removeAll { $0.attempts >= Self.mostAttempts }
        givenUp += count - entries.count
    }

    private func index(of record: TrackRecord) -> Int? {
        entries.firstIndex { $0.record.number == record.number }
    }

    /// The file's text: JSON with a line feed.
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
