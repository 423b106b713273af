// SPDX-License-Identifier: GPL-2.0-or-later

import LinuxIO
import SystemPackage
import Texts
import Wedge

/// A connection to the daemon that waits for nothing: answers come on the event loop, in the order of the questions.
///
/// To be used on the loop's thread.
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
    private var input: [UInt8] = []
    private var output: [UInt8] = []
    private var waiting: [(Result<JSONValue, CommandFailure>) -> Void] = []
    private var isWaitingToWrite = false

    /// Connects to the daemon at a path.
    init(to path: String, on loop: EventLoop) throws(CommandFailure) {
        self.loop = loop
        do throws(Errno) {
            stream = try LocalStream(connectingTo: path)
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

    /// Asks; false where too much is asked already, and nothing comes of it.
    func ask(
        _ request: ControlRequest,
        completion: @escaping (Result<JSONValue, CommandFailure>) -> Void
    ) -> Bool {
        guard registration != nil, waiting.count < Self.mostWaiting else { return false }
        waiting.append(completion)
        output += Array((request.line + "\n").utf8)
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
            input += buffer.prefix(count)
        } catch {
            return fail(.noDaemon)
        }
        takeLines()
    }

    private func takeLines() {
        while registration != nil, let end = input.firstIndex(of: UInt8(ascii: "\n")) {
            let line = Array(input.prefix(end))
            input.removeFirst(end + 1)
            do {
                take(try JSONValue(line))
            } catch {
                fail(CommandFailure(.inputOutput, ControlFaultText.noJSON, "\(error)"))
            }
        }
        if input.count > ControlClient.mostBytes {
            fail(CommandFailure(.inputOutput, ControlFaultText.answerTooLong, "\(ControlClient.mostBytes)"))
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
            while !output.isEmpty, case .done(let count) = try stream.write(output) { output.removeFirst(count) }
            guard let registration, isWaitingToWrite == output.isEmpty else { return }
            isWaitingToWrite = !output.isEmpty
            try loop.change(registration, stream.descriptor, to: output.isEmpty ? .readable : [.readable, .writable])
        } catch {
            // The daemon may have said why before it went: that is read next, and then the end.
            output = []
        }
    }

    private func fail(_ failure: CommandFailure) {
        end()
        onEnd?(failure)
    }
}
