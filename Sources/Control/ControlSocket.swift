// SPDX-License-Identifier: GPL-2.0-or-later

package import LinuxIO
package import SystemPackage

/// The sockets of a daemon: one for its owner and its group, and one whose queue the group cannot fill.
package enum ControlSocket {
    /// Pause between two attempts while the queue is full, in milliseconds.
    private static let pause = 10

    /// The socket that only the owner and root can open.
    static func ownersPath(_ path: String) -> String { path + ".owner" }

    /// Connects to the daemon at a path; while its queue is full, tries again until `patience` is over.
    ///
    /// The owner's socket comes first, where this process may open it. Throws `wouldBlock` if the queue stays full.
    package static func connect(to path: String, patience: Duration) throws(Errno) -> LocalStream {
        let deadline = MonotonicClock.now + patience
        while true {
            do throws(Errno) {
                return try connect(to: path)
            } catch .wouldBlock where MonotonicClock.now < deadline {
                SystemThread.sleep(milliseconds: pause)
            }
        }
    }

    private static func connect(to path: String) throws(Errno) -> LocalStream {
        let own = ownersPath(path)
        // Another user's is no socket of this daemon, where others can make files beside it.
        guard let owner = FileSystem.owner(of: path), FileSystem.owner(of: own) == owner else {
            return try LocalStream(connectingTo: path)
        }
        do throws(Errno) {
            return try LocalStream(connectingTo: own)
        } catch .wouldBlock {
            throw .wouldBlock
        } catch {
            return try LocalStream(connectingTo: path)
        }
    }
}
