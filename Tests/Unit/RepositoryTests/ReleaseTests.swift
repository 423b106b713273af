// SPDX-License-Identifier: GPL-2.0-or-later

import TestSupport
import Testing

@Suite("Parts of the standard library that the release leaves out")
struct ReleaseTests {
    @Test("No source file uses the names of Unicode characters, which Tests/Release/compact replaces by no name")
    func names() throws {
        let files = try RepositoryFiles.files(below: "Sources").filter { $0.hasSuffix(".swift") }
        #expect(files.count > 300)
        for file in files {
            let text = try RepositoryFiles.text(file)
            let uses = text.matches(of: #/properties\s*\.\s*(?:name|nameAlias)\b/#)
            #expect(uses.isEmpty, "\(file)")
        }
        let wrapped = try RepositoryFiles.text("Tests/Release/compact")
        #expect(wrapped.contains("--wrap=_swift_stdlib_getScalarName"))
    }
}
