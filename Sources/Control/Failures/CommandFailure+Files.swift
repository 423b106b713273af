// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
package import Devices
package import LinuxIO
import SystemPackage
package import Texts

// The failures of the files that outlive the program, and of their directories.

extension KeptFile.Failure: ReportableError where Fault == SelectedDevice.Fault {
    package var failure: CommandFailure {
        switch self {
        case .unreadable(let path, let error) where error.isForbidden:
            .init(.permission, FileFaultText.choiceForbidden, "\(path)", "\(error)")
        case .unreadable(let path, let error):
            .init(.inputOutput, FileFaultText.choiceUnreadable, "\(path)", "\(error)")
        case .garbled(let path, let fault):
            .init(.configuration, FileFaultText.choiceGarbled, "\(path)", "\(fault.line)", fault.cause)
        case .unwritable(let path, let error):
            .init(path, error, FileFaultText.choiceNotKept, forbidden: .choiceNotPermitted)
        case .locked(let lock, let process, let signal): .init(lock: "\(lock)", heldBy: process, signal: signal)
        case .inUse(let path): .init(lock: "\(path)", heldBy: 0, signal: nil)
        }
    }
}

extension BondStore.Failure: ReportableError {
    package var failure: CommandFailure {
        switch self {
        case .foreign(let path): .init(.permission, BondFaultText.foreign, "\(path)", "\(path.removingLastComponent())")
        case .irregular(let path): .init(.permission, BondFaultText.irregular, "\(path)")
        case .unreadable(let path, let error): .init(path, error, BondFaultText.unreadable, forbidden: .notPermitted)
        case .unwritable(let path, let error): .init(path, error, BondFaultText.notKept, forbidden: .notPermitted)
        case .known(let device): .init(.usage, BondFaultText.known, "\(device)", "\(device.address)")
        case .full: .init(.unavailable, BondFaultText.full, "\(BondStore.mostBonds)")
        case .locked(let lock, let process, let signal): .init(lock: "\(lock)", heldBy: process, signal: signal)
        }
    }
}

extension ChoiceFollower.WatchError: ReportableError {
    package var failure: CommandFailure {
        CommandFailure(
            error,
            else: .inputOutput,
            FileFaultText.choiceNotFollowed,
            "\(directory)",
            fix: .rootOrOwnerOf,
            "\(directory)"
        )
    }
}

extension DaemonPaths.Refusal: ReportableError {
    package var failure: CommandFailure {
        switch self {
        case .foreign(let path, let owner, nil): .init(.permission, FileFaultText.stateOfOthers, path, "\(owner)")
        case .foreign(let path, let owner, let file?):
            .init(.permission, FileFaultText.fileOfOthers, path, "\(owner)", "\(file)")
        case .writable(let path, let mode, nil):
            .init(.permission, FileFaultText.stateWritable, path, String(mode, radix: 8))
        case .writable(let path, let mode, let file?):
            .init(.permission, FileFaultText.fileWritable, path, String(mode, radix: 8), "\(file)")
        case .noRuntimeDirectory(let path, let error):
            .init(error, else: .inputOutput, ControlFaultText.noRuntimeDirectory, "\(path)", fix: .setRuntimeDirectory)
        }
    }
}

extension DaemonPaths {
    /// The directories of this process.
    package static func current() throws(CommandFailure) -> DaemonPaths {
        guard let paths = DaemonPaths(user: ProcessFacts.user, environment: ProcessFacts.environment) else {
            throw CommandFailure(.configuration, FileFaultText.noPlace)
        }
        return paths
    }

    package static func reachable() throws(CommandFailure) -> [DaemonPaths] {
        guard let places = reachable(user: ProcessFacts.user, environment: ProcessFacts.environment) else {
            throw CommandFailure(.configuration, FileFaultText.noPlace)
        }
        return places
    }
}

extension EventLoop {
    /// The loop of a command; throws the failure of a command where the kernel makes none.
    package static func ofCommand() throws(CommandFailure) -> EventLoop {
        do throws(Errno) {
            return try EventLoop()
        } catch {
            throw CommandFailure(.internal, CommandFaultText.noLoop, "\(error)")
        }
    }
}
