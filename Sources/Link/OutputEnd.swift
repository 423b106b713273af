// SPDX-License-Identifier: GPL-2.0-or-later

package import Configuration

/// Receiver of an output's lines: the clients of a socket, the program at a terminal, or the hook.
package protocol OutputEnd: AnyObject {
    /// Handler that is called with the numbers of received bytes that were delivered and not delivered.
    var onOutcome: ((_ delivered: Int, _ undelivered: Int) -> Void)? { get set }
    /// Handler that is called when there may be more room for lines.
    var onRoom: (() -> Void)? { get set }
    var policy: SlowReaderPolicy { get }

    /// Returns true if the line can be delivered now; false only under the policy `wait`.
    func hasRoom(for line: OutputLine) -> Bool

    /// Queues a line or, if there is no room, drops a line as the policy requires; `flush` sends the queued lines.
    func deliver(_ line: OutputLine)

    func flush()

    /// Drops the lines that were not delivered, and closes the output.
    func close()
}

extension OutputEnd {
    /// Creates a line, or part of a line, for `deliver`; `cost` is the number of received bytes that it was made from.
    package func line(_ bytes: [UInt8], cost: Int, begins: Bool = true, ends: Bool = true) -> OutputLine {
        OutputLine(bytes, cost: cost, begins: begins, ends: ends) { [weak self] isDelivered, cost in
            self?.onOutcome?(isDelivered ? cost : 0, isDelivered ? 0 : cost)
        }
    }
}
