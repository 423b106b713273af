// SPDX-License-Identifier: GPL-2.0-or-later

package import Configuration
import Control
import Devices
package import Link
import LinuxIO
import SystemPackage
package import Texts

extension OutputError: ReportableError {
    package var failure: CommandFailure {
        switch self {
        case .notOpened(let path, let error):
            let isTaken = error == .fileExists || error == .addressInUse
            if error == .addressInUse, let holder = LocalStream.listener(at: path) {
                return .init(.configuration, FileFaultText.endTaken, path, "\(holder)")
            }
            return .init(
                error.isForbidden ? .permission : isTaken ? .configuration : .inputOutput,
                FileFaultText.endNotMade,
                path,
                "\(error)",
                remedy: isTaken ? RemedyText.otherPath.message() : nil
            )
        case .noScreen(let error): return .init(.internal, KeyboardFaultText.noScreen, "\(error)")
        }
    }
}

extension DeviceLink.SendError: ReportableError {
    package var failure: CommandFailure {
        switch self {
        case .noLink: .init(.unavailable, LinkFaultText.noLink)
        case .noCharacteristic: .init(.unavailable, LinkFaultText.noOutput)
        case .notWritable: .init(.inputOutput, LinkFaultText.outputNotWritable)
        case .queueFull(let unsent, let count): .init(.inputOutput, LinkFaultText.tooMuchWaits, "\(unsent)", "\(count)")
        }
    }
}

extension CommandQueue.Outcome {
    /// Returns the reply, or the failure without the bytes that the device sent (D-6).
    package func result(of command: ChatScript.Command) -> Result<[UInt8], CommandFailure> {
        switch self {
        case .answered(let reply): .success(reply)
        case .unanswered: .failure(.init(.timeout, LinkFaultText.commandUnanswered, TimeText.text(command.timeout)))
        case .notWritten: .failure(.init(.inputOutput, LinkFaultText.commandNotWritten))
        case .lost(isWritten: true): .failure(.init(.unavailable, LinkFaultText.commandCut))
        case .lost(isWritten: false): .failure(.init(.unavailable, LinkFaultText.commandNotSent))
        }
    }
}
