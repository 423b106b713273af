// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import LinuxIO
import Synchronization
import TestSupport
import Testing

/// Transcript of the program: command lines, each followed by its whole output and its exit status.
///
/// Tests/Vectors/commands/README.md describes the lines.
final class CommandTranscript {
    private var home: TestDirectory
    private var language = "en"
    private var file: (name: String, lines: [String])?
    private var ending: String?
    private var typed: String?
    private var daemon: FakeDaemon.Script?
    private var shown = 0

    private init() throws { home = try TestDirectory() }

    /// Executes the inputs among the lines; returns the inputs, each followed by its output.
    static func run(_ lines: [String]) throws -> [String] {
        let inputs = lines.filter { !">!?=".contains($0.first ?? ">") }
        return try inputs.split(separator: "begin", omittingEmptySubsequences: true).flatMap { group in
            let transcript = try CommandTranscript()
            guard group.first == "daemon" else { return ["begin"] + (try transcript.perform(group)) }
            var output: [String] = []
            _ = try FakeDaemon.run(at: transcript.home("control")) { script in
                transcript.daemon = script
                output = try transcript.perform(group)
            }
            return ["begin"] + output
        }
    }

    private func perform(_ inputs: ArraySlice<String>) throws -> [String] {
        try inputs.flatMap { line -> [String] in
            if line.hasPrefix("|") {
                file?.lines.append(String(line.dropFirst()))
                return [line]
            }
            if let file {
                let text = file.lines.map { $0.replacing("HOME", with: home.path) + "\n" }.joined()
                try home.write(text, to: file.name)
                self.file = nil
            }
            let words = Self.words(line)
            switch words.first {
            case "$": return [line] + (try output(of: Array(words.dropFirst())))
            case "file": file = (words[1], [])
            case "language": language = words[1]
            case "until": ending = words.dropFirst().joined(separator: " ")
            case "terminal": typed = words.dropFirst().map { $0 + "\n" }.joined()
            case "daemon": break
            case "device":
                daemon?.status.withLock {
                    $0 = [("name", words[1]), ("address", words[2]), ("addressType", "random")]
                }
            default: Issue.record("unknown line: \(line)")
            }
            return [line]
        }
    }

    private func output(of words: [String]) throws -> [String] {
        let environment = home.environment + ["BLEWEDGE_LANG=\(language)", "TZ=UTC", "PATH=/usr/bin:/bin"]
        let arguments = words.map { $0.replacing("HOME", with: home.path) }
        let program = try RunningProgram(arguments, environment: environment + ["TERM=xterm"], typed: typed)
        if let ending {
            #expect(program.prints(ending), "\(words)")
            kill(program.child, SIGINT)
        }
        (ending, typed) = (nil, nil)
        let outcome = try program.end()
        // The usage that follows a wrong command line is that of its help.
        var errors = lines(outcome.error)
        if errors.first?.hasPrefix("Error:") == true { errors = Array(errors.prefix(1)) }
        let requests = (daemon?.requests.withLock { $0 } ?? []).dropFirst(shown)
        shown += requests.count
        return requests.map { "? \($0)" } + lines(outcome.output).map { $0.isEmpty ? ">" : "> \($0)" }
            + errors.map { $0.isEmpty ? "!" : "! \($0)" }
            + ["= \(outcome.status)"]
    }

    /// Returns the lines of an output in which everything that differs between two runs is replaced.
    private func lines(_ text: String) -> [String] {
        var text = text.replacing(home.path, with: "HOME").replacing("\r\n", with: "\n")
        text = text.replacing("\u{1B}", with: "ESC").replacing("\r", with: "CR")
        text = text.replacing(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/, with: "TIME")
        text = text.replacing(WallClock.universal(WallClock.seconds).prefix(10), with: "DATE")
        text = text.replacing(/\d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d/, with: "TIME")
        text = text.replacing(/-\d+ +[#.]{4}/, with: "-NN BARS")
        text = text.replacing(/-\d+ dBm/, with: "-NN dBm").replacing(/"rssi":-\d+/, with: "\"rssi\":-NN")
        text = text.replacing(/"metres":[0-9.]+/, with: "\"metres\":NN").replacing(/\([0-9.]+ m\) */, with: "(NN m) ")
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        if lines.last?.isEmpty == true { lines.removeLast() }
        return lines
    }

    /// Splits a line at spaces, except within quotation marks.
    private static func words(_ line: String) -> [String] {
        var words: [String] = []
        var isQuoted = false
        var word: String?
        for character in line {
            switch character {
            case "\"":
                isQuoted.toggle()
                word = word ?? ""
            case " " where !isQuoted:
                if let word { words.append(word) }
                word = nil
            default: word = (word ?? "") + String(character)
            }
        }
        return words + (word.map { [$0] } ?? [])
    }
}

@Suite("Transcripts of the commands", .timeLimit(.minutes(10)))
struct CommandTranscriptTests {
    @Test(
        "Each command line of Tests/Vectors/commands has the output and the exit status that its file shows",
        arguments: try RepositoryFiles.names(in: "Tests/Vectors/commands").filter { $0.hasSuffix(".txt") }
    )
    func transcripts(name: String) throws {
        let lines = try RepositoryFiles.text("Tests/Vectors/commands/" + name).split(separator: "\n").map(String.init)
            .filter { !$0.hasPrefix("#") }
        let actual = try CommandTranscript.run(lines)
        try RecordedText.compare(actual, lines, "commands/" + name)
    }
}
