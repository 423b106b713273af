// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import Configuration
import Control
import Daemon
import Keystrokes
import LinuxIO
import SystemPackage
import Texts
import Typing

struct TableCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "table",
        abstract: "Check a table, or show what is typed for each byte.",
        discussion: """
            A table says which text or keys are typed for each byte, and which bytes are discarded. If a table maps \
            both CR and LF to Enter, the sequence CR LF is typed as one Enter.

            TABLE FILES:
              # A comment starts with a number sign.
              base = linble                 # Table for all bytes that are not listed here.
              0x41 = text "b"               # The text can have several characters.
              0x09 = discard
              0x0d = key enter
              0x02 = key shift+f9           # You can also use altgr+, ctrl+, alt+, meta+.
              gs = text "<GS>"              # gs is 0x1d, as in `run --terminator`.
              0x03 = macro key f8 text "a"  # A macro performs several actions.
              0x10-0x1a = discard           # A later line overrides an earlier line.
            """,
        subcommands: [TableCheckCommand.self, TableShowCommand.self]
    )
}

struct TableCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check a table file, without typing anything.",
        discussion: """
            If the table has an error, the command reports the line and the column of the error, and exits with status \
            78.

            EXAMPLES:
              blewedge table check mytable
              blewedge table check mytable --layout de
            """
    )

    @Argument(
        help: ArgumentHelp("Table file or name of a built-in table.", valueName: "file"),
        completion: Completion.tables
    )
    var table: String

    @OptionGroup var layoutOptions: LayoutOptions

    func run() throws {
        let layout = try reporting(LayoutSource.layout, layoutOptions.layout)
        let compiled = try reporting(TableSource.compiled, try reporting(TableSource.read, table), table, layout)
        let bytes = UInt8.min...UInt8.max
        let typed = bytes.count { !compiled.strokes(of: $0).isEmpty }
        let rejected = bytes.count { compiled.isRejected($0) }
        try StandardStream.output.write(
            LogText.tableCorrect.text(
                .current,
                table,
                "\(typed)",
                "\(rejected)",
                "\(256 - typed - rejected)",
                layout.name
            ) + "\n"
        )
    }
}

struct TableShowCommand: ParsableCommand {
    /// The built-in tables with their descriptions, one per line.
    private static let tables = ByteTable.BuiltIn.allCases.map { table in
        "  \(table.rawValue)\(String(repeating: " ", count: 10 - table.rawValue.count))\(table.summary)"
    }.joined(separator: "\n")

    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show the text and the keys that are typed for each byte.",
        discussion: """
            The output can be saved as a table file. Bytes that the table discards are omitted from the output.

            TABLES:
            \(tables)

            EXAMPLES:
              blewedge table show
              blewedge table show gs1-ctrl --layout jp
              blewedge table show mytable --json
            """
    )

    @Argument(
        help: ArgumentHelp("Table file or name of a built-in table.", valueName: "name|file"),
        completion: Completion.tables
    )
    var table = "linble"

    @OptionGroup var layoutOptions: LayoutOptions

    @Flag(help: "Print the result as one JSON object.")
    var json = false

    func run() throws {
        let layout = try reporting(LayoutSource.layout, layoutOptions.layout)
        let meaning = try reporting(TableSource.read, table)
        let compiled = try reporting(TableSource.compiled, meaning, table, layout)
        let text = json ? object(meaning, compiled, layout) : lines(meaning, compiled, layout)
        try StandardStream.output.write(text + "\n")
    }

    private func lines(_ meaning: ByteTable, _ compiled: CompiledTable, _ layout: KeyboardLayout) -> String {
        var lines = ["# \(table), with layout \(layout.name)", "base = discard"]
        for byte in UInt8.min...UInt8.max where meaning[byte] != .discard {
            let keys =
                compiled.isRejected(byte)
                ? "rejected: the layout cannot type it"
                : compiled.strokes(of: byte).map(\.description).joined(separator: " ")
            lines.append("\(Self.number(byte)) = \(meaning[byte])  # \(keys)")
        }
        return lines.joined(separator: "\n")
    }

    private func object(_ meaning: ByteTable, _ compiled: CompiledTable, _ layout: KeyboardLayout) -> String {
        var all = JSONObject()
        all.add("table", table)
        all.add("layout", layout.name)
        all.add("keys", compiled.keys.codes.map(\.description))
        let bytes = (UInt8.min...UInt8.max).map { byte in
            var object = JSONObject()
            let strokes = compiled.strokes(of: byte)
            object.add("byte", UInt64(byte))
            object.add("action", "\(meaning[byte])")
            object.add("outcome", compiled.isRejected(byte) ? "rejected" : strokes.isEmpty ? "discarded" : "typed")
            object.add("keys", strokes.map(\.description))
            object.add("keysWithCapsLock", compiled.strokes(of: byte, capsLock: true).map(\.description))
            return object
        }
        all.add("bytes", bytes)
        return all.text
    }

    private static func number(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16)
        return "0x" + (digits.count == 1 ? "0" : "") + digits
    }
}

/// The options of every command that uses a layout.
struct LayoutOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Keyboard layout of the application: \(LayoutSource.names).", valueName: "name"),
        completion: Completion.layouts
    )
    var layout = "us"
}
