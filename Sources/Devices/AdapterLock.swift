// SPDX-License-Identifier: GPL-2.0-or-later

import LinuxIO
package import SystemPackage

/// A lock on an adapter, which prevents other processes from using the same adapter (D-12).
package final class AdapterLock {
    package enum Refusal: Equatable, Sendable {
        /// Another process is using this adapter; the process number is 0 if unknown.
        case used(String, by: Int32)
        case notMade(FilePath, Errno)
    }

    private let paths: DaemonPaths
    private var lock: LockFile?
    /// Name of the locked adapter; nil if nothing is locked.
    ///
    /// It is also nil if the lock was inherited and its adapter is not known yet.
    private var name: String?
    private var isAbandoned = false

    /// Creates an object that holds no lock yet; its lock files are in the runtime directory, which must exist.
    package init(_ paths: DaemonPaths) {
        self.paths = paths
    }

    /// Creates a lock for a command that needs no daemon; nil if the runtime directory cannot be created.
    package static func ofCommand() -> AdapterLock? {
        guard let paths = DaemonPaths(user: ProcessFacts.user, environment: ProcessFacts.environment),
            (try? paths.makeRuntimeDirectory()) != nil
        else { return nil }
        return AdapterLock(paths)
    }

    /// Locks an adapter such as `hci0`, and releases any other adapter.
    ///
    /// Returns the reason if the lock cannot be obtained.
    package func take(_ adapter: String) -> Refusal? {
        guard name != adapter else { return nil }
        // Keep an inherited lock for this adapter, so that the adapter is never unlocked in between.
        if name == nil, lock?.isLock(at: paths.lock(adapter)) == true {
            name = adapter
            return nil
        }
        release()
        // A user's daemon also respects the locks of the system's daemon.
        for other in paths.withSystem.dropFirst() {
            if let holder = LockFile.holder(other.lock(adapter)) { return .used(adapter, by: holder) }
        }
        do throws(Errno) {
            let taken = try LockFile(paths.lock(adapter))
            isAbandoned = taken.isAbandoned
            lock = consume taken
            name = adapter
            return nil
        } catch {
            // If a lock file cannot be opened, another user may hold the lock.
            if error == .wouldBlock || error == .permissionDenied, let holder = LockFile.holder(paths.lock(adapter)) {
                return .used(adapter, by: holder)
            }
            if error == .wouldBlock { return .used(adapter, by: 0) }
            return .notMade(paths.lock(adapter), error)
        }
    }

    /// Returns true if the process that last held the lock ended without releasing it; each lock is reported only once.
    package func takeAbandonment() -> Bool {
        defer { isAbandoned = false }
        return isAbandoned
    }

    package func release() {
        lock.take()?.remove()
        name = nil
    }

    /// Passes the lock on to the program that replaces this one.
    ///
    /// Returns the lock's descriptor number, or nil if there is no lock.
    package func keep() -> Int32? { lock?.keepOpen() }

    package func inherit(_ number: Int32) { lock = LockFile(inherited: number) }
}
