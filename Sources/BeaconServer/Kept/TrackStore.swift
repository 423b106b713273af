// SPDX-License-Identifier: GPL-2.0-or-later

import LinuxIO
package import SystemPackage

/// The file of the tracks that have to be sent: the one that tracks adds to it, the one that sends takes from it.
///
/// Where somebody was is nobody else's business: the file is its owner's alone.
package struct TrackStore: Sendable {
    private let file: KeptFile

    /// The tracks kept in a file, which need not be there.
    package init(_ path: FilePath) { file = KeptFile(path) }

    /// The queue; without a file there is nothing in it.
    package func read() throws(KeptFile.Failure) -> TrackQueue {
        guard let bytes = try file.read() else { return TrackQueue() }
        do throws(ServerAnswerFault) {
            return try TrackQueue(parsing: bytes)
        } catch {
            throw .garbled(file.path, error)
        }
    }

    /// Removes the tracks, sent or not.
    package func remove() throws(KeptFile.Failure) { try file.remove() }

    /// Changes the queue while no other process does; it is on the disk when this returns, and as it was when it throws.
    package func update<Result>(_ body: (inout TrackQueue) -> Result) throws(KeptFile.Failure) -> Result {
        try file.withLock { () throws(KeptFile.Failure) in
            var queue = try read()
            let before = queue
            let result = body(&queue)
            if queue != before { try file.write(queue.text, mode: 0o600) }
            return result
        }
    }

    /// Does something as the only process that sends.
    package func asSender<Result>(_ body: () throws -> Result) throws -> Result {
        let lock: LockFile
        do throws(Errno) {
            try FileSystem.makeDirectory(file.path.removingLastComponent(), mode: 0o755)
            lock = try LockFile(FilePath(file.path.string + ".lock"))
        } catch .wouldBlock {
            throw KeptFile.Failure.inUse(file.path)
        } catch {
            throw KeptFile.Failure.unwritable(file.path, error)
        }
        let result = Swift.Result { try body() }
        lock.remove()
        return try result.get()
    }
}
