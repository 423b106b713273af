// SPDX-License-Identifier: GPL-2.0-or-later

extension Handshake {
    /// One command.
    package struct Command: Hashable, Sendable {
        /// The shortest and the longest time-out.
        package static let timeouts = Duration.milliseconds(10)...Duration.seconds(60)
        /// The most attempts.
        package static let mostAttempts = 10

        /// The bytes to write; nil where the device speaks first.
        package var send: HexTemplate?
        /// The reply to wait for; nil to go on as soon as it is written.
        package var expect: HexTemplate?
        /// How long the reply may take.
        package var timeout: Duration
        /// How often it is written before the reply is given up.
        package var attempts: Int

        /// A command, written once.
        package init(
            send: HexTemplate?,
            expect: HexTemplate?,
            timeout: Duration = .seconds(2),
            attempts: Int = 1
        ) {
            self.send = send
            self.expect = expect
            self.timeout = timeout
            self.attempts = attempts
        }
    }
}
