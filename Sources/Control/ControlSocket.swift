// SPDX-License-Identifier: GPL-2.0-or-later

package import LinuxIO
package import SystemPackage

/// Sockets of a daemon: one for its owner and the owner's group, and one whose queue the group cannot fill.
package enum ControlSocket {
    /// Pause between attempts while the queue is full, in milliseconds.
    private static let pause = 10

    /// Returns the path of the socket that only the owner and root can open.
    static func ownersPath(_ path: String) -> String { path + ".owner" }

    /// Connects to the daemon at a path; retries while the daemon's queue is full, until `patience` has elapsed.
    ///
    /// The owner's socket is tried first, if this process may open it. Throws `wouldBlock` if the queue stays full.
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
        // An `.owner` socket that belongs to another user is ignored, because that user may have created it to deceive
        // clients.
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
