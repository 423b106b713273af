// SPDX-License-Identifier: GPL-2.0-or-later

import TestSupport
import Testing

@Suite("Names of the source files")
struct FileNameTests {
    /// A file and the names of its types that are neither nested nor private.
    private struct Declared {
        var path: String
        /// The file's name without `.swift`.
        var name: Substring
        var types: [Substring] = []
        /// Those of `types` that other modules can use.
        var shared: [Substring] = []
    }

    private func declared() throws -> [Declared] {
        try RepositoryFiles.files(below: "Sources").filter { $0.hasSuffix(".swift") }.map { path in
            let text = try RepositoryFiles.text(path)
            var file = Declared(path: path, name: path.split(separator: "/").last?.dropLast(6) ?? "")
            let declaration =
                #/
                (?:(public|package|private|fileprivate)\ )?
                (?:\w+\ )?(?:struct|class|enum|actor|protocol)\ (\w+)
                /#
            for line in text.split(separator: "\n") {
                guard let match = line.prefixMatch(of: declaration) else { continue }
                let access = match.1 ?? ""
                if access != "private", access != "fileprivate" { file.types.append(match.2) }
                if access == "public" || access == "package" { file.shared.append(match.2) }
            }
            return file
        }
    }

    @Test("A file with one type is named after it, and an extension's file declares no type for other modules")
    func names() throws {
        let files = try declared()
        #expect(files.count > 300 && files.contains { $0.shared == ["LocalText"] })
        for file in files {
            if file.name.contains("+") {
                #expect(file.shared.isEmpty, "\(file.path)")
            } else if file.types.count == 1 {
                #expect(file.types[0] == file.name, "\(file.path)")
            }
        }
    }
}
