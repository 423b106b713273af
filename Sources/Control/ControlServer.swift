// SPDX-License-Identifier: GPL-2.0-or-later

package import Devices
package import LinuxIO
import SystemPackage
package import Texts

/// Server of the control socket: receives requests, rejects those without permission, and streams events (D-8, D-9).
///
/// A request is a line of words, an answer is a JSON line: `{"ok":true,"version":1,…}`, or
/// `{"ok":false,"version":1,"error":{"code":77,"cause":"…","remedy":"…"}}` with the exit status of D-10. Messages for
/// people are in English; the member `texts` contains the id and the arguments of each message, so that clients can
/// translate it. Everything runs on the loop's thread.
package final class ControlServer {
    package struct Limits: Sendable {
        package var clients = 16
        /// Maximum number of clients that are neither the owner nor root, so that they cannot lock the owner and root
        /// out.
        package var guests = 12
        /// Time limit for a client to send a whole request and to receive its answer.
        package var patience = Duration.seconds(10)
        /// Number of bytes that may be queued for a client that follows events; beyond that, events are skipped.
        package var streamBytes = 64 * 1024

        package init() {}
    }

    /// Mode of the main socket: access for its owner and group.
    private static let mode: UInt32 = 0o660
    private static let ownersMode: UInt32 = 0o600

    /// False if the configuration says `keys = off`.
    package var allowsKeys: Bool {
        get { rights.allowsKeys }
        set { rights.allowsKeys = newValue }
    }

    private let loop: EventLoop
    private let limits: Limits
    private weak var handler: (any ControlHandler)?
    private var rights: ControlRights
    private var listeners: [RecoveringListener] = []
    private var connections: [ObjectIdentifier: ControlConnection] = [:]
    /// Answer to `status` from this turn of the loop, shared by all requests in the same turn (B-21).
    private var statusLine: [UInt8]?

    /// Listens at `path`, whose directory must exist.
    ///
    /// The handler is referenced weakly. Throws an error if another daemon listens there, or if the socket cannot be
    /// created.
    package init(
        at path: String,
        allowsKeys: Bool = true,
        limits: Limits = Limits(),
        on loop: EventLoop,
        handler: any ControlHandler
    ) throws(CommandFailure) {
        self.loop = loop
        self.limits = limits
        self.handler = handler
        rights = ControlRights(owner: ProcessFacts.user, allowsKeys: allowsKeys)
        do {
            try listen(at: path, mode: Self.mode)
        } catch {
            throw CommandFailure(controlSocket: path, error)
        }
        let own = ControlSocket.ownersPath(path)
        do throws(Errno) {
            try listen(at: own, mode: Self.ownersMode)
        } catch {
            // If the path is too long for a second socket, one socket serves all clients.
            guard error == .fileNameTooLong else { throw CommandFailure(controlSocket: own, error) }
        }
    }

    deinit {
        close()
    }

    /// Sends the event to every client that follows events.
    package func publish(_ event: JSONObject) {
        assert(ControlEvent.lists(event))
        noteChange()
        for connection in connections.values { connection.publish(event) }
    }

    /// Records a change of state, so that the cached status answer is no longer used.
    package func noteChange() { statusLine = nil }

    package var clientCount: Int { connections.count }

    /// Disconnects all clients, and removes the socket.
    package func close() {
        listeners = []
        for connection in connections.values { connection.end() }
    }

    // MARK: Clients

    private func listen(at path: String, mode: UInt32) throws(Errno) {
        listeners.append(
            try RecoveringListener(at: path, mode: mode, on: loop) { [weak self] stream throws(Errno) in
                try self?.welcome(stream)
            }
        )
    }

    private func welcome(_ stream: consuming LocalStream) throws(Errno) {
        let peer = try stream.peer()
        let guests = connections.values.filter { !rights.isTrusted($0.peer.user) }.count
        guard connections.count < limits.clients, rights.isTrusted(peer.user) || guests < limits.guests else {
            let refusal = CommandFailure(.unavailable, ControlFaultText.tooManyClients, "\(connections.count)")
            // This cannot block, because a single line fits into the buffer of a new socket.
            _ = try? stream.write(Self.answer(.failure(refusal)).line)
            return
        }
        let connection = try ControlConnection(
            stream,
            peer: peer,
            limits: limits,
            on: loop,
            onLine: { [weak self] connection, line in self?.take(line, of: connection) },
            onEnd: { [weak self] connection in self?.connections[ObjectIdentifier(connection)] = nil }
        )
        connections[ObjectIdentifier(connection)] = connection
    }

    // MARK: Requests

    private func take(_ line: [UInt8], of connection: ControlConnection) {
        let request: ControlRequest
        do {
            request = try ControlRequest(line: line)
        } catch {
            return connection.answer(Self.refusal(of: error))
        }
        if let refusal = rights.refusal(of: request, by: connection.peer.user) {
            return connection.answer(Self.answer(.failure(refusal)))
        }
        guard let handler else {
            let failure = CommandFailure(.unavailable, ControlFaultText.ending)
            return connection.answer(Self.answer(.failure(failure)), thenEnd: true)
        }
        switch request {
        case .events: connection.follow([Self.answer(.success(JSONObject()))] + handler.currentEvents)
        case .pair(let request):
            noteChange()
            do throws(CommandFailure) {
                connection.converse(try handler.conversation(for: request), Self.answer(.success(JSONObject())))
            } catch {
                connection.answer(Self.answer(.failure(error)))
            }
        case .status:
            if let statusLine { return connection.answer(statusLine) }
            handler.handle(request) { [weak self, weak connection] result in
                let line = Self.answer(result).line
                self?.share(line)
                connection?.answer(line)
            }
        default:
            noteChange()
            handler.handle(request) { [weak connection] result in connection?.answer(Self.answer(result)) }
        }
    }

    private func share(_ line: [UInt8]) {
        statusLine = line
        _ = loop.schedule(at: .zero) { [weak self] in self?.noteChange() }
    }

    /// Returns the answer to a line that cannot be parsed.
    static func refusal(of fault: ControlFault) -> [UInt8] {
        answer(.failure(CommandFailure(.usage, ControlFaultText.faultyRequest, "\(fault)"))).line
    }

    static func answer(_ result: Result<JSONObject, CommandFailure>) -> JSONObject {
        var answer = JSONObject()
        switch result {
        case .success(let members):
            answer.add("ok", true)
            answer.add("version", ControlRequest.version)
            answer.add(membersOf: members)
        case .failure(let failure):
            answer.add("ok", false)
            answer.add("version", ControlRequest.version)
            answer.add("error", JSONObject(failure))
        }
        return answer
    }
}

/// Interface between the control socket's server and the daemon, used on the event loop's thread.
package protocol ControlHandler: AnyObject {
    /// Handles a request from a client that may make it.
    ///
    /// `reply` must be called exactly once, immediately or later, with the members of the answer other than `ok` and
    /// `version`. The server itself answers `events`, and begins a conversation for `pair`, so this is not called for
    /// either.
    func handle(_ request: ControlRequest, reply: @escaping (Result<JSONObject, CommandFailure>) -> Void)

    /// Creates the conversation for a `pair` request.
    func conversation(for request: PairingRequest) throws(CommandFailure) -> any ControlConversation

    /// First events of a new stream, which describe the current state.
    var currentEvents: [JSONObject] { get }
}

/// Conversation on one connection of the control socket (D-9).
package protocol ControlConversation: AnyObject {
    /// Starts the conversation; `say` sends a line to the client, and the last line closes the connection.
    func begin(_ say: @escaping (_ line: JSONObject, _ isLast: Bool) -> Void)
    /// Handles a line from the client, without its line feed.
    func take(_ line: [UInt8]) throws(ControlFault)
    /// Cancels the conversation, because the client disconnected before the last line.
    func cancel()
}
