// SPDX-License-Identifier: GPL-2.0-or-later

import LinuxIO
import SystemPackage
import Texts

/// Keeps a second process from the adapter that this one uses (D-12).
final class AdapterLock {
    private let paths: DaemonPaths
    private var lock: LockFile?
    private var name: String?

    /// No lock yet, in the runtime directory, which is there.
    init(_ paths: DaemonPaths) {
        self.paths = paths
    }

    /// Takes the lock of an adapter such as `hci0`, and gives back that of another; why not, where another process has it.
    func take(_ adapter: String) -> CommandFailure? {
        guard name != adapter else { return nil }
        release()
        // A user's own daemon keeps away from the system's too.
        for other in paths.withSystem.dropFirst() {
            if let holder = LockFile.holder(other.lock(adapter)) { return Self.used(adapter, by: holder) }
        }
        do throws(Errno) {
            lock = try LockFile(paths.lock(adapter))
            name = adapter
            return nil
        } catch .wouldBlock {
            return Self.used(adapter, by: LockFile.holder(paths.lock(adapter)) ?? 0)
        } catch {
            return CommandFailure(
                error == .permissionDenied ? .permission : .inputOutput,
                AdapterFaultText.noLock,
                "\(paths.lock(adapter))",
                "\(error)",
                remedy: error == .permissionDenied ? RemedyText.ownerOf.message("\(paths.runtime)") : nil
            )
        }
    }

    /// Gives the lock back.
    func release() {
        lock = nil
        name = nil
    }

    private static func used(_ adapter: String, by process: Int32) -> CommandFailure {
        process == 0
            ? CommandFailure(.unavailable, AdapterFaultText.used, adapter)
            : CommandFailure(.unavailable, AdapterFaultText.usedBy, adapter, "\(process)")
    }
}
