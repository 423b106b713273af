// SPDX-License-Identifier: GPL-2.0-or-later

package import LinuxIO
package import SystemPackage

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
