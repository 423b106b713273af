// SPDX-License-Identifier: GPL-2.0-or-later
//
// The only place where errno is read. Every system call of the product goes through `SystemCall.run`, which repeats
// an interrupted call, makes "would block" a value, and throws everything else. EBADF and EFAULT can only be our own
// mistake and stop the program.

import CLinux
import Glibc
import SystemPackage

/// The result of a call on a non-blocking descriptor.
package enum NonBlocking<Value> {
    /// The call did its work.
    case done(Value)
    /// The call would have had to wait (EAGAIN, EINPROGRESS).
    case wouldBlock
}

extension NonBlocking: Sendable where Value: Sendable {}
extension NonBlocking: Equatable where Value: Equatable {}

/// The one place that looks at errno.
enum SystemCall {
    /// Runs a call that answers −1 on failure, again when a signal interrupted it.
    static func run<Result: FixedWidthInteger & SignedInteger>(_ call: () -> Result) throws(Errno) -> Result {
        while true {
            let result = call()
            guard result == -1 else { return result }
            let error = Errno(rawValue: errno)
            switch error {
            case .interrupted: continue
            case .badFileDescriptor, .badAddress:
                preconditionFailure("a system call was given a wrong argument: \(error)")
            default: throw error
            }
        }
    }

    /// Runs a call on a non-blocking descriptor.
    static func runNonBlocking<Result: FixedWidthInteger & SignedInteger>(
        _ call: () -> Result
    ) throws(Errno) -> NonBlocking<Result> {
        do {
            return .done(try run(call))
        } catch .wouldBlock, .nowInProgress {
            return .wouldBlock
        } catch {
            throw error
        }
    }
}
