// SPDX-License-Identifier: GPL-2.0-or-later

package import Configuration
import Devices
package import LinuxIO
package import SystemPackage
package import Texts

/// The reason why an output cannot be opened.
package enum OutputError: Error, Equatable, Sendable {
    case notOpened(String, Errno)
    case noScreen(Errno)
}

/// An output other than the keyboard: standard output, a pseudo-terminal, or a local socket.
package final class OutputListener: OutputEnd {
    package static let mostClients = 8

    /// Handler that is called with the numbers of received bytes that were delivered and not delivered.
    package var onOutcome: ((_ delivered: Int, _ undelivered: Int) -> Void)?
    /// Handler that is called when a client has received queued bytes, has connected, or has disconnected.
    package var onRoom: (() -> Void)?
    /// Handler that is called once, when writing to standard output is no longer possible.
    package var onLoss: ((Errno) -> Void)?
    package var onBytes: (([UInt8]) -> Void)?
    /// Path of the output, for messages; nil for standard output.
    package let place: String?

    private var isStandardOutput: Bool { place == nil }
    private let loop: EventLoop
    private var listener: RecoveringListener?
    package let policy: SlowReaderPolicy
    private var connections: [OutputClient] = []
    private var missedByGone: UInt64 = 0

    /// Opens the output; returns nil for the keyboard.
    ///
    /// Tests pass another descriptor in place of standard output.
    package init?(
        _ destination: OutputDestination,
        _ policy: SlowReaderPolicy = .dropNewest,
        output: Int32 = StandardStream.output.rawValue,
        on loop: EventLoop
    ) throws(OutputError) {
        self.loop = loop
        self.policy = policy
        switch destination {
        case .keyboard: return nil
        case .standardOutput:
            place = nil
            do throws(Errno) {
                add(try OutputClient(.output(try StandardOutput(of: output)), policy, on: loop))
            } catch {
                throw .notOpened("stdout", error)
            }
        case .terminal(let path):
            place = path
            do throws(Errno) {
                add(try OutputClient(.terminal(try PseudoTerminal(linkedAt: path)), policy, on: loop))
            } catch {
                throw .notOpened(path, error)
            }
        case .socket(let path):
            place = path
            do throws(Errno) {
                // Only the owner may connect, because the bytes of clients are sent to the device.
                listener = try RecoveringListener(at: path, mode: 0o600, on: loop) {
                    [unowned self] client throws(Errno) in
                    // A client beyond the limit is disconnected immediately.
                    guard connections.count < Self.mostClients else { return }
                    add(try OutputClient(.client(client), policy, on: loop))
                    onRoom?()
                }
            } catch {
                throw .notOpened(path, error)
            }
        }
    }

    /// Counts of each connected client, and the number of bytes missed by clients that have disconnected.
    package var counts: OutputCounts {
        OutputCounts(readers: connections.map { ($0.counts, $0.waiting, $0.isAttended) }, missedByGone: missedByGone)
    }

    /// Returns true if the line can be delivered now; false only under the policy `wait`.
    ///
    /// Under that policy, a line must wait until every client has room; if no client is connected to a socket, it waits
    /// for a client. If standard output has been closed, lines do not wait.
    package func hasRoom(for line: OutputLine) -> Bool {
        guard policy == .wait else { return true }
        guard !connections.isEmpty else { return listener == nil }
        return connections.allSatisfy { $0.fits(line) }
    }

    /// Queues a line for every client; `flush` sends it.
    ///
    /// For a client without room, a line is dropped as the policy requires. The line counts as delivered if one client
    /// has received all of it.
    package func deliver(_ line: OutputLine) {
        if !line.bytes.isEmpty { for connection in connections { connection.append(line) } }
        line.letGo(isTaken: line.bytes.isEmpty)
    }

    /// Sends the bytes that the clients accept now.
    package func flush() { for connection in connections { connection.flush() } }

    /// Sends the bytes that the clients still accept, drops the rest, and closes the output.
    package func close() {
        listener = nil
        for connection in connections {
            connection.finish()
            missedByGone &+= connection.counts.missed
        }
        connections = []
    }

    private func add(_ connection: OutputClient) {
        connection.onBytes = { [unowned self] bytes in onBytes?(bytes) }
        connection.onRoom = { [unowned self] in onRoom?() }
        connection.onEnd = { [unowned self] ended in
            connections.removeAll { $0 === ended }
            missedByGone &+= ended.counts.missed
            onRoom?()
            if isStandardOutput { onLoss?(ended.fault ?? .brokenPipe) }
        }
        connections.append(connection)
    }
}

/// Numbers of bytes that the clients of an output have received and missed.
package struct OutputCounts: Sendable {
    /// Counts and queued bytes of each client, in the order in which the clients connected.
    ///
    /// `isAttended` is false for a terminal that no program has open.
    package var readers: [(counts: LineQueue.Counts, waiting: Int, isAttended: Bool)]
    package var missedByGone: UInt64

    package init(readers: [(counts: LineQueue.Counts, waiting: Int, isAttended: Bool)], missedByGone: UInt64) {
        self.readers = readers
        self.missedByGone = missedByGone
    }

    package var objects: [JSONObject] {
        readers.map { reader in
            var object = JSONObject()
            object.add("delivered", reader.counts.delivered)
            object.add("missed", reader.counts.missed)
            object.add("waiting", reader.waiting)
            return object
        }
    }

    package var missed: UInt64 { readers.reduce(missedByGone) { $0 &+ $1.counts.missed } }
}
