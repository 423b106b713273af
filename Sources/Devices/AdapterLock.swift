// SPDX-License-Identifier: GPL-2.0-or-later

import LinuxIO
package import SystemPackage

/// Keeps a second process from the adapter that this one uses (D-12).
package final class AdapterLock {
    package enum Refusal: Equatable, Sendable {
        /// Another process, 0 if unknown, uses the adapter.
        case used(String, by: Int32)
        case notMade(FilePath, Errno)
    }

    private let paths: DaemonPaths
    private var lock: LockFile?
    /// The adapter that the lock is of; nil for none, and for that of the program before this one.
    private var name: String?
    private var isAbandoned = false

    /// No lock yet, in the runtime directory, which is there.
    package init(_ paths: DaemonPaths) {
        self.paths = paths
    }

    /// No lock yet, for a command that needs no daemon; nil where there is no place for one.
    package static func ofCommand() -> AdapterLock? {
        guard let paths = DaemonPaths(user: ProcessFacts.user, environment: ProcessFacts.environment),
            (try? paths.makeRuntimeDirectory()) != nil
        else { return nil }
        return AdapterLock(paths)
    }

    /// Takes the lock of an adapter such as `hci0`, and gives back that of another; why not, where another process has it.
    package func take(_ adapter: String) -> Refusal? {
        guard name != adapter else { return nil }
        // Never let go of in between, where it is the one that was left to this program.
        if name == nil, lock?.isLock(at: paths.lock(adapter)) == true {
            name = adapter
            return nil
        }
        release()
        // A user's own daemon keeps away from the system's too.
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
            // What may not be opened may be another user's lock.
            if error == .wouldBlock || error == .permissionDenied, let holder = LockFile.holder(paths.lock(adapter)) {
                return .used(adapter, by: holder)
            }
            if error == .wouldBlock { return .used(adapter, by: 0) }
            return .notMade(paths.lock(adapter), error)
        }
    }

    /// Whether the process that had the adapter before has ended without giving it back; true once.
    package func takeAbandonment() -> Bool {
        defer { isAbandoned = false }
        return isAbandoned
    }

    package func release() {
        lock.take()?.remove()
        name = nil
    }

    /// Leaves the lock to the program that takes this one's place: its number there; nil without a lock.
    package func keep() -> Int32? { lock?.keepOpen() }

    package func inherit(_ number: Int32) { lock = LockFile(inherited: number) }
}
