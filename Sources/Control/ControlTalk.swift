// SPDX-License-Identifier: GPL-2.0-or-later

package import LinuxIO
package import Texts

/// A client's side of a conversation with the daemon, on an event loop.
///
/// It is used on the loop's thread.
package final class ControlTalk {
    /// The handler of each line of the daemon.
    package var onLine: ((ControlClient.Answer) -> Void)?
    /// The handler that is called once when the daemon has closed the connection, or it is broken.
    package var onEnd: ((CommandFailure) -> Void)?

    private var client: ControlClient
    private let loop: EventLoop
    private var registration: EventLoop.Registration?

    /// Takes over the connection of a client whose request the daemon has taken; lines that have come already are handed on
    /// from the loop.
    package init(_ client: consuming ControlClient, on loop: EventLoop) throws(CommandFailure) {
        self.client = client
        self.loop = loop
        registration = try self.client.watch(on: loop) { [weak self] in self?.read() }
        _ = loop.schedule(at: .zero) { [weak self] in self?.read() }
    }

    deinit { close() }

    /// Sends a line, without its end.
    package func say(_ line: String) {
        guard registration != nil else { return }
        do throws(CommandFailure) {
            try client.say(line)
        } catch {
            end(error)
        }
    }

    /// Ends the conversation; no handler is called any more.
    package func close() {
        (onLine, onEnd) = (nil, nil)
        if let registration { client.unwatch(registration, on: loop) }
        registration = nil
    }

    private func read() {
        guard registration != nil else { return }
        var lines: [ControlClient.Answer] = []
        var failure: CommandFailure?
        do throws(CommandFailure) {
            try client.takeArrived { lines.append($0) }
        } catch {
            failure = error
        }
        // A handler may answer, or end the conversation.
        for line in lines { onLine?(line) }
        if let failure { end(failure) }
    }

    private func end(_ failure: CommandFailure) {
        let handler = onEnd
        close()
        handler?(failure)
    }
}
