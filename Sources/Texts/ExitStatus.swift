// SPDX-License-Identifier: GPL-2.0-or-later

/// The exit statuses of the commands, after sysexits.h (D-10).
package enum ExitStatus: Int32, Sendable, CaseIterable {
    /// The work was done.
    case success = 0
    /// The command line is wrong (EX_USAGE).
    case usage = 64
    /// There is no adapter, or Bluetooth is off (EX_UNAVAILABLE).
    case unavailable = 69
    /// The program has a fault (EX_SOFTWARE).
    case `internal` = 70
    /// Reading or writing failed (EX_IOERR).
    case inputOutput = 74
    /// The event did not come in time (EX_TEMPFAIL).
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
