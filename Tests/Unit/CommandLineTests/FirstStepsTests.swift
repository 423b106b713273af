// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import LinuxIO
import Setup
import SystemPackage
import Testing

@testable import blewedge

@Suite("The first steps")
struct FirstStepsTests {
    @Test("At most three commands lead to the first typed character; each is one, and the README names it")
    func commands() throws {
        let folder = FilePath(#filePath).removingLastComponent().removingLastComponent().removingLastComponent()
            .removingLastComponent()
        let bytes = try FileSystem.contents(of: folder.appending("README.md").string, limit: 1 << 20)
        let readme = String(decoding: bytes, as: UTF8.self)
        for hasManager in [false, true] {
            let commands = FirstSteps.commands(hasManager: hasManager)
            #expect((1...FirstSteps.most).contains(commands.count))
            #expect(FirstSteps.most == 3)
            #expect(commands.filter { $0.hasSuffix(" " + FirstSteps.device) }.count == 1)
            for command in commands {
                let words = command.split(separator: " ").map(String.init)
                #expect(words.prefix(2) == ["sudo", "blewedge"])
                #expect(throws: Never.self) { _ = try BlewedgeCommand.parseAsRoot(Array(words.dropFirst(2))) }
                #expect(readme.contains("blewedge \(words[2])"), "\(command)")
            }
        }
    }

    @Test(
        "The guide in a pipe ends with the commands of this machine, in both languages",
        arguments: ["en", "ja"]
    )
    func guide(language: String) throws {
        let hasManager = ServiceManager.ofThisMachine != nil
        let lines = FirstSteps.commands(hasManager: hasManager).map { "    \($0)\n" }.joined()
        #expect(try run(["guide", "--language", language]).output.hasSuffix(lines))
    }
}
