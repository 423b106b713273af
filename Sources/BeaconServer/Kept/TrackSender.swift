// SPDX-License-Identifier: GPL-2.0-or-later

package import LinuxIO
package import SystemPackage

/// Which record is sent next, and when: pure, the time is an argument.
package struct TrackSender: Sendable {
    package enum Step: Equatable, Sendable {
        case send(TrackRecord)
        /// Nothing is done for so long.
        case wait(Duration)
        case done
    }

    /// When a record that has failed is sent again, by its number.
    private var due: [UInt64: Duration] = [:]

    package init() {}

    /// What is to be done now: the oldest record that is due, or waiting for the one that is due first.
    package func step(_ queue: TrackQueue, at now: Duration) -> Step {
        var first: Duration?
        for entry in queue.entries {
            guard let time = due[entry.record.number], time > now else { return .send(entry.record) }
            first = min(first ?? time, time)
        }
        return first.map { .wait($0 - now) } ?? .done
    }

    /// A record has failed, and is sent again after a pause.
    package mutating func postpone(_ record: TrackRecord, by pause: Duration, at now: Duration) {
        due[record.number] = now + pause
    }
}

package struct TrackRun {
    package struct Report: Equatable, Sendable {
        package var sent = 0
        package var givenUp = 0
        package var waiting = 0
        /// Why a record was given up, the last one; nil where none was.
        package var fault: ServerFault?

        package init(sent: Int = 0, givenUp: Int = 0, waiting: Int = 0, fault: ServerFault? = nil) {
            (self.sent, self.givenUp, self.waiting, self.fault) = (sent, givenUp, waiting, fault)
        }
    }

    private let store: TrackStore
    private let send: (TrackRecord) throws(ServerFault) -> Void
    private let now: () -> Duration
    private let wait: (Duration) throws -> Void

    /// A run over a file, with what sends a record, the clock, and what waits by it.
    package init(
        _ store: TrackStore,
        send: @escaping (TrackRecord) throws(ServerFault) -> Void,
        now: @escaping () -> Duration,
        wait: @escaping (Duration) throws -> Void
    ) {
        (self.store, self.send, self.now, self.wait) = (store, send, now, wait)
    }

    /// Sends until nothing waits, or until a record is given up because no server answers.
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

    /// Sends a record once; false where nothing more is to be sent.
    private func attempt(_ record: TrackRecord, _ sender: inout TrackSender, _ report: inout Report) throws -> Bool {
        let isBegun = try store.update { queue in
            queue.giveUpExhausted()
            return queue.begin(record)
        }
        // Meanwhile it was dropped.
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

/// The file of the tracks that have to be sent: the one that tracks adds to it, the one that sends takes from it.
///
/// Where somebody was is nobody else's business: the file is its owner's alone.
package struct TrackStore: Sendable {
    private let file: ServerFile

    /// The tracks kept in a file, which need not be there.
    package init(_ path: FilePath) { file = ServerFile(path, limit: ServerFile.limit, mode: 0o600) }

    /// The queue; without a file there is nothing in it.
    package func read() throws(ServerFile.Failure) -> TrackQueue {
        try file.read { bytes throws(ServerAnswerFault) in try TrackQueue(parsing: bytes) } ?? TrackQueue()
    }

    /// Removes the tracks, sent or not.
    package func remove() throws(ServerFile.Failure) { try file.removeUnderLock() }

    /// Changes the queue while no other process does; it is on the disk when this returns, and as it was when it throws.
    package func update<Result>(_ body: (inout TrackQueue) -> Result) throws(ServerFile.Failure) -> Result {
        try file.withLock { () throws(ServerFile.Failure) in
            var queue = try read()
            let before = queue
            let result = body(&queue)
            if queue != before { try file.write(queue.text) }
            return result
        }
    }

    /// Runs `body` while holding the sender's lock.
    package func asSender<Result>(_ body: () throws -> Result) throws -> Result { try file.asOnlyUser(body) }
}
