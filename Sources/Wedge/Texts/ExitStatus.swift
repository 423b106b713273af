// SPDX-License-Identifier: GPL-2.0-or-later

/// What a command says to the shell as it ends, after sysexits.h (D-10).
package enum ExitStatus: Int32, Sendable, CaseIterable {
    /// Everything was done.
    case success = 0
    /// The command line is wrong (EX_USAGE).
    case usage = 64
    /// No adapter, or Bluetooth is off (EX_UNAVAILABLE).
    case unavailable = 69
    /// A fault of the program (EX_SOFTWARE).
    case `internal` = 70
    /// Reading or writing failed (EX_IOERR).
    case inputOutput = 74
    /// Nothing came in time (EX_TEMPFAIL).
    case timeout = 75
    /// A permission is missing (EX_NOPERM).
    case permission = 77
    /// The configuration is wrong (EX_CONFIG).
    case configuration = 78
    /// SIGINT, as the shell says it.
    case interrupted = 130
    /// SIGTERM, as the shell says it.
    case terminated = 143
}

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
