// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import Testing
import Texts

@Suite("Help", .timeLimit(.minutes(10)))
struct HelpTests {
    /// Command with its description of itself in JSON.
    private struct Command {
        var words: [String]
        var value: JSONValue
    }

    /// Returns all commands, starting with the program itself.
    private static func commands() throws -> [Command] {
        let help = try JSONValue(Array(try run(["--experimental-dump-help"]).output.utf8))
        var found: [Command] = []
        func add(_ value: JSONValue, _ words: [String]) {
            found.append(Command(words: words, value: value))
            for inner in value["subcommands"]?.array ?? [] {
                guard let name = inner["commandName"]?.string, name != "help" else { continue }
                add(inner, words + [name])
            }
        }
        add(try #require(help["command"]), [])
        return found
    }

    /// Returns the number of columns of a line in a terminal.
    private static func columns(_ line: Substring, _ locale: locale_t) throws -> Int {
        // The C library declares this function only for X/Open programs.
        typealias Width = @convention(c) (wchar_t) -> Int32
        let wcwidth = unsafeBitCast(try #require(dlsym(nil, "wcwidth")), to: Width.self)
        let before = uselocale(locale)
        defer { uselocale(before) }
        return line.unicodeScalars.map { Int(wcwidth(wchar_t($0.value))) }.reduce(0, +)
    }

    @Test("Every line of every command's help has at most 80 columns by wcwidth", arguments: ["en", "ja"])
    func width(language: String) throws {
        let locale = try #require(newlocale(LC_CTYPE_MASK, "C.UTF-8", nil))
        defer { freelocale(locale) }
        let commands = try Self.commands()
        #expect(commands.count > 50)
        for command in commands {
            let help = try run(command.words + ["--help"], environment: ["BLEWEDGE_LANG=\(language)"])
            #expect(help.status == 0 && help.output.contains("USAGE:"))
            for line in help.output.split(separator: "\n") {
                #expect(try Self.columns(line, locale) <= 80, "\(command.words): \(line)")
            }
            // Examples and tables are printed unchanged.
            let discussion = command.value["discussion"]?.string ?? ""
            for line in discussion.split(separator: "\n") where line.hasPrefix("  ") {
                #expect(help.output.contains("\n\(line)\n"), "\(command.words) breaks: \(line)")
            }
        }
    }

    @Test("The usage of a command names each of its arguments as the list of arguments does")
    func usage() throws {
        var count = 0
        for command in try Self.commands() {
            // In the usage, a short name replaces a long list of values.
            let named = (command.value["arguments"]?.array ?? []).filter { argument in
                argument["kind"]?.string == "positional" && argument["allValues"] == nil
            }.compactMap { $0["valueName"]?.string }
            guard !named.isEmpty else { continue }
            let lines = try run(command.words + ["--help"]).output.split(separator: "\n")
            let usage = try #require(lines.first { $0.hasPrefix("USAGE: ") })
            for name in named { #expect(usage.contains("<\(name)>"), "\(usage) does not name \(name)") }
            count += named.count
        }
        #expect(count > 10)
    }

    @Test("A default that help names is one of the values that it names")
    func defaults() throws {
        var count = 0
        for command in try Self.commands() {
            for argument in command.value["arguments"]?.array ?? [] {
                guard let values = argument["allValues"]?.array, let usual = argument["defaultValue"]?.string else {
                    continue
                }
                count += 1
                #expect(values.contains { $0.string == usual }, "\(command.words): \(usual) is none of \(values)")
            }
        }
        #expect(count >= 2)
    }

    @Test("The commands are listed in groups of at most 10, each command once")
    func groups() throws {
        let lines = try run(["--help"]).output.split(separator: "\n", omittingEmptySubsequences: false)
        let first = try #require(lines.firstIndex { $0.hasSuffix(" SUBCOMMANDS:") })
        #expect(!lines.contains("SUBCOMMANDS:"))
        var listed: [String] = []
        for group in lines[first...].split(separator: "") where group.first?.hasSuffix(" SUBCOMMANDS:") == true {
            let names = group.dropFirst().compactMap { line in
                line.hasPrefix("   ") ? nil : line.split(separator: " ").first.map(String.init)
            }
            #expect((1...10).contains(names.count), "\(group)")
            listed += names
        }
        let commands = try Self.commands().filter { $0.words.count == 1 }.map { $0.words[0] }
        #expect(listed.sorted() == commands.sorted())
    }

    @Test(
        "D-10: an unknown command is refused with the one that was probably meant",
        arguments: [
            (["scn"], "`blewedge scan`"), (["scn", "--help"], "`blewedge scan`"), (["help", "scn"], "`blewedge scan`"),
            (["config", "chek", "x.toml"], "`blewedge config check`"),
            (["help", "config", "chek"], "`blewedge config check`"),
            (["beacons", "rnge", "--json"], "`blewedge beacons range`"), (["hlp"], "`blewedge help`"),
            (["foo"], "`blewedge --help`"), (["help", "foo"], "`blewedge --help`"),
            (["table", "foo"], "`blewedge table --help`"), (["help", "help"], "did you mean `blewedge --help`?"),
            (["config", "help"], "did you mean `blewedge config --help`?"),
        ]
    )
    func unknown(words: [String], meant: String) throws {
        let outcome = try run(words)
        #expect(outcome.status == 64)
        #expect(outcome.output.isEmpty)
        #expect(
            outcome.error.contains("unknown command blewedge ") && outcome.error.contains(meant),
            "\(outcome.error)"
        )
    }

    @Test("`help` of a command prints its help", arguments: [["scan"], ["config", "check"], []])
    func known(words: [String]) throws {
        let (help, other) = (try run(["help"] + words), try run(words + ["--help"]))
        #expect(help.status == 0 && help.output == other.output)
    }

    @Test("bench prints keys a second and its memory, as text and as JSON")
    func bench() throws {
        let text = try run(["bench", "--seconds", "1"])
        guard text.status != 69 else { return }
        #expect(text.status == 0 && text.output.contains(" keys per second\n"), "\(text)")
        #expect(text.output.contains("process memory: "))
        let lines = try run(["bench", "--seconds", "1", "--json"]).output.split(separator: "\n")
        let values = try lines.map { try JSONValue(Array($0.utf8)) }
        #expect(values.contains { ($0["keysPerSecond"]?.integer ?? 0) > 100_000 })
        #expect(
            values.contains { ($0["pssKilobytes"]?.integer ?? 0) > 1000 && ($0["peakKilobytes"]?.integer ?? 0) > 1000 }
        )
    }
}
