// SPDX-License-Identifier: GPL-2.0-or-later

import Control
import LinuxIO
import Texts

/// A connection to the daemon that waits for no answer: they come on the event loop, in the order of the questions.
final class TUIConnection {
    /// The most questions that wait for their answers: so few lines always fit into the socket.
    static let mostWaiting = 32

    /// Called with each line that is no answer: an event.
    var onEvent: ((JSONValue) -> Void)?
    /// Called once, when the daemon has gone or says what is no JSON.
    var onEnd: ((CommandFailure) -> Void)?

    private let talk: ControlTalk
    private var waiting: [(Result<JSONValue, CommandFailure>) -> Void] = []
    private var isOpen = true

    init(to path: String, on loop: EventLoop) throws(CommandFailure) {
        // The pages try again themselves.
        talk = try ControlTalk(try ControlClient(at: [path], patience: .zero), on: loop)
        talk.onLine = { [unowned self] answer in take(answer.value) }
        talk.onEnd = { [unowned self] failure in
            isOpen = false
            onEnd?(failure.kind == .noDaemon ? .noDaemon : failure)
        }
    }

    deinit { end() }

    func ask(_ request: ControlRequest, completion: @escaping (Result<JSONValue, CommandFailure>) -> Void) -> Bool {
        guard isOpen, waiting.count < Self.mostWaiting else { return false }
        waiting.append(completion)
        talk.say(request.line)
        return isOpen
    }

    /// Lets the daemon go, without a word to anybody.
    func end() {
        isOpen = false
        talk.close()
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
}
