// SPDX-License-Identifier: GPL-2.0-or-later

import LinuxIO
package import SystemPackage
package import Texts

/// An error of a module below, with the failure that a command or an answer reports it as.
package protocol ReportableError: Error {
    var failure: CommandFailure { get }
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

extension CommandFailure {
    package init(_ error: some ReportableError) { self = error.failure }

    /// The failure of a system call at `place`; a missing permission has its own status, and the remedy `fix`.
    package init(
        _ error: Errno,
        else status: ExitStatus,
        _ fault: some FaultText,
        _ place: String,
        fix: RemedyText? = nil,
        _ arguments: any MessageArgument...
    ) {
        let isForbidden = error == .permissionDenied
        let remedy = isForbidden ? fix?.message(with: arguments) : nil
        self.init(isForbidden ? .permission : status, fault, place, "\(error)", remedy: remedy)
    }

    /// A kept file cannot be read or written; what a missing permission is said with names its directory.
    package init<Fault: FaultText>(_ path: FilePath, _ error: Errno, _ fault: Fault, forbidden: Fault) {
        if error.isForbidden {
            self.init(.permission, forbidden, "\(path)", "\(path.removingLastComponent())")
            return
        }
        let remedy: RemedyText? =
            switch error {
            case .noSpace: .makeRoom
            case .readOnlyFileSystem: .makeWritable
            default: nil
            }
        self.init(.inputOutput, fault, "\(path)", "\(error)", remedy: remedy?.message())
    }
}

extension Errno {
    /// True if a permission is missing.
    package var isForbidden: Bool { recovery(of: .file) == .forbidden }
}
