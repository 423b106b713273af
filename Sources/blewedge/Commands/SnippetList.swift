// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import LinuxIO
import SystemPackage
import Texts
import Typing
import Wedge

/// The snippets that there are, printed.
struct SnippetList {
    let isJSON: Bool

    /// Prints those that a daemon of this user would know, or else one of the system.
    func print() throws {
        let paths = try DaemonPaths.reachable().map(\.snippets.string)
        let path = paths.first(where: FileSystem.exists)
        for snippet in try path.map(Snippets.init(file:))?.all ?? Snippets.builtIn.all {
            try StandardStream.output.write(line(snippet) + "\n")
        }
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
