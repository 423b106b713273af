// SPDX-License-Identifier: GPL-2.0-or-later

package import LinuxIO
package import SystemPackage

/// Order and times of sending the records of a queue: pure, with the time as an argument.
package struct TrackSender: Sendable {
    package enum Step: Equatable, Sendable {
        case send(TrackRecord)
        /// Wait for this time.
        case wait(Duration)
        case done
    }

    /// Times of the retries, by record number.
    private var due: [UInt64: Duration] = [:]

    package init() {}

    /// Returns the next step: send the oldest record that is due, wait for the first one to be due, or done.
    package func step(_ queue: TrackQueue, at now: Duration) -> Step {
        var first: Duration?
        for entry in queue.entries {
            guard let time = due[entry.record.number], time > now else { return .send(entry.record) }
            first = min(first ?? time, time)
        }
        return first.map { .wait($0 - now) } ?? .done
    }

    /// Schedules the retry of a failed record after a pause.
    package mutating func postpone(_ record: TrackRecord, by pause: Duration, at now: Duration) {
        due[record.number] = now + pause
    }
}

package struct TrackRun {
    package struct Report: Equatable, Sendable {
        package var sent = 0
        package var givenUp = 0
        package var waiting = 0
        /// Error of the last record that was given up; nil if none was.
        package var fault: ServerFault?

        package init(sent: Int = 0, givenUp: Int = 0, waiting: Int = 0, fault: ServerFault? = nil) {
            (self.sent, self.givenUp, self.waiting, self.fault) = (sent, givenUp, waiting, fault)
        }
    }

    private let store: TrackStore
    private let send: (TrackRecord) throws(ServerFault) -> Void
    private let now: () -> Duration
    private let wait: (Duration) throws -> Void

    /// Creates a run over a file, with functions that send a record, read the clock, and wait.
    package init(
        _ store: TrackStore,
        send: @escaping (TrackRecord) throws(ServerFault) -> Void,
        now: @escaping () -> Duration,
        wait: @escaping (Duration) throws -> Void
    ) {
        (self.store, self.send, self.now, self.wait) = (store, send, now, wait)
    }

    /// Sends records until none waits, or until one is given up because its request failed.
    package func run() throws -> Report {
        try store.asSender {
            var report = Report()
            var sender = TrackSender()
            while true {
                let queue = try store.read()
                report.waiting = queue.entries.count
                switch sender.step(queue, at: now()) {
                case .done: return report
                case .wait(let pause): try wait(pause)
                case .send(let record):
                    guard try attempt(record, &sender, &report) else {
                        report.waiting = try store.read().entries.count
                        return report
                    }
                }
            }
        }
    }

    /// Sends a record once; returns false if the run has to stop.
    private func attempt(_ record: TrackRecord, _ sender: inout TrackSender, _ report: inout Report) throws -> Bool {
        let isBegun = try store.update { queue in
            queue.giveUpExhausted()
            return queue.begin(record)
        }
        // The record was dropped in the meantime.
        guard isBegun else { return true }
        do throws(ServerFault) {
            try send(record)
        } catch {
            if let pause = try store.update({ $0.fail(record) }) {
                sender.postpone(record, by: pause, at: now())
                return true
            }
            report.givenUp += 1
            report.fault = error
            if case .request = error { return false }
            return true
        }
        try store.update { $0.accept(record) }
        report.sent += 1
        return true
    }
}

/// File of the tracks to be sent: the tracking process adds to it, the sending process removes from it.
///
/// Only its owner may access the file: tracks reveal the user's location.
package struct TrackStore: Sendable {
    private let file: ServerFile

    /// Creates a store for a file, which need not exist.
    package init(_ path: FilePath) { file = ServerFile(path, limit: ServerFile.limit, mode: 0o600) }

    /// Reads the queue; returns an empty one if there is no file.
    package func read() throws(ServerFile.Failure) -> TrackQueue {
        try file.read { bytes throws(ServerAnswerFault) in try TrackQueue(parsing: bytes) } ?? TrackQueue()
    }

    /// Removes the file, including unsent tracks.
    package func remove() throws(ServerFile.Failure) { try file.removeUnderLock() }

    /// Changes the queue while holding the file's lock; it is on disk on return, and unchanged if this throws.
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
