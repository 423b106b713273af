// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import BluetoothPackets
import Configuration
import Control
import Daemon
import Devices
import Keystrokes
import LinuxIO
import SystemPackage
import Texts
import Typing

struct KeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "Press keys on the virtual keyboard, for example to correct an entry.",
        discussion: """
            Digits and the signs + - < > . , are typed as characters with every keyboard layout. Quote the signs that \
            the shell interprets, or use the names plus, minus, less, greater, period and comma. You can also press \
            \(([" "].map { _ in "space" } + KeyName.keys).joined(separator: ", ")), but no other keys.

            EXAMPLES:
              blewedge key 4 2 enter
              blewedge key backspace backspace
              blewedge key minus 5 period 0 tab
            """
    )

    @Argument(
        help: ArgumentHelp("Keys to press, in the given order.", valueName: "name"),
        completion: .list(KeyName.words)
    )
    var names: [String]

    @OptionGroup var daemon: DaemonOptions

    func validate() throws {
        if let name = names.first(where: { KeyName($0) == nil }) {
            let known = KeyName.allCases.map(\.description).joined(separator: " ")
            throw ValidationError("there is no key '\(name)'; the keys are \(known)")
        }
        if names.count > ControlRequest.mostKeys {
            throw ValidationError("at most \(ControlRequest.mostKeys) keys at a time.")
        }
    }

    func run() throws { try daemon.tell(.key(names.compactMap(KeyName.init))) }
}

struct SnippetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "snippet",
        abstract: "Type a saved text, and move the cursor to a position in the text.",
        discussion: """
            Snippets are defined in snippets.json in the configuration directory, for example {"title": "text", \
            "irony": {"opening": "<i>", "closing": "</i>"}}. The setting `snippets = "habr"` adds a sample set of \
            snippets for HTML tags. After typing, blewedge searches the text for ], ://, =" and >, in this order, and \
            moves the cursor to the end of the first match. In scan mode, a barcode can trigger a snippet. For \
            example, {"bold": {"received": "B1"}, "sig": {"text": "Jane Doe", "received": "S1"}} types the snippet \
            bold for the barcode B1, and the snippet sig for the barcode S1. Without a title, the command lists the \
            titles and texts of all snippets of the user and the system, separated by tabs.

            EXAMPLES:
              blewedge snippet greeting
              blewedge snippet
            """
    )

    @Argument(
        help: ArgumentHelp(
            "Title of the snippet to type. Without a title, the command lists all snippets.",
            valueName: "title"
        )
    )
    var title: String?

    @OptionGroup var daemon: DaemonOptions

    func validate() throws {
        if title?.isEmpty == true { throw ValidationError("the title is empty.") }
    }

    func run() throws {
        if let title { return try daemon.tell(.snippet(title)) }
        try SnippetList(isJSON: daemon.json).print()
    }
}

struct ClearCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clear",
        abstract: "Clear the input field of the application.",
        discussion: """
            The daemon presses End, and then Backspace for each character that it has typed since the last Enter or \
            Tab. Text that was already in the input field is kept. With `clear = "select-all"` in the configuration, \
            the daemon presses Ctrl+A and Backspace.

            EXAMPLES:
              blewedge clear
            """
    )

    @OptionGroup var daemon: DaemonOptions

    func run() throws { try daemon.tell(.clear) }
}

struct SnippetList {
    let isJSON: Bool

    /// Prints the snippets of this user's daemon or, if there is none, of the system's daemon.
    func print() throws {
        let snippets = try DaemonPaths.reachable().snippets()
        for snippet in snippets.all { try StandardStream.output.write(line(snippet) + "\n") }
        if snippets.all.isEmpty { Console.note(PageText.noSnippets.text(.current)) }
    }

    private func line(_ snippet: Snippet) -> String {
        guard isJSON else { return [snippet.title, snippet.text].map(LocalName.printable).joined(separator: "\t") }
        var object = JSONObject()
        object.add("title", snippet.title)
        object.add("text", snippet.text)
        object.add("leftPresses", snippet.leftPresses)
        object.add("received", snippet.received.map { String(decoding: $0, as: UTF8.self) })
        return object.text
    }
}

extension [DaemonPaths] {
    /// Reads the snippets from the first place where there is a snippet file or a configuration.
    func snippets() throws(CommandFailure) -> Snippets {
        let place = first { FileSystem.exists($0.snippets.string) || FileSystem.exists($0.configurationFile.string) }
        guard let place else { return Snippets() }
        let configuration = try reporting(Configuration.read(_:mustExist:), place.configurationFile, false)
        return try reporting(Snippets.init(file:over:), place.snippets.string, configuration.snippetSet)
    }
}
