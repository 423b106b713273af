// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import Foundation

/// File that contains a bond as one line; only its owner can read the keys.
struct BondFile {
    /// Error that is described by a sentence.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let path: String

    init(_ path: String) { self.path = path }

    /// Reads the bond.
    func load() throws(Failure) -> Bond {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
            throw Failure(description: "cannot read \(path)")
        }
        guard let bond = Bond(record: text.trimmingCharacters(in: .newlines)) else {
            throw Failure(description: "\(path) contains no bond, or was changed")
        }
        return bond
    }

    /// Writes the bond to a new file with the mode 0600, which then replaces the file at `path`.
    func save(_ bond: Bond) throws(Failure) {
        let new = path + ".new"
        unlink(new)
        let file = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Failure(description: "cannot create \(new): \(String(cString: strerror(errno)))") }
        let handle = FileHandle(fileDescriptor: file, closeOnDealloc: true)
        do {
            try handle.write(contentsOf: Data("\(bond.record)\n".utf8))
            try handle.synchronize()
        } catch {
            throw Failure(description: "cannot write \(new)")
        }
        guard rename(new, path) == 0 else {
            throw Failure(description: "cannot replace \(path): \(String(cString: strerror(errno)))")
        }
    }
}
