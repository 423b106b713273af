// SPDX-License-Identifier: GPL-2.0-or-later

import Configuration
import Control
import Daemon
import Devices
import Glibc
import LinuxIO
import SystemPackage
import TestSupport
import Texts
import TextsSupport

/// A daemon without a radio: it answers what it is told to, when it is told to.
final class ScriptedHandler: ControlHandler {
    /// The requests that came.
    var requests: [ControlRequest] = []
    /// How a request is answered; nil keeps the reply for later.
    var answer: (ControlRequest) -> Result<JSONObject, CommandFailure>? = { request in
        var object = JSONObject()
        object.add("did", request.line)
        return .success(object)
    }
    /// The replies that are outstanding.
    var replies: [(Result<JSONObject, CommandFailure>) -> Void] = []
    var currentEvents: [JSONObject] = []
    /// The conversations that were begun.
    var conversations: [ScriptedConversation] = []
    /// Called after each request.
    var onRequest: () -> Void = {}

    func handle(_ request: ControlRequest, reply: @escaping (Result<JSONObject, CommandFailure>) -> Void) {
        requests.append(request)
        if let result = answer(request) { reply(result) } else { replies.append(reply) }
        onRequest()
    }
}

extension ScriptedHandler {
    func conversation(for request: PairingRequest) throws(CommandFailure) -> any ControlConversation {
        guard conversations.allSatisfy(\.isOver) else { throw CommandFailure(.timeout, "busy") }
        let conversation = ScriptedConversation { [weak self] in self?.onRequest() }
        conversations.append(conversation)
        return conversation
    }
}

/// A conversation in which a test says the lines.
final class ScriptedConversation: ControlConversation {
    /// Sends a line.
    private(set) var say: (JSONObject, Bool) -> Void = { _, _ in }
    /// The lines that the client has sent.
    private(set) var heard: [String] = []
    private(set) var isCancelled = false
    private(set) var isOver = false
    private let onChange: () -> Void

    init(_ onChange: @escaping () -> Void) { self.onChange = onChange }

    func begin(_ say: @escaping (JSONObject, Bool) -> Void) {
        self.say = { [unowned self] line, isLast in
            isOver = isOver || isLast
            say(line, isLast)
        }
    }

    /// Takes all but a line of `bad`.
    func take(_ line: [UInt8]) throws(ControlFault) {
        let words = try ControlLine.words(line)
        heard.append(String(decoding: line, as: UTF8.self))
        onChange()
        if words == [Array("bad".utf8)] { _ = try ControlRequest(line: line) }
    }

    func cancel() {
        (isCancelled, isOver) = (true, true)
        onChange()
    }
}

/// One client of a control server on the same event loop.
final class ControlPeer {
    private let loop: EventLoop
    private let stream: LocalStream
    private var registration: EventLoop.Registration?
    private var rest: [UInt8] = []
    private var bytes: [UInt8] = []
    /// False for a client that does not read what it is sent.
    private let isReading: Bool
    /// True when the server has closed the connection.
    private(set) var isClosed = false
    /// The bytes that could be sent.
    private(set) var sent = 0
    /// Called after everything that happens.
    var onChange: () -> Void = {}

    init(_ path: String, on loop: EventLoop, isReading: Bool = true) throws {
        self.loop = loop
        self.isReading = isReading
        stream = try LocalStream(connectingTo: path)
        registration = try loop.watch(stream.descriptor, for: isReading ? .readable : []) { [unowned self] readiness in
            ready(readiness)
        }
    }

    deinit { close() }

    /// How many whole lines came: counted as they come, because who waits for one looks after each thing that happens.
    private(set) var lineCount = 0
    /// The whole lines that came.
    var lines: [String] {
        String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            .map(String.init)
    }

    /// The lines, read.
    var values: [JSONValue] { lines.compactMap { try? JSONValue(Array($0.utf8)) } }

    func send(_ text: String) throws { try send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) throws {
        rest += bytes
        try write()
    }

    func finishWriting() throws { try stream.finishWriting() }

    /// The bytes that the kernel holds for the server at most, give or take a write (SO_SNDBUF).
    var sendBuffer: Int {
        var size: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(stream.descriptor.unownedNumber, SOL_SOCKET, SO_SNDBUF, &size, &length)
        return Int(size)
    }

    /// Reads all that waits now.
    func read() {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while !isClosed {
            do throws(Errno) {
                guard case .done(let count) = try stream.descriptor.read(into: &buffer) else { return }
                bytes += buffer.prefix(count)
                lineCount += buffer.prefix(count).count { $0 == 0x0A }
                isClosed = count == 0
            } catch {
                isClosed = true
            }
        }
    }

    /// Goes without a word.
    func close() {
        if let registration { loop.unwatch(registration, stream.descriptor) }
        registration = nil
        shutdown(stream.descriptor.unownedNumber, Int32(SHUT_RDWR))
    }

    private func ready(_ readiness: EventLoop.Readiness) {
        if readiness.contains(.writable) { try? write() }
        if isReading || readiness.contains(.hangUp) { read() }
        if isClosed { close() }
        onChange()
    }

    private func write() throws {
        do throws(Errno) {
            while !rest.isEmpty, case .done(let count) = try stream.write(rest) {
                rest.removeFirst(count)
                sent += count
            }
        } catch {
            // The server is gone: what it said before is read.
            rest = []
        }
        if let registration {
            var interest: EventLoop.Readiness = isReading ? .readable : []
            if !rest.isEmpty { interest.insert(.writable) }
            try loop.change(registration, stream.descriptor, to: interest)
        }
    }
}

/// A server, its handler and its clients on one loop.
final class ControlBench {
    let directory: TestDirectory
    let loop: EventLoop
    let handler = ScriptedHandler()
    let server: ControlServer
    private var peers: [ControlPeer] = []
    private var condition: () -> Bool = { true }

    var path: String { directory("control") }

    init(allowsKeys: Bool = true, limits: ControlServer.Limits = ControlServer.Limits()) throws {
        directory = try TestDirectory()
        loop = try EventLoop()
        server = try ControlServer(
            at: directory("control"),
            allowsKeys: allowsKeys,
            limits: limits,
            on: loop,
            handler: handler
        )
        // The server cancels its conversations when it goes with the bench.
        handler.onRequest = { [weak self] in self?.check() }
    }

    func connect(isReading: Bool = true) throws -> ControlPeer {
        let peer = try ControlPeer(path, on: loop, isReading: isReading)
        peer.onChange = { [unowned self] in check() }
        peers.append(peer)
        return peer
    }

    /// Runs the loop until something holds that a client or the handler brings about; false after `limit`.
    func run(until condition: @escaping () -> Bool, limit: Duration = .seconds(20)) throws -> Bool {
        if condition() { return true }
        self.condition = condition
        // What it looks at may hold the bench.
        defer { self.condition = { true } }
        let timer = loop.schedule(at: MonotonicClock.now + limit) { [unowned self] in loop.stop() }
        try loop.run()
        loop.cancel(timer)
        return condition()
    }

    /// Runs the loop for a time in which something would happen if it could.
    func run(for time: Duration) throws {
        _ = try run(until: { false }, limit: time)
    }

    private func check() {
        if condition() { loop.stop() }
    }
}
