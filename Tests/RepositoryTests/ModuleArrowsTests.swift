// SPDX-License-Identifier: GPL-2.0-or-later

import TestSupport
import Testing

@Suite("The modules and their arrows")
struct ModuleArrowsTests {
    @Test("The README's table has the modules of Package.swift, and of each exactly the arrows")
    func picture() throws {
        let manifest = ModuleArrows(manifest: try RepositoryFiles.text("Package.swift"))
        let readme = ModuleArrows(readme: try RepositoryFiles.text("README.md"))
        #expect(readme.differences(from: manifest, "README.md", "Package.swift") == [])
        #expect(manifest.modules.count > 10 && manifest.modules["blewedge"]?.isEmpty == false)
    }

    @Test("Every folder of Sources is a module; all other modules lie in udev")
    func folders() throws {
        let manifest = ModuleArrows(manifest: try RepositoryFiles.text("Package.swift"))
        let folders = Set(try RepositoryFiles.names(in: "Sources"))
        #expect(folders.subtracting(manifest.modules.keys) == [])
        #expect(Set(manifest.modules.keys).subtracting(folders) == ["ServiceFiles"])
    }

    @Test("An arrow or a module too many or too few is named, on either side")
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
    }
}
