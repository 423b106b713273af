// SPDX-License-Identifier: GPL-2.0-or-later

import Control
import LinuxIO
import Texts

/// Non-blocking connection to the daemon; answers arrive on the event loop, in the order of the requests.
final class TUIConnection {
    /// Maximum number of pending requests.
    ///
    /// This many lines always fit into the socket's buffer.
    static let mostWaiting = 32

    /// Called for each line that is not an answer, but an event.
    var onEvent: ((JSONValue) -> Void)?
    /// Called once, when the daemon has disconnected or has sent invalid JSON.
    var onEnd: ((CommandFailure) -> Void)?

    private let talk: ControlTalk
    private var waiting: [(Result<JSONValue, CommandFailure>) -> Void] = []
    private var isOpen = true

    init(to path: String, on loop: EventLoop) throws(CommandFailure) {
        // Do not wait here, because the pages retry by themselves.
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

    /// Disconnects from the daemon without calling `onEnd`.
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
