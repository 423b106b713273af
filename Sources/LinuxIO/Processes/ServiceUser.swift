// SPDX-License-Identifier: GPL-2.0-or-later

import CCapability
import CLinux
import Glibc
package import SystemPackage

/// A user that a program which root has started acts for.
package struct ServiceUser: Sendable {
    /// The user's name.
    package let name: String
    /// The user's number.
    package let number: UInt32
    /// The user's own group.
    package let group: UInt32
    /// The user's home directory.
    package let home: FilePath

    /// The user of that name in the machine's own file; nil where there is none.
    package init?(named name: String) {
        guard let user = AccountFiles().user(named: name) else { return nil }
        self.name = name
        number = user.number
        group = user.group
        home = FilePath(user.home)
    }

    /// Gives a directory to the user, and makes it (0755) where there is none; of root's, what lies in it too.
    ///
    /// Another user's stays as it is. In a directory that has been this user's nothing is changed: a link there would be
    /// followed to a file that is not. The corresponding C functions are `mkdir`, `lchown` and `open`.
    package func own(directory: FilePath) throws(Errno) {
        if FileSystem.owner(of: directory.string) == nil {
            try FileSystem.makeDirectory(directory, mode: 0o755)
        }
        guard FileSystem.owner(of: directory.string) == 0 else { return }
        let (number, group) = (number, group)
        for name in FileSystem.names(in: directory.string) {
            let path = directory.appending(name).string
            _ = try SystemCall.run { unsafe lchown(path, number, group) }
        }
        _ = try SystemCall.run { unsafe lchown(directory.string, number, group) }
    }

    /// Makes this process the user's for good, with the user's groups; of its capabilities the product's own are left,
    /// for it and, until they are given up, for the programs that it becomes or starts.
    ///
    /// Called by root, before there is a second thread. The corresponding C functions are `setgroups`, `setgid`,
    /// `setuid`, `cap_set_proc` and `prctl` (PR_CAPBSET_DROP, PR_SET_KEEPCAPS, PR_CAP_AMBIENT_RAISE).
    package func become() throws(Errno) {
        let (number, group) = (number, group)
        let kept = Set(Capability.allCases.filter(\.isPermitted).map(\.number))
        let groups = [group] + AccountFiles().groups(ofUserNamed: name).filter { $0 != group }
        // Sound: the kernel reads as many numbers as the array has.
        _ = try SystemCall.run { unsafe setgroups(groups.count, groups) }
        _ = try SystemCall.run { setgid(group) }
        for capability in sequence(first: Int32(0), next: { $0 + 1 }).prefix(while: Self.isKnown) {
            guard !kept.contains(capability) else { continue }
            _ = try SystemCall.run { blewedge_prctl(PR_CAPBSET_DROP, UInt(capability), 0) }
        }
        _ = try SystemCall.run { blewedge_prctl(PR_SET_KEEPCAPS, 1, 0) }
        _ = try SystemCall.run { setuid(number) }
        // Sound: the set is the library's own, empty as it is made, and freed here and nowhere else.
        guard let set = unsafe cap_init() else { throw .noMemory }
        defer { _ = unsafe cap_free(UnsafeMutableRawPointer(set)) }
        let numbers = kept.map { cap_value_t($0) }
        for flag in [CAP_PERMITTED, CAP_INHERITABLE, CAP_EFFECTIVE] {
            _ = unsafe cap_set_flag(set, flag, Int32(numbers.count), numbers, CAP_SET)
        }
        _ = try SystemCall.run { unsafe cap_set_proc(set) }
        for capability in kept {
            _ = try SystemCall.run {
                blewedge_prctl(PR_CAP_AMBIENT, UInt(PR_CAP_AMBIENT_RAISE), UInt(capability))
            }
        }
    }

    /// True for a number below that of the kernel's first capability that there is not.
    private static func isKnown(_ capability: Int32) -> Bool {
        blewedge_prctl(PR_CAPBSET_READ, UInt(capability), 0) >= 0
    }
}
