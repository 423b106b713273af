// SPDX-License-Identifier: GPL-2.0-or-later

/// Why a command ends before its work is done: what is wrong, and what mends it.
package struct CommandFailure: Error, Equatable, Sendable {
    /// What the command says to the shell.
    package var status: ExitStatus
    /// What is wrong, in one sentence.
    package var cause: Message
    /// What mends it, in one sentence; nil where nothing is known to.
    package var remedy: Message?

    /// A failure with all that is to be said of it.
    package init(_ status: ExitStatus, _ cause: Message, remedy: Message? = nil) {
        self.status = status
        self.cause = cause
        self.remedy = remedy
    }

    /// A failure of the table, told of `arguments`; `remedy` is another one than the table's.
    package init(
        _ status: ExitStatus,
        _ fault: some FaultText,
        _ arguments: any MessageArgument...,
        remedy: Message? = nil
    ) {
        self.init(
            status,
            fault.message(with: arguments),
            remedy: remedy ?? fault.remedyMessage(with: arguments)
        )
    }
}
