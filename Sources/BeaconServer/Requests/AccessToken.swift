// SPDX-License-Identifier: GPL-2.0-or-later

import LinuxIO
package import SystemPackage

/// The access token of an application (SW-1's application's code), which nothing prints.
package struct AccessToken: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Why there is no token.
    package enum Failure: Error, Equatable, Sendable {
        /// The file cannot be read.
        case unreadable(FilePath, Errno)
        /// The file is another user's.
        case foreign(FilePath, owner: UInt32)
        /// Others than its owner may read or write the file.
        case open(FilePath, mode: UInt32)
        /// The file is no line of 1 to 4,096 visible ASCII signs.
        case garbled(FilePath)
    }

    private static let limit = 4096

    /// The head of a request that carries it, for the library alone.
    let line: String

    /// Reads the file, which has to belong to this process's user and to nobody else: mode 0600 or less.
    package init(file: FilePath, user: UInt32 = ProcessFacts.user) throws(Failure) {
        let read: (bytes: [UInt8], owner: UInt32, mode: UInt32)
        do throws(Errno) {
            // A line feed behind it.
            read = try FileSystem.contentsAndRights(of: file, limit: Self.limit + 1)
        } catch .fileTooLarge {
            throw .garbled(file)
        } catch {
            throw .unreadable(file, error)
        }
        guard read.owner == user else { throw .foreign(file, owner: read.owner) }
        guard read.mode & 0o177 == 0 else { throw .open(file, mode: read.mode) }
        let bytes = read.bytes.last == UInt8(ascii: "\n") ? read.bytes.dropLast() : read.bytes[...]
        guard (1...Self.limit).contains(bytes.count), bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw .garbled(file)
        }
        line = "Authorization: Bearer " + String(decoding: bytes, as: UTF8.self)
    }

    package var description: String { "token" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
