// SPDX-License-Identifier: GPL-2.0-or-later

/// A failure of a command: its exit status, cause and remedy.
package struct CommandFailure: Error, Equatable, Sendable {
    /// The kinds of failures that a client may handle; the raw values are their names on the control socket.
    package enum Kind: String, Sendable {
        case noDaemon = "no-daemon"
        /// The device is unpaired, and the user has not accepted that.
        case openDevice = "open-device"
        /// The device is a keyboard, which must be paired first.
        case unpairedKeyboard = "unpaired-keyboard"
        /// Another device is selected, and replacing it was not confirmed.
        case chosenAlready = "chosen-already"
    }

    package var status: ExitStatus
    /// Cause, in one sentence.
    package var cause: Message
    /// Remedy, in one sentence; nil if none is known.
    package var remedy: Message?
    /// The kind of the failure if a client may handle it; nil otherwise.
    package var kind: Kind?

    package init(_ status: ExitStatus, _ cause: Message, remedy: Message? = nil) {
        self.status = status
        self.cause = cause
        self.remedy = remedy
    }

    /// Creates a failure from a text in the table, with its arguments; `remedy` replaces the table's remedy.
    package init(
        _ status: ExitStatus,
        _ fault: some FaultText,
        _ arguments: any MessageArgument...,
        remedy: Message? = nil,
        kind: Kind? = nil
    ) {
        self.init(status, fault.message(with: arguments), remedy: remedy ?? fault.remedyMessage(with: arguments))
        self.kind = kind
    }

    /// Creates the failure for a wait for a lock file that a time-out or a signal has ended.
    ///
    /// `process` is the process that held the lock; 0 if it is unknown.
    package init(lock: String, heldBy process: Int32, signal: Int32?) {
        let status: ExitStatus =
            switch signal {
            case nil: .timeout
            case 2: .interrupted
            default: .terminated
            }
        if process == 0 {
            self.init(status, FileFaultText.locked, lock)
        } else {
            self.init(status, FileFaultText.lockedBy, lock, "\(process)")
        }
    }
}

/// Exit statuses of the commands, based on sysexits.h (D-10).
package enum ExitStatus: Int32, Sendable, CaseIterable {
    case success = 0
    /// The command line is wrong (EX_USAGE).
    case usage = 64
    /// There is no adapter, or Bluetooth is off (EX_UNAVAILABLE).
    case unavailable = 69
    /// Internal error (EX_SOFTWARE).
    case `internal` = 70
    /// Reading or writing failed (EX_IOERR).
    case inputOutput = 74
    /// An operation timed out (EX_TEMPFAIL).
    case timeout = 75
    /// A permission is missing (EX_NOPERM).
    case permission = 77
    /// The configuration is wrong (EX_CONFIG).
    case configuration = 78
    /// The command was ended by SIGINT: 128 + 2, as in a shell.
    case interrupted = 130
    /// The command was ended by SIGTERM: 128 + 15, as in a shell.
    case terminated = 143
}

/// The reason for a state, for people: a cause and a remedy.
package struct Reason: Hashable, Sendable {
    /// Cause, in one sentence.
    package var cause: Message
    /// Remedy; nil if none is known or needed.
    package var remedy: Message?

    package init(_ cause: Message, remedy: Message? = nil) {
        self.cause = cause
        self.remedy = remedy
    }

    package init(_ failure: CommandFailure) {
        self.init(failure.cause, remedy: failure.remedy)
    }

    package var message: Message { cause.followed(by: remedy) }
}
