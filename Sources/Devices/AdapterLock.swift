// SPDX-License-Identifier: GPL-2.0-or-later

import LinuxIO
package import SystemPackage

/// Lock that prevents other processes from using the same adapter (D-12).
package final class AdapterLock {
    package enum Refusal: Equatable, Sendable {
        /// Another process uses the adapter; its number is 0 if unknown.
        case used(String, by: Int32)
        case notMade(FilePath, Errno)
    }

    private let paths: DaemonPaths
    private var lock: LockFile?
    /// Name of the locked adapter; nil if there is no lock, or if the lock was inherited and its adapter is not known
    /// yet.
    private var name: String?
    private var isAbandoned = false

    /// Creates a lock that is not held, in the runtime directory, which must exist.
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

    /// Locks an adapter such as `hci0`, and releases any other adapter; returns a reason if the lock cannot be
    /// obtained.
    package func take(_ adapter: String) -> Refusal? {
        guard name != adapter else { return nil }
        // An inherited lock for this adapter is kept, so that the adapter is never unlocked.
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
            // A lock file that cannot be opened may be another user's lock.
            if error == .wouldBlock || error == .permissionDenied, let holder = LockFile.holder(paths.lock(adapter)) {
                return .used(adapter, by: holder)
            }
            if error == .wouldBlock { return .used(adapter, by: 0) }
            return .notMade(paths.lock(adapter), error)
        }
    }

    /// Returns true, once, if the process that last held the lock ended without releasing it.
    package func takeAbandonment() -> Bool {
        defer { isAbandoned = false }
        return isAbandoned
    }

    package func release() {
        lock.take()?.remove()
        name = nil
    }

    /// Passes the lock on to the program that replaces this one; returns the lock's descriptor number, or nil if there
    /// is no lock.
    package func keep() -> Int32? { lock?.keepOpen() }

    package func inherit(_ number: Int32) { lock = LockFile(inherited: number) }
}
