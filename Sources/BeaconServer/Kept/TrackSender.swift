// SPDX-License-Identifier: GPL-2.0-or-later

package import LinuxIO
package import SystemPackage
package import Texts

/// Decides when the records of a queue are sent, and in which order.
///
/// It has no side effects; the current time is an argument.
package struct TrackSender: Sendable {
    package enum Step: Equatable, Sendable {
        case send(TrackRecord)
        /// Wait for this duration.
        case wait(Duration)
        case done
    }

    /// Times at which records are due to be sent again, by the numbers of the records.
    private var due: [UInt64: Duration] = [:]

    package init() {}

    /// Returns the next step.
    ///
    /// It is to send the oldest record that is due, to wait until the first record is due, or to stop because no
    /// records are left.
    package func step(_ queue: TrackQueue, at now: Duration) -> Step {
        var first: Duration?
        for entry in queue.entries {
            guard let time = due[entry.record.number], time > now else { return .send(entry.record) }
            first = min(first ?? time, time)
        }
        return first.map { .wait($0 - now) } ?? .done
    }

    /// Schedules a retry of a failed record, after a pause.
    package mutating func postpone(_ record: TrackRecord, by pause: Duration, at now: Duration) {
        due[record.number] = now + pause
    }
}

package struct TrackRun {
    /// A record that the server has accepted, with the result of its contact check (SW-19).
    package struct Contact: Equatable, Sendable {
        package let record: TrackRecord
        package let result: ContactResult

        package init(_ record: TrackRecord, _ result: ContactResult) { (self.record, self.result) = (record, result) }

        package var members: JSONObject {
            var object = JSONObject()
            object.add("record", record.identifier)
            object.add("region", record.region.description)
            object.add("result", result.rawValue)
            return object
        }
    }

    package struct Report: Equatable, Sendable {
        /// Records that were sent, in the order of sending, with their contact checks.
        package var contacts: [Contact] = []
        package var givenUp = 0
        package var waiting = 0
        /// Error for the last record that was given up, or for a server that could not be reached; nil if there was no
        /// error.
        package var fault: ServerFault?

        package init(contacts: [Contact] = [], givenUp: Int = 0, waiting: Int = 0, fault: ServerFault? = nil) {
            (self.contacts, self.givenUp, self.waiting, self.fault) = (contacts, givenUp, waiting, fault)
        }
    }

    private let store: TrackStore
    private let send: (TrackRecord) throws(ServerFault) -> ContactResult
    private let now: () -> Duration
    private let wait: (Duration) throws -> Void

    /// Creates a run for the tracks in a file.
    ///
    /// It is passed functions that send a record, read the clock, and wait.
    package init(
        _ store: TrackStore,
        send: @escaping (TrackRecord) throws(ServerFault) -> ContactResult,
        now: @escaping () -> Duration,
        wait: @escaping (Duration) throws -> Void
    ) {
        (self.store, self.send, self.now, self.wait) = (store, send, now, wait)
    }

    /// Sends records until none is left, or until a record is given up because its request failed.
    ///
    /// If the server is unreachable, the run makes three retries, for all records together. After that, all records
    /// wait for the next run, even if earlier runs have already failed.
    package func run() throws -> Report {
        try store.asSender {
            var report = Report()
            var sender = TrackSender()
            var pauses = TrackQueue.pauses[...]
            while true {
                let queue = try store.read()
                report.waiting = queue.entries.count
                switch sender.step(queue, at: now()) {
                case .done: return report
                case .wait(let pause): try wait(pause)
                case .send(let record):
                    switch try attempt(record, &sender, &report) {
                    case .next: pauses = TrackQueue.pauses[...]
                    case .unreachable(let fault):
                        if let pause = pauses.popFirst() {
                            try wait(pause)
                            continue
                        }
                        report.fault = fault
                        fallthrough
                    case .stop:
                        report.waiting = try store.read().entries.count
                        return report
                    }
                }
            }
        }
    }

    private enum Outcome {
        case next
        case unreachable(ServerFault)
        case stop
    }

    /// Sends a record once.
    private func attempt(_ record: TrackRecord, _ sender: inout TrackSender, _ report: inout Report) throws -> Outcome {
        let isBegun = try store.update { queue in
            queue.giveUpExhausted()
            return queue.begin(record)
        }
        // The record was dropped in the meantime, so continue with the next one.
        guard isBegun else { return .next }
        let result: ContactResult
        do throws(ServerFault) {
            result = try send(record)
        } catch {
            if case .request(.unreachable) = error {
                try store.update { $0.takeBack(record) }
                return .unreachable(error)
            }
            if let pause = try store.update({ $0.fail(record) }) {
                sender.postpone(record, by: pause, at: now())
                return .next
            }
            report.givenUp += 1
            report.fault = error
            if case .request = error { return .stop }
            return .next
        }
        try store.update { $0.accept(record) }
        report.contacts.append(Contact(record, result))
        return .next
    }
}

/// The file that stores the tracks to be sent; the tracking process adds tracks, and the sending process removes them.
///
/// Only its owner may access the file, because tracks reveal the user's location.
package struct TrackStore: Sendable {
    private let file: ServerFile

    /// Creates a store for a file, which need not exist.
    package init(_ path: FilePath) { file = ServerFile(path, limit: ServerFile.limit, mode: 0o600) }

    /// Reads the queue; returns an empty queue if the file does not exist.
    package func read() throws(ServerFile.Failure) -> TrackQueue {
        try file.read { bytes throws(ServerAnswerFault) in try TrackQueue(parsing: bytes) } ?? TrackQueue()
    }

    /// Removes the file, including unsent tracks.
    package func remove() throws(ServerFile.Failure) { try file.removeUnderLock() }

    /// Changes the queue while holding the file's lock.
    ///
    /// The queue is on disk when the method returns, and unchanged if it throws.
    package func update<Result>(_ body: (inout TrackQueue) -> Result) throws(ServerFile.Failure) -> Result {
        try file.withLock { () throws(ServerFile.Failure) in
            var queue = try read()
            let before = queue
            let result = body(&queue)
            if queue != before { try file.write(queue.text) }
            return result
        }
    }

    /// Runs `body` while holding the sender lock.
    package func asSender<Result>(_ body: () throws -> Result) throws -> Result { try file.asOnlyUser(body) }
}
