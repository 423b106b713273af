// SPDX-License-Identifier: GPL-2.0-or-later
//
// The only file that reads errno. Every system call of the product goes through `SystemCall.run`, which repeats an
// interrupted call, returns "would block" as a value, and throws any other error. `Errno.recovery` determines the
// reaction to an error.

import CLinux
import Glibc
import SystemPackage

package enum NonBlocking<Value> {
    case done(Value)
    /// The call would have blocked (EAGAIN, EINPROGRESS).
    case wouldBlock
}

extension NonBlocking: Sendable where Value: Sendable {}
extension NonBlocking: Equatable where Value: Equatable {}

/// Wrappers for system calls; no other code reads errno.
enum SystemCall {
    /// Makes a call that returns −1 on failure; repeats the call if a signal has interrupted it.
    ///
    /// A test can answer a call that has a `site` (`CallScript`); release builds do not contain this code.
    static func run<Result: FixedWidthInteger & SignedInteger>(
        _ site: CallSite? = nil,
        _ call: () -> Result
    ) throws(Errno) -> Result {
        while true {
            let result = answer(of: call, at: site)
            guard result == -1 else { return result }
            let error = Errno(rawValue: errno)
            switch error.recovery(of: site?.kind ?? .file) {
            case .again: continue
            case .fault: preconditionFailure("a system call was given a wrong argument: \(error)")
            default: throw error
            }
        }
    }

    /// Makes a call only to check if the kernel supports it; returns the result and nil, or −1 and the error.
    ///
    /// The call may have an intentionally invalid argument; its error then shows if the call is supported.
    static func attempt(_ site: CallSite, _ call: () -> Int32) -> (result: Int32, error: Errno?) {
        while true {
            let result = answer(of: call, at: site)
            guard result == -1 else { return (result, nil) }
            let error = Errno(rawValue: errno)
            if error != .interrupted { return (-1, error) }
        }
    }

    /// Returns the result that a test has set for the call; otherwise makes the call.
    private static func answer<Result: FixedWidthInteger & SignedInteger>(
        of call: () -> Result,
        at site: CallSite?
    ) -> Result {
        #if DEBUG
            CallScript.run(site, call)
        #else
            call()
        #endif
    }

    static func runNonBlocking<Result: FixedWidthInteger & SignedInteger>(
        _ site: CallSite? = nil,
        _ call: () -> Result
    ) throws(Errno) -> NonBlocking<Result> {
        do {
            return .done(try run(site, call))
        } catch {
            guard error.recovery(of: site?.kind ?? .file) == .wait else { throw error }
            return .wouldBlock
        }
    }
}
