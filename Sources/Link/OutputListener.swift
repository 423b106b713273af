// SPDX-License-Identifier: GPL-2.0-or-later

package import Configuration
import Devices
package import LinuxIO
package import SystemPackage
package import Texts

/// The reason for which received text cannot be handed over.
package enum OutputError: Error, Equatable, Sendable {
    case notOpened(String, Errno)
    case noScreen(Errno)
}

/// The other end of the wire where that is not the keyboard: standard output, a pseudo-terminal, or a local socket.
package final class OutputListener {
    package static let mostClients = 8

    /// Told what became of received bytes that were handed over.
    package var onOutcome: ((_ delivered: Int, _ undelivered: Int) -> Void)?
    /// Called each time a reader took some of what waited, or came, or went.
    package var onRoom: (() -> Void)?
    /// Called once when standard output cannot be written to any more.
    package var onLoss: ((Errno) -> Void)?
    package var onBytes: (([UInt8]) -> Void)?
    /// Where it is, for people; nil for standard output.
    package let place: String?

    private var isStandardOutput: Bool { place == nil }
    private let loop: EventLoop
    private var listener: RecoveringListener?
    private let policy: SlowReaderPolicy
    private var connections: [OutputClient] = []
    private var missedByGone: UInt64 = 0

    /// Opens the end; there is none for the keyboard.
    ///
    /// Standard output is another descriptor in tests.
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
                // Its owner's alone: what comes over it goes to the device.
                listener = try RecoveringListener(at: path, mode: 0o600, on: loop) {
                    [unowned self] client throws(Errno) in
                    // Who comes too late is let go at once.
                    guard connections.count < Self.mostClients else { return }
                    add(try OutputClient(.client(client), policy, on: loop))
                    onRoom?()
                }
            } catch {
                throw .notOpened(path, error)
            }
        }
    }

    /// What the readers took and missed, each by itself, and what those missed that are gone.
    package var counts: OutputCounts {
        OutputCounts(readers: connections.map { ($0.counts, $0.waiting, $0.isAttended) }, missedByGone: missedByGone)
    }

    /// A line of so many received bytes, or a part of one, for `deliver`.
    package func line(_ bytes: [UInt8], cost: Int, begins: Bool = true, ends: Bool = true) -> OutputLine {
        OutputLine(bytes, cost: cost, begins: begins, ends: ends) { [weak self] isDelivered, cost in
            self?.onOutcome?(isDelivered ? cost : 0, isDelivered ? 0 : cost)
        }
    }

    /// Whether a line is to be handed over now: only where the end waits for its readers, it is not.
    ///
    /// A socket without clients waits for one. Standard output whose reader has gone waits for nobody.
    package func hasRoom(for line: OutputLine) -> Bool {
        guard policy == .wait else { return true }
        guard !connections.isEmpty else { return listener == nil }
        return connections.allSatisfy { $0.fits(line) }
    }

    /// Puts a line into the queue of every reader, where it fits or others make room; `flush` sends it.
    ///
    /// It is delivered when one reader took the whole of it.
    package func deliver(_ line: OutputLine) {
        if !line.bytes.isEmpty { for connection in connections { connection.append(line) } }
        line.letGo(isTaken: line.bytes.isEmpty)
    }

    /// True where it waits for its readers: what finds no room then is no device's doing.
    package var isPatient: Bool { policy == .wait }

    /// Sends what the readers take now.
    package func flush() { for connection in connections { connection.flush() } }

    /// Sends what the readers still take, lets the rest go, and closes the end.
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

/// What the readers of another end took and missed, in received bytes.
package struct OutputCounts: Sendable {
    /// Each reader's counts, the bytes that wait for it, and false for a terminal that no program has open, in the order in
    /// which they came.
    package var readers: [(counts: LineQueue.Counts, waiting: Int, isAttended: Bool)]
    package var missedByGone: UInt64

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
