// SPDX-License-Identifier: GPL-2.0-or-later

/// Why something is as it is, for people: what is wrong, and what mends it.
package struct Reason: Hashable, Sendable {
    /// What is wrong, in one sentence.
    package var cause: Message
    /// What mends it; nil where nothing is known to, or where it mends itself.
    package var remedy: Message?

    /// A reason.
    package init(_ cause: Message, remedy: Message? = nil) {
        self.cause = cause
        self.remedy = remedy
    }

    /// Why something that was tried has failed.
    package init(_ failure: CommandFailure) {
        self.init(failure.cause, remedy: failure.remedy)
    }

    /// The cause, and the remedy in brackets.
    package var message: Message { cause.followed(by: remedy) }
}
