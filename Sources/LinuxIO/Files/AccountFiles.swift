// SPDX-License-Identifier: GPL-2.0-or-later

import CCapability
import CLinux
import Glibc
package import SystemPackage

/// Users and groups from the machine's local files.
///
/// Name services are not used, because a static program cannot load them. Malformed lines are ignored.
package struct AccountFiles: Sendable {
    package struct User: Equatable, Sendable {
        package var number: UInt32
        /// Number of the user's primary group.
        package var group: UInt32
        package var home: String
    }

    /// Maximum size of a file, in bytes.
    private static let limit = 4 << 20

    private let directory: String

    /// Selects the directory that contains the files `passwd` and `group`.
    package init(directory: String = "/etc") { self.directory = directory }

    /// Returns the user with this name; nil if there is no such user or the file cannot be read (passwd(5)).
    package func user(named name: String) -> User? {
        for fields in lines(of: "passwd", fields: 7) where fields[0] == name {
            guard let number = UInt32(fields[2]), let group = UInt32(fields[3]) else { continue }
            return User(number: number, group: group, home: String(fields[5]))
        }
        return nil
    }

    /// Returns the numbers of the groups whose lines list the user as a member (group(5)).
    package func groups(ofUserNamed name: String) -> [UInt32] {
        lines(of: "group", fields: 4).compactMap { fields in
            fields[3].split(separator: ",").contains { $0 == name } ? UInt32(fields[2]) : nil
        }
    }

    /// Returns true if the group has no members other than this user (passwd(5), group(5)).
    ///
    /// A user is a member if the group's line lists the user, or if the group is the user's primary group.
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

/// A user that a program started by root switches to.
package struct ServiceUser: Sendable {
    package let name: String
    package let number: UInt32
    package let group: UInt32
    package let home: FilePath

    /// Looks up the user in the machine's /etc/passwd; nil if there is no such user.
    package init?(named name: String) {
        guard let user = AccountFiles().user(named: name) else { return nil }
        self.name = name
        number = user.number
        group = user.group
        home = FilePath(user.home)
    }

    /// Gives a directory to the user, after creating it (mode 0755) if it does not exist.
    ///
    /// If the directory belonged to root, the files in it are given to the user too. A directory of another user is not
    /// changed. A directory that already belongs to this user is not changed either, because a link in it could lead to
    /// a file of another user. The corresponding C functions are `mkdir`, `lchown` and `open`.
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

    /// Switches this process permanently to the user and the user's groups, and drops all capabilities that the product
    /// does not need.
    ///
    /// The remaining capabilities are also passed on to programs that this process executes or starts, until they are
    /// given up.
    ///
    /// Call it as root, before a second thread is started. The corresponding C functions are `setgroups`, `setgid`,
    /// `setuid`, `cap_set_proc` and `prctl` (PR_CAPBSET_DROP, PR_SET_KEEPCAPS, PR_CAP_AMBIENT_RAISE).
    package func become() throws(Errno) {
        let (number, group) = (number, group)
        let kept = Set(Capability.allCases.filter(\.isPermitted).map(\.number))
        let groups = [group] + AccountFiles().groups(ofUserNamed: name).filter { $0 != group }
        // Sound: the kernel reads as many numbers as the array contains.
        _ = try SystemCall.run { unsafe setgroups(groups.count, groups) }
        _ = try SystemCall.run { setgid(group) }
        for capability in sequence(first: Int32(0), next: { $0 + 1 }).prefix(while: Self.isKnown) {
            guard !kept.contains(capability) else { continue }
            _ = try SystemCall.run { blewedge_prctl(PR_CAPBSET_DROP, UInt(capability), 0) }
        }
        _ = try SystemCall.run { blewedge_prctl(PR_SET_KEEPCAPS, 1, 0) }
        _ = try SystemCall.run { setuid(number) }
        // Sound: the library allocates this empty set, and only this function frees it.
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

    /// Returns true if the kernel has a capability with this number.
    private static func isKnown(_ capability: Int32) -> Bool {
        blewedge_prctl(PR_CAPBSET_READ, UInt(capability), 0) >= 0
    }
}
