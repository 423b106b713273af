// SPDX-License-Identifier: GPL-2.0-or-later

package import Configuration

/// Receiver of an output's lines: the clients of a socket, the program at a terminal, or the hook.
package protocol OutputEnd: AnyObject {
    /// Handler for the outcome of received bytes: the numbers of delivered and undelivered bytes.
    var onOutcome: ((_ delivered: Int, _ undelivered: Int) -> Void)? { get set }
    /// Handler that is called when there may be more room for lines.
    var onRoom: (() -> Void)? { get set }
    var policy: SlowReaderPolicy { get }

    /// Returns true if the line can be delivered now; false only under the policy `wait`.
    func hasRoom(for line: OutputLine) -> Bool

    /// Queues a line, or drops a line according to the policy; `flush` sends the queued lines.
    func deliver(_ line: OutputLine)

    func flush()

    /// Drops the lines that were not delivered, and closes the output.
    func close()
}

extension OutputEnd {
    /// Creates a line, or part of a line, for `deliver`; it was made from `cost` received bytes.
    package func line(_ bytes: [UInt8], cost: Int, begins: Bool = true, ends: Bool = true) -> OutputLine {
        OutputLine(bytes, cost: cost, begins: begins, ends: ends) { [weak self] isDelivered, cost in
            self?.onOutcome?(isDelivered ? cost : 0, isDelivered ? 0 : cost)
        }
    }
}
