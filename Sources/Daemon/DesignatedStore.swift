// SPDX-License-Identifier: GPL-2.0-or-later

package import Beacons
import Control
package import LinuxIO
package import SystemPackage
package import Texts

/// File that stores the designated beacons between runs (D-29).
package struct DesignatedStore: Sendable {
    package typealias Failure = KeptFile<DesignatedBeacons.UnreadableLine>.Failure

    private let file: KeptFile<DesignatedBeacons.UnreadableLine>

    package var path: FilePath { file.path }

    package init(_ path: FilePath) { file = KeptFile(path, limit: 256 * 1024) }

    package func read() throws(CommandFailure) -> DesignatedBeacons {
        do {
            return try file.read { bytes throws(DesignatedBeacons.UnreadableLine) in
                try DesignatedBeacons(text: String(decoding: bytes, as: UTF8.self))
            } ?? DesignatedBeacons()
        } catch {
            throw CommandFailure(error)
        }
    }

    /// Converts the file from the line format of an earlier version to JSON; leaves it unchanged if that fails.
    func upgrade() {
        guard file.isJSON == false else { return }
        try? locked { if let beacons = try? read() { _ = keep(beacons) } }
    }

    /// Saves the beacons; returns the failure if they cannot be saved.
    package func keep(_ beacons: DesignatedBeacons) -> CommandFailure? {
        do {
            try file.write(beacons.text)
            return nil
        } catch {
            return CommandFailure(error)
        }
    }

    /// Runs `body` while holding the lock of the file's directory.
    package func locked<Result>(_ body: () throws -> Result) throws -> Result {
        try file.withLock(refused: { CommandFailure($0) as any Error }, { () throws(any Error) in try body() })
    }

    package func remove() throws(CommandFailure) {
        do {
            try file.remove()
        } catch {
            throw CommandFailure(error)
        }
    }
}

extension DesignatedBeacons.UnreadableLine: ReportableContents {
    package static func unreadable(_ path: FilePath, _ error: Errno) -> CommandFailure {
        .init(path, error, BeaconFaultText.designatedUnreadable)
    }

    package static func unwritable(_ path: FilePath, _ error: Errno) -> CommandFailure {
        .init(path, error, BeaconFaultText.designatedNotKept)
    }

    package func failure(in path: FilePath) -> CommandFailure {
        .init(.configuration, BeaconFaultText.designatedGarbled, "\(path)", "\(line)")
    }
}
