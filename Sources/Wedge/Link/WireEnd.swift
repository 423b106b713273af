// SPDX-License-Identifier: GPL-2.0-or-later

package import LinuxIO
import SystemPackage
package import Texts

/// The other end of the wire where that is not the keyboard: standard output, a pseudo-terminal, or a local socket.
///
/// To be used on the loop's thread.
package final class WireEnd {
    /// The most clients of a socket.
    package static let mostClients = 8
    /// How often standard output is tried again while its reader is behind.
    private static let retryInterval = Duration.milliseconds(20)
    /// The bytes of one write, which a pipe that polls as writable takes whole (PIPE_BUF).
    private static let pieceLength = 4096

    /// Takes what comes for the device.
    package var onBytes: (([UInt8]) -> Void)?
    /// Where it is, for people; nil for standard output.
    package let place: String?

    private let loop: EventLoop
    private var listener: Listener?
    private var connections: [WireConnection] = []
    private var isStandardOutput = false
    private var waiting = OutgoingBuffer(capacity: WireConnection.mostWaiting)
    private var timer: EventLoop.Timer?

    /// A listener with its place in the loop.
    private final class Listener {
        /// The pause after a client could not be taken, most likely because no descriptor was left.
        private static let recovery = Duration.seconds(1)

        private let socket: LocalListener
        private var registration: EventLoop.Registration?
        private var recoveryTimer: EventLoop.Timer?
        private let loop: EventLoop
        private let onClient: (consuming LocalStream) -> Void

        init(
            _ path: String,
            on loop: EventLoop,
            onClient: @escaping (consuming LocalStream) -> Void
        ) throws(Errno) {
            // Its owner's alone: what comes over it goes to the device.
            socket = try LocalListener(at: path, mode: 0o600)
            self.loop = loop
            self.onClient = onClient
            try listen()
        }

        private func listen() throws(Errno) {
            registration = try socket.watch(on: loop) { [weak self] in self?.accept() }
        }

        private func accept() {
            do throws(Errno) {
                while let client = try socket.accept() { onClient(client) }
            } catch {
                // Clients wait in the kernel's queue, and do not wake the loop meanwhile.
                rest()
                recoveryTimer = loop.schedule(at: MonotonicClock.now + Self.recovery) { [weak self] in
                    self?.recoveryTimer = nil
                    try? self?.listen()
                }
            }
        }

        private func rest() {
            if let registration { socket.unwatch(registration, on: loop) }
            registration = nil
        }

        func close() {
            if let recoveryTimer { loop.cancel(recoveryTimer) }
            recoveryTimer = nil
            rest()
        }
    }

    /// Opens the end; there is none for the keyboard.
    package init?(_ destination: WireDestination, on loop: EventLoop) throws(CommandFailure) {
        self.loop = loop
        switch destination {
        case .keyboard: return nil
        case .standardOutput:
            place = nil
            isStandardOutput = true
        case .terminal(let path):
            place = path
            do throws(Errno) {
                add(try WireConnection(.terminal(try PseudoTerminal(linkedAt: path)), on: loop))
            } catch {
                throw Self.failure(path, error)
            }
        case .socket(let path):
            place = path
            do throws(Errno) {
                listener = try Listener(path, on: loop) { [unowned self] client in
                    // Who comes too late is let go at once.
                    guard connections.count < Self.mostClients else { return }
                    if let connection = try? WireConnection(.client(client), on: loop) { add(connection) }
                }
            } catch {
                throw Self.failure(path, error)
            }
        }
    }

    private static func failure(_ path: String, _ error: Errno) -> CommandFailure {
        let isPermission = error == .permissionDenied || error == .notPermitted
        let isTaken = error == .fileExists || error == .addressInUse
        return CommandFailure(
            isPermission ? .permission : isTaken ? .configuration : .inputOutput,
            FileFaultText.endNotMade,
            path,
            "\(error)",
            remedy: isTaken ? RemedyText.otherPath.message() : nil
        )
    }

    /// Hands over what the device sent; answers how many of the bytes are taken: all, or none.
    ///
    /// A socket without clients takes none.
    package func deliver(_ bytes: Span<UInt8>) -> Int {
        guard isStandardOutput else {
            var isTaken = false
            for connection in connections where connection.send(bytes) { isTaken = true }
            return isTaken ? bytes.count : 0
        }
        guard waiting.append(bytes) else { return 0 }
        flush()
        return bytes.count
    }

    /// Hands over what standard output still takes, and closes the end.
    package func close() {
        flush()
        if let timer { loop.cancel(timer) }
        timer = nil
        listener?.close()
        listener = nil
        connections.forEach { $0.close() }
        connections = []
    }

    private func add(_ connection: WireConnection) {
        connection.onBytes = { [unowned self] bytes in onBytes?(bytes) }
        connection.onEnd = { [unowned self] ended in connections.removeAll { $0 === ended } }
        connections.append(connection)
    }

    private func flush() {
        if let timer { loop.cancel(timer) }
        timer = nil
        do throws(Errno) {
            let isDone = try waiting.drain { bytes throws(Errno) in
                let piece = bytes.extracting(first: Self.pieceLength)
                return try StandardStream.output.writeAtOnce(piece) ? .done(piece.byteCount) : .wouldBlock
            }
            guard !isDone else { return }
            timer = loop.schedule(at: MonotonicClock.now + Self.retryInterval) { [unowned self] in flush() }
        } catch {
            // Nobody reads any more.
            waiting.removeAll()
        }
    }
}
