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

    @Test("Every command of the manual that needs root is one that the program parses")
    func manual() throws {
        let folder = FilePath(#filePath).removingLastComponent().removingLastComponent().removingLastComponent()
            .removingLastComponent().appending(".manual/pages")
        var count = 0
        for path in try Self.pages(folder) {
            let text = String(decoding: try FileSystem.contents(of: path.string, limit: 1 << 20), as: UTF8.self)
            for line in text.replacing("\\\n", with: " ").split(separator: "\n") {
                let words = Self.words(line)
                guard words.prefix(3) == ["$", "sudo", "blewedge"] else { continue }
                count += 1
                #expect(throws: Never.self, "\(path): \(line)") {
                    _ = try BlewedgeCommand.parseAsRoot(Array(words.dropFirst(3)))
                }
            }
        }
        #expect(count > 20)
    }

    /// Returns the Markdown files in a directory and the directories in it.
    private static func pages(_ folder: FilePath) throws -> [FilePath] {
        try FileSystem.names(in: folder.string).flatMap { name in
            let path = folder.appending(name)
            return name.hasSuffix(".md") ? [path] : try pages(path)
        }
    }

    /// Splits a line of a shell into words; quotation marks may surround a whole word, and a redirection, a pipe or a comment ends
    /// the command.
    private static func words(_ line: Substring) -> [String] {
        var words: [String] = []
        var quote: Character?
        var isOpen = false
        for character in line {
            if character == quote {
                quote = nil
            } else if quote == nil, character == "'" || character == "\"" {
                quote = character
                if !isOpen { words.append("") }
                isOpen = true
            } else if quote == nil, character == " " {
                isOpen = false
            } else if quote == nil, !isOpen, ["|", ">", "<", "&", ";", "#"].contains(character) {
                break
            } else {
                if !isOpen { words.append("") }
                isOpen = true
                words[words.count - 1].append(character)
            }
        }
        return words
    }
}
