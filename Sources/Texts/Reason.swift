// SPDX-License-Identifier: GPL-2.0-or-later

/// The reason for a state, for people: a cause and a remedy.
package struct Reason: Hashable, Sendable {
    /// The cause, in one sentence.
    package var cause: Message
    /// The remedy; nil if none is known or none is needed.
    package var remedy: Message?

    /// Makes a reason from its parts.
    package init(_ cause: Message, remedy: Message? = nil) {
        self.cause = cause
        self.remedy = remedy
    }

    /// Makes the reason of a failed command.
    package init(_ failure: CommandFailure) {
        self.init(failure.cause, remedy: failure.remedy)
    }

    /// The cause, followed by the remedy in brackets.
    package var message: Message { cause.followed(by: remedy) }
}
