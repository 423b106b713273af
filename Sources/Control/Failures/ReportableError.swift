// SPDX-License-Identifier: GPL-2.0-or-later

package import Texts

/// An error of a module below, with the failure that a command or an answer reports it as.
package protocol ReportableError: Error {
    var failure: CommandFailure { get }
}

extension CommandFailure {
    package init(_ error: some ReportableError) { self = error.failure }
}

/// Calls `body` with the arguments; its error is thrown as the failure of a command.
package func reporting<each Argument, Value, Failure: ReportableError>(
    _ body: (repeat each Argument) throws(Failure) -> Value,
    _ arguments: repeat each Argument
) throws(CommandFailure) -> Value {
    do throws(Failure) {
        return try body(repeat each arguments)
    } catch {
        throw error.failure
    }
}
