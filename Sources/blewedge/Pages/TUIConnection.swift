// SPDX-License-Identifier: GPL-2.0-or-later

import Configuration
import Control
import Daemon
import LinuxIO
import SystemPackage
import Texts

/// A connection to the daemon that waits for nothing: answers come on the event loop, in the order of the questions.
final class TUIConnection {
    /// The most questions that wait for their answers.
    static let mostWaiting = 32

    /// Called with each line that is no answer: an event.
    var onEvent: ((JSONValue) -> Void)?
    /// Called once, when the daemon has gone or says what is no JSON.
    var onEnd: ((CommandFailure) -> Void)?

    private let loop: EventLoop
    private let stream: LocalStream
    private var registration: EventLoop.Registration?
    private var input = LineSplitter(longestLine: ControlClient.mostBytes + 1, ends: .lineFeed)
    private var output = OutgoingBuffer(capacity: mostWaiting * (ControlLine.mostBytes + 1))
    private var waiting: [(Result<JSONValue, CommandFailure>) -> Void] = []
    private var isWaitingToWrite = false

    init(to path: String, on loop: EventLoop) throws(CommandFailure) {
        self.loop = loop
        do throws(Errno) {
            // The pages try again themselves.
            stream = try ControlSocket.connect(to: path, patience: .zero)
        } catch {
            throw CommandFailure(reachingDaemon: path, error)
        }
        do throws(Errno) {
            registration = try loop.watch(stream.descriptor, for: .readable) { [unowned self] readiness in
                ready(readiness)
            }
        } catch {
            throw CommandFailure(.inputOutput, ControlFaultText.cannotWait, "\(error)")
        }
    }

    deinit { end() }

    func ask(
        _ request: ControlRequest,
        completion: @escaping (Result<JSONValue, CommandFailure>) -> Void
    ) -> Bool {
        guard registration != nil, waiting.count < Self.mostWaiting, output.append(request.line + "\n") else {
            return false
        }
        waiting.append(completion)
        write()
        return true
    }

    /// Lets the daemon go, without a word to anybody.
    func end() {
        guard let registration else { return }
        self.registration = nil
        loop.unwatch(registration, stream.descriptor)
    }

    private func ready(_ readiness: EventLoop.Readiness) {
        if readiness.contains(.writable) { write() }
        guard registration != nil, readiness.hasInput else { return }
        var buffer = [UInt8](repeating: 0, count: 16_384)
        do throws(Errno) {
            guard case .done(let count) = try stream.descriptor.read(into: &buffer) else { return }
            guard count > 0 else { return fail(.noDaemon) }
            input.append(buffer.prefix(count))
        } catch {
            return fail(.noDaemon)
        }
        takeLines()
    }

    private func takeLines() {
        while registration != nil, let line = input.next() {
            guard line.isLineEnd else {
                return fail(
                    CommandFailure(.inputOutput, ControlFaultText.answerTooLong, "\(ControlClient.mostBytes)")
                )
            }
            do {
                take(try JSONValue(line.bytes))
            } catch {
                fail(CommandFailure(.inputOutput, ControlFaultText.noJSON, "\(error)"))
            }
        }
    }

    private func take(_ value: JSONValue) {
        guard let isDone = value["ok"]?.bool else {
            onEvent?(value)
            return
        }
        guard !waiting.isEmpty else { return }
        let completion = waiting.removeFirst()
        completion(isDone ? .success(value) : .failure(CommandFailure(answer: value)))
    }

    private func write() {
        do throws(Errno) {
            let isDone = try output.drain { bytes throws(Errno) in try stream.write(bytes) }
            guard let registration, isWaitingToWrite == isDone else { return }
            isWaitingToWrite = !isDone
            try loop.change(registration, stream.descriptor, to: isDone ? .readable : [.readable, .writable])
        } catch {
            // The daemon may have said why before it went: that is read next, and then the end.
            output.removeAll()
        }
    }

    private func fail(_ failure: CommandFailure) {
        end()
        onEnd?(failure)
    }
}
