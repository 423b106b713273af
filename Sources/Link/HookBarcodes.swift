// SPDX-License-Identifier: GPL-2.0-or-later

package import Configuration

/// A bounded queue of barcodes for the hook, which reads them from its standard input when it runs.
///
/// A barcode counts as delivered if the hook has read all of it. Used on the loop's thread.
package final class HookBarcodes: OutputEnd {
    /// Barcodes for one run of the hook.
    package struct Batch: Equatable, Sendable {
        /// The barcodes, one per line.
        package var text: [UInt8] = []
        package var count = 0
    }

    package var onOutcome: ((_ delivered: Int, _ undelivered: Int) -> Void)?
    package var onRoom: (() -> Void)?
    /// Handler that is called when a barcode has been queued.
    package var onBarcode: (() -> Void)?
    package let policy: SlowReaderPolicy

    private var queue: LineQueue
    /// Barcodes passed to the current run of the hook, each with its length in the text.
    private var running: [(line: OutputLine, length: Int)] = []

    package init(_ policy: SlowReaderPolicy) {
        self.policy = policy
        queue = LineQueue(policy)
    }

    package func hasRoom(for line: OutputLine) -> Bool { policy != .wait || queue.fits(line) }

    package func deliver(_ line: OutputLine) {
        let isEmpty = line.bytes.isEmpty
        if !isEmpty { queue.append(line) }
        line.letGo(isTaken: isEmpty)
        if !isEmpty { onBarcode?() }
    }

    package func flush() {}

    /// Removes the queued barcodes, and returns them for one run of the hook; call `end` after the run.
    package func begin() -> Batch {
        var batch = Batch()
        for line in queue.takeAll() {
            let start = batch.text.count
            batch.text += line.bytes
            if batch.text.last != UInt8(ascii: "\n") { batch.text.append(UInt8(ascii: "\n")) }
            batch.count += 1
            running.append((line, batch.text.count - start))
        }
        onRoom?()
        return batch
    }

    /// Ends the run after the hook has read `count` bytes.
    ///
    /// Returns the number of barcodes that the hook has not read completely.
    @discardableResult
    package func end(read count: Int) -> Int {
        var rest = count
        var unread = 0
        for (line, length) in running {
            rest -= length
            if rest < 0 { unread += 1 }
            line.letGo(isTaken: rest >= 0)
        }
        running = []
        return unread
    }

    package func close() {
        end(read: 0)
        queue.removeAll()
    }
}
