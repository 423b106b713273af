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
