// SPDX-License-Identifier: GPL-2.0-or-later

package import LinuxIO
package import SystemPackage

/// A file in which something of the server's side outlives the program.
package typealias ServerFile = KeptFile<ServerAnswerFault>

extension ServerFile {
    /// The longest file, in bytes.
    static var limit: Int { 32 << 20 }

    func withLock<Value>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
        try withLock(refused: { $0 }, body)
    }

    /// Removes the file while no other process changes it.
    func removeUnderLock() throws(Failure) {
        guard FileSystem.exists(path.string) else { return }
        try withLock { () throws(Failure) in try remove() }
    }
}

/// The file of the managed regions.
package struct RegionStore: Sendable {
    private let file: ServerFile

    /// The regions kept in a file, which need not be there.
    package init(_ path: FilePath) { file = ServerFile(path, limit: ServerFile.limit) }

    /// The regions; without a file there are none.
    package func read() throws(ServerFile.Failure) -> KeptRegions {
        try file.read { bytes throws(ServerAnswerFault) in try KeptRegions(parsing: bytes) } ?? KeptRegions()
    }

    /// Removes the regions.
    package func remove() throws(ServerFile.Failure) { try file.removeUnderLock() }

    /// Changes what is kept while no other process does: on the disk when this returns, and as it was when it throws.
    package func update(_ body: (inout KeptRegions) -> Void) throws(ServerFile.Failure) -> KeptRegions {
        try file.withLock { () throws(ServerFile.Failure) in
            var regions = try read()
            body(&regions)
            try file.write(regions.text)
            return regions
        }
    }
}
