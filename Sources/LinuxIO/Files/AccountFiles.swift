// SPDX-License-Identifier: GPL-2.0-or-later

import CCapability
import CLinux
import Glibc
package import SystemPackage

/// Users and groups of this machine, as its own files name them: no name service is asked, which a fully static program could
/// not load.
///
/// Lines that are not of the files' form are passed over.
package struct AccountFiles: Sendable {
    package struct User: Equatable, Sendable {
        package var number: UInt32
        /// The number of the user's own group.
        package var group: UInt32
        package var home: String
    }

    /// The largest file that is read, in bytes.
    private static let limit = 4 << 20

    private let directory: String

    /// The files `passwd` and `group` of a directory.
    package init(directory: String = "/etc") { self.directory = directory }

    /// The user of that name; nil where the file has none, or cannot be read (passwd(5)).
    package func user(named name: String) -> User? {
        for fields in lines(of: "passwd", fields: 7) where fields[0] == name {
            guard let number = UInt32(fields[2]), let group = UInt32(fields[3]) else { continue }
            return User(number: number, group: group, home: String(fields[5]))
        }
        return nil
    }

    /// The numbers of the groups that have the user as a member, without the user's own (group(5)).
    package func groups(ofUserNamed name: String) -> [UInt32] {
        lines(of: "group", fields: 4).compactMap { fields in
            fields[3].split(separator: ",").contains { $0 == name } ? UInt32(fields[2]) : nil
        }
    }

    /// True where a group has no member but the user: neither by the group's line nor as another user's own group.
    ///
    /// passwd(5), group(5).
    package func isPrivate(group: UInt32, of user: UInt32) -> Bool {
        let users = lines(of: "passwd", fields: 7)
        let names = Set(users.filter { UInt32($0[2]) == user }.map { $0[0] })
        guard users.allSatisfy({ UInt32($0[3]) != group || names.contains($0[0]) }) else { return false }
        return lines(of: "group", fields: 4).allSatisfy { fields in
            UInt32(fields[2]) != group || fields[3].split(separator: ",").allSatisfy(names.contains)
        }
    }

    private func lines(of file: String, fields count: Int) -> [[Substring]] {
        guard let bytes = try? FileSystem.contents(of: "\(directory)/\(file)", limit: Self.limit) else { return [] }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap { line in
            let fields = line.split(separator: ":", omittingEmptySubsequences: false)
            return fields.count == count ? fields : nil
        }
    }
}

/// A user that a program which root has started acts for.
package struct ServiceUser: Sendable {
    package let name: String
    package let number: UInt32
    package let group: UInt32
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
