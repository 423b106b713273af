// SPDX-License-Identifier: GPL-2.0-or-later

import Devices
import LinuxIO
package import SystemPackage
package import Texts

// Failures in the communication between the daemon and the clients of its control socket.

extension CommandFailure {
    package init(controlSocket path: String, _ error: Errno) {
        switch error {
        case .addressInUse:
            if let holder = LocalStream.listener(at: path) {
                self.init(.unavailable, ControlFaultText.takenBy, path, "\(holder)")
            } else {
                self.init(.unavailable, ControlFaultText.taken, path)
            }
        case .noSuchFileOrDirectory, .notDirectory:
            self.init(.configuration, ControlFaultText.noDirectory, path, path.directory)
        case .permissionDenied, .readOnlyFileSystem, .notPermitted:
            self.init(.permission, ControlFaultText.notPermittedToMake, path, path.directory)
        case .fileNameTooLong: self.init(.configuration, ControlFaultText.pathTooLong, path)
        default: self.init(.inputOutput, ControlFaultText.notMade, path, "\(error)")
        }
    }

    package init(reachingDaemon path: String, _ error: Errno) {
        switch error {
        case .connectionRefused, .noSuchFileOrDirectory, .notDirectory: self = .noDaemon
        case .permissionDenied, .notPermitted: self.init(.permission, ControlFaultText.notPermittedToOpen, path)
        case .wouldBlock: self.init(.timeout, ControlFaultText.noMoreClients, path)
        case .fileNameTooLong, .invalidArgument: self.init(.usage, ControlFaultText.noPath, path.debugDescription)
        default: self.init(.inputOutput, ControlFaultText.unreachable, path, "\(error)")
        }
    }

    /// Creates the failure that is reported in the daemon's answer.
    package init(answer: JSONValue) {
        let error = answer["error"]
        let status = error?["code"]?.integer.flatMap { Int32(exactly: $0) }.flatMap(ExitStatus.init)
        self.init(
            // An answer without a known status is an internal error, never a success.
            status.flatMap { $0 == .success ? nil : $0 } ?? .internal,
            error?.message("cause") ?? ControlFaultText.refusedWithoutWord.message(),
            remedy: error?.message("remedy")
        )
        kind = error?["kind"]?.string.flatMap(Kind.init)
    }

    package static let noDaemon = CommandFailure(.unavailable, ControlFaultText.noDaemon, kind: .noDaemon)
}

extension JSONObject {
    /// Creates the member of an answer that `CommandFailure(answer:)` parses.
    init(_ failure: CommandFailure) {
        self.init()
        add("code", failure.status.rawValue)
        add("kind", failure.kind?.rawValue)
        add("cause", failure.cause)
        add("remedy", failure.remedy)
        addForms([("cause", failure.cause), ("remedy", failure.remedy)])
    }
}

extension String {
    fileprivate var directory: String {
        guard let slash = lastIndex(of: "/") else { return "." }
        return slash == startIndex ? "/" : String(self[..<slash])
    }
}
