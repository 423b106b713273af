// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothPackets
import LinuxIO
import SystemPackage

/// A question to the kernel which commands and events its management protocol has; it changes nothing.
package enum ManagementSurvey {
    /// Asks the kernel, and waits for the answer on an event loop of its own.
    package static func take() throws(AdapterError) -> SupportedManagement {
        let command = ManagementCommand.readSupportedCommands
        var answer = ManagementChannel.Reply.timedOut
        do throws(Errno) {
            let loop = try EventLoop()
            let management = try ManagementChannel(on: loop)
            management.send(command) { reply in
                answer = reply
                loop.stop()
            }
            try loop.run()
            management.close()
        } catch {
            throw AdapterError(error, "ask the kernel what it has")
        }
        switch answer {
        case .timedOut: throw .silent(command.opcode)
        case .status(.success, let parameters):
            do throws(DecodingError) {
                return try SupportedManagement(returnParameters: parameters.span)
            } catch {
                throw AdapterError(.malformed(error))
            }
        case .status(let status, _): throw .refused("\(command.opcode)", "\(status)")
        }
    }
}
