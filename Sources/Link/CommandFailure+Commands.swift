// SPDX-License-Identifier: GPL-2.0-or-later

package import Configuration
import Devices
package import Texts

extension CommandQueue.Outcome {
    /// The reply, or why there is none; nothing that the device sent is in the failure (D-6).
    package func result(of command: Handshake.Command) -> Result<[UInt8], CommandFailure> {
        switch self {
        case .answered(let reply): .success(reply)
        case .unanswered:
            .failure(CommandFailure(.timeout, LinkFaultText.commandUnanswered, TimeText.text(command.timeout)))
        case .notWritten: .failure(CommandFailure(.inputOutput, LinkFaultText.commandNotWritten))
        case .lost(isWritten: true): .failure(CommandFailure(.unavailable, LinkFaultText.commandCut))
        case .lost(isWritten: false): .failure(CommandFailure(.unavailable, LinkFaultText.commandNotSent))
        }
    }
}
