// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import Configuration
import Daemon
import Devices
import LinuxIO
import SystemPackage
import Texts
import Typing

/// The snippets that there are, printed.
struct SnippetList {
    let isJSON: Bool

    /// Prints those that a daemon of this user would know, or else one of the system.
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
    /// The snippets that the daemon of the first place with a file of snippets or a configuration has.
    func snippets() throws(CommandFailure) -> Snippets {
        let place = first { FileSystem.exists($0.snippets.string) || FileSystem.exists($0.configurationFile.string) }
        guard let place else { return Snippets() }
        let configuration = try Configuration.read(place.configurationFile)
        return try Snippets(file: place.snippets.string, over: configuration.snippetSet)
    }
}
