// SPDX-License-Identifier: GPL-2.0-or-later

import LinuxIO
import SystemPackage
import Testing

/// Vector files that contain the whole output of the product.
enum RecordedText {
    /// Compares the lines of a file with those found, and reports the first difference.
    ///
    /// If the environment variable BLEWEDGE_RECORD names a folder, the lines found are written into it.
    static func compare(_ actual: [String], _ expected: [String], _ name: String) throws {
        if let folder = ProcessFacts.environment("BLEWEDGE_RECORD") {
            let text = actual.map { $0 + "\n" }.joined()
            let file = FilePath(folder).appending(name.replacing("/", with: "-"))
            try FileSystem.replace(file, with: Array(text.utf8), mode: 0o644)
        }
        let place = zip(actual, expected).enumerated().first { $0.element.0 != $0.element.1 }?.offset
        let first = place ?? min(actual.count, expected.count)
        // The arrays themselves are too long for a message.
        let isSame = actual == expected
        #expect(isSame, "\(name): \(actual.dropFirst(first).prefix(3)), not \(expected.dropFirst(first).prefix(3))")
    }
}
