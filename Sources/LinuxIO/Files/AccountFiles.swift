// SPDX-License-Identifier: GPL-2.0-or-later

/// Users and groups of this machine, as its own files name them: no name service is asked, which a fully static program could
/// not load.
///
/// Lines that are not of the files' form are passed over.
package struct AccountFiles: Sendable {
    /// A user of the file.
    package struct User: Equatable, Sendable {
        /// The number.
        package var number: UInt32
        /// The number of the user's own group.
        package var group: UInt32
        /// The path of the home directory.
        package var home: String
    }

    /// The largest file that is read, in bytes.
    private static let limit = 4 << 20

    private let directory: String

    /// The files `passwd` and `group` of a directory.
    package init(directory: String = "/etc") { self.directory = directory }

    /// The user of that name; nil where the file has none, or cannot be read.
    ///
    /// passwd(5).
    package func user(named name: String) -> User? {
        for fields in lines(of: "passwd", fields: 7) where fields[0] == name {
            guard let number = UInt32(fields[2]), let group = UInt32(fields[3]) else { continue }
            return User(number: number, group: group, home: String(fields[5]))
        }
        return nil
    }

    /// The numbers of the groups that have the user as a member, without the user's own.
    ///
    /// group(5).
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
