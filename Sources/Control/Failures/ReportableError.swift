// SPDX-License-Identifier: GPL-2.0-or-later

package import LinuxIO
package import SystemPackage
package import Texts

/// Error of a lower-level module that can be converted to the failure that commands and answers report.
package protocol ReportableError: Error {
    var failure: CommandFailure { get }
}

/// Calls `body` with the arguments, and rethrows its error as a command failure.
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

/// Error in the contents of a `KeptFile`, which can be converted to a failure that names the file.
package protocol ReportableContents: Error, Equatable {
    static func unreadable(_ path: FilePath, _ error: Errno) -> CommandFailure
    static func unwritable(_ path: FilePath, _ error: Errno) -> CommandFailure
    /// Returns the failure for this error in the contents of the file at `path`.
    func failure(in path: FilePath) -> CommandFailure
}

extension KeptFile.Failure: ReportableError where Fault: ReportableContents {
    package var failure: CommandFailure {
        switch self {
        case .unreadable(let path, let error): Fault.unreadable(path, error)
        case .garbled(let path, let fault): fault.failure(in: path)
        case .unwritable(let path, let error): Fault.unwritable(path, error)
        case .locked(let lock, let process, let signal): .init(lock: "\(lock)", heldBy: process, signal: signal)
        case .inUse(let path): .init(.timeout, BeaconServerFaultText.inUse, "\(path)")
        case .foreign(let path): .init(.permission, BondFaultText.foreign, "\(path)", "\(path.removingLastComponent())")
        case .irregular(let path): .init(.permission, BondFaultText.irregular, "\(path)")
        }
    }
}

extension CommandFailure {
    package init(_ error: some ReportableError) { self = error.failure }

    /// Creates the error for a failed system call at `place`.
    ///
    /// If a permission is missing, the failure has the exit status for missing permissions, and the remedy `fix`.
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

    /// Creates the error for a failure to read or write a `KeptFile`.
    ///
    /// `forbidden` is the fault to report if a permission is missing; its argument is the directory.
    package init<Fault: FaultText>(_ path: FilePath, _ error: Errno, _ fault: Fault, forbidden: Fault? = nil) {
        if error.isForbidden, let forbidden {
            self.init(.permission, forbidden, "\(path)", "\(path.removingLastComponent())")
            return
        }
        let remedy: Message? =
            switch error {
            case _ where error.isForbidden: RemedyText.rootOrOwnerOf.message("\(path.removingLastComponent())")
            case .noSpace: RemedyText.makeRoom.message()
            case .readOnlyFileSystem: RemedyText.makeWritable.message()
            default: nil
            }
        self.init(error.isForbidden ? .permission : .inputOutput, fault, "\(path)", "\(error)", remedy: remedy)
    }
}

extension Errno {
    /// True if a permission is missing.
    package var isForbidden: Bool { recovery(of: .file) == .forbidden }
}
