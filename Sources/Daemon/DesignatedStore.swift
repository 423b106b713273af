// SPDX-License-Identifier: GPL-2.0-or-later

package import Beacons
import LinuxIO
package import SystemPackage
package import Texts

/// The file in which the designated beacons outlive the program (D-29).
package struct DesignatedStore: Sendable {
    private static let limit = 256 * 1024

    /// The file.
    package let path: FilePath

    /// The beacons kept in a file, which need not be there.
    package init(_ path: FilePath) {
        self.path = path
    }

    /// The designated beacons; none without a file.
    package func read() throws(CommandFailure) -> DesignatedBeacons {
        let bytes: [UInt8]
        do throws(Errno) {
            bytes = try FileSystem.textContents(of: path.string, limit: Self.limit)
        } catch {
            if error.recovery(of: .file) == .absent { return DesignatedBeacons() }
            let isForbidden = error.recovery(of: .file) == .forbidden
            throw CommandFailure(
                isForbidden ? .permission : .inputOutput,
                BeaconFaultText.designatedUnreadable,
                "\(path)",
                "\(error)"
            )
        }
        do throws(DesignatedBeacons.UnreadableLine) {
            return try DesignatedBeacons(text: String(decoding: bytes, as: UTF8.self))
        } catch {
            throw CommandFailure(.configuration, BeaconFaultText.designatedGarbled, "\(path)", "\(error.line)")
        }
    }

    /// Keeps the beacons, or says why they could not be.
    package func keep(_ beacons: DesignatedBeacons) -> CommandFailure? {
        do throws(Errno) {
            try write(beacons)
            return nil
        } catch {
            return CommandFailure(designating: error, path)
        }
    }

    /// Keeps the beacons: whole and on the disk when this returns, and the earlier ones untouched when it throws.
    private func write(_ beacons: DesignatedBeacons) throws(Errno) {
        try FileSystem.makeDirectory(path.removingLastComponent(), mode: 0o755)
        try FileSystem.replace(path, with: Array(beacons.text.utf8), mode: 0o644)
    }

    /// Reads and changes them while no other process does so by this.
    package func locked<Result>(_ body: () throws -> Result) throws -> Result {
        let directory = path.removingLastComponent()
        try? FileSystem.makeDirectory(directory, mode: 0o755)
        return try DirectoryLock.hold(directory, refused: refusal, { () throws(any Error) in try body() })
    }

    private func refusal(_ failure: DirectoryLock.Failure) -> any Error {
        switch failure {
        case .held(let lock, let process): CommandFailure(lock: "\(lock)", heldBy: process, signal: nil)
        case .interrupted(let lock, let process, let signal):
            CommandFailure(lock: "\(lock)", heldBy: process, signal: signal)
        case .failed(let error): CommandFailure(designating: error, path)
        }
    }

    /// Forgets all of them; none is no error.
    package func remove() throws(CommandFailure) {
        do throws(Errno) {
            try FileSystem.remove(path)
        } catch {
            throw CommandFailure(designating: error, path)
        }
    }
}
