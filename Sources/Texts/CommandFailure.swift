// SPDX-License-Identifier: GPL-2.0-or-later

/// The failure of a command: its exit status, its cause, and the remedy.
package struct CommandFailure: Error, Equatable, Sendable {
    /// The failures that a program may go on from, as answers on the control socket name them.
    package enum Kind: String, Sendable {
        /// No daemon runs.
        case noDaemon = "no-daemon"
        /// Nobody has said that anybody may be the device.
        case openDevice = "open-device"
        /// Another device is chosen, and nobody said that it may be given up.
        case chosenAlready = "chosen-already"
    }

    /// The exit status of the command.
    package var status: ExitStatus
    /// The cause, in one sentence.
    package var cause: Message
    /// The remedy, in one sentence; nil if none is known.
    package var remedy: Message?
    /// Which of the failures it is that a program may go on from; nil for any other.
    package var kind: Kind?

    /// Makes a failure from its parts.
    package init(_ status: ExitStatus, _ cause: Message, remedy: Message? = nil) {
        self.status = status
        self.cause = cause
        self.remedy = remedy
    }

    /// Makes a failure from a text of the table with its arguments; `remedy` replaces the remedy of the table.
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
        kind = fault.kind
    }

    /// Another process, 0 if unknown, holds a lock file, and the time limit has passed or a signal has come.
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
