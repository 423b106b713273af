// SPDX-License-Identifier: GPL-2.0-or-later

package import LinuxIO
import SystemPackage
package import Texts

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
