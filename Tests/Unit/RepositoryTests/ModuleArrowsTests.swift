// SPDX-License-Identifier: GPL-2.0-or-later

import TestSupport
import Testing

@Suite("The modules and their arrows")
struct ModuleArrowsTests {
    @Test("The table of .github/MODULES.md has the modules of Package.swift, and of each exactly the arrows")
    func picture() throws {
        let manifest = ModuleArrows(manifest: try RepositoryFiles.text("Package.swift"))
        let readme = ModuleArrows(readme: try RepositoryFiles.text(".github/MODULES.md"))
        #expect(readme.differences(from: manifest, ".github/MODULES.md", "Package.swift") == [])
        #expect(manifest.modules.count > 10 && manifest.modules["blewedge"]?.isEmpty == false)
    }

    @Test("Every folder of Sources is a module; all other modules lie in udev")
    func folders() throws {
        let manifest = ModuleArrows(manifest: try RepositoryFiles.text("Package.swift"))
        let folders = Set(try RepositoryFiles.names(in: "Sources"))
        #expect(folders.subtracting(manifest.modules.keys) == [])
        #expect(Set(manifest.modules.keys).subtracting(folders) == ["ServiceFiles"])
    }

    @Test("Every module imports the modules that Package.swift declares for it, and no other of ours")
    func imports() throws {
        let manifest = ModuleArrows(manifest: try RepositoryFiles.text("Package.swift"))
        // C modules have no imports.
        let imported = ModuleArrows(imports: try manifest.modules.keys.map { ($0, "") } + Self.sources())
        #expect(imported.differences(from: manifest, "the imports", "Package.swift") == [])
    }

    @Test("Exit statuses and failures of commands are made in the control socket's module and above it only")
    func failures() throws {
        let makers: Set = ["Texts", "Control", "Daemon", "Setup", "blewedge"]
        let sources = try Self.sources()
        #expect(Self.modules(naming: "CommandFailure", in: sources) == makers)
        #expect(Self.modules(naming: "ExitStatus", in: sources).isSubset(of: makers))
        #expect(
            Self.modules(naming: "Low", in: [("a", "Low.x"), ("b", "Lower LowX"), ("c", "let x: Low?")]) == ["a", "c"]
        )
    }

    private static func sources() throws -> [(module: String, text: String)] {
        var files: [(module: String, text: String)] = []
        for (folder, module) in [("Sources", nil), ("udev", "ServiceFiles")] {
            for file in try RepositoryFiles.files(below: folder) where file.hasSuffix(".swift") {
                files.append((module ?? String(file.split(separator: "/")[1]), try RepositoryFiles.text(file)))
            }
        }
        return files
    }

    /// Returns the modules whose source files contain this word.
    private static func modules(naming word: String, in files: [(module: String, text: String)]) -> Set<String> {
        Set(
            files.filter { file in
                file.text.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.contains { $0 == word }
            }.map(\.module)
        )
    }

    @Test("A missing or extra arrow or module is reported, on either side")
    func control() {
        let manifest = ModuleArrows(
            manifest: """
                func module(_ name: String) -> Target { .target(name: name, dependencies: dependencies) }
                .systemLibrary(name: "CLow", providers: [.apt(["low-dev"])]),
                module("Low", ["CLow", systemPackage]), .target(name: "Files", path: "udev", sources: ["Low.swift"]),
                .executableTarget(name: "tool", dependencies: ["Low", "Files"], resources: [.embedInCode("a")]),
                .target(name: "Support", dependencies: ["Low"], path: "Tests/Support"), tests("LowTests", ["Low"]),
                """
        )
        #expect(manifest.modules == ["CLow": [], "Low": ["CLow"], "Files": [], "tool": ["Low", "Files"]])
        let readme = ModuleArrows(
            readme: """
                | module | what it is | stands on |
                | --- | --- | --- |
                | `CLow` | C | |
                | `Low` | low | |
                | `High` | high | `Low` |
                | `tool` | the tool | `Low`, `Files`, `CLow` |
                """
        )
        #expect(
            readme.differences(from: manifest, "the table", "the manifest") == [
                "Files: only in the manifest", "High: only in the table", "Low → CLow: only in the manifest",
                "tool → CLow: only in the table",
            ]
        )
        #expect(readme.differences(from: readme, "the table", "the same") == [])
        let imports = ModuleArrows(imports: [
            ("CLow", ""), ("Low", "package import CLow\n"), ("Files", ""),
            ("tool", "import Files\n// import Low\n@testable import CLow\n"),
        ])
        #expect(
            imports.differences(from: manifest, "the imports", "the manifest") == [
                "tool → CLow: only in the imports", "tool → Low: only in the manifest",
            ]
        )
    }
}
