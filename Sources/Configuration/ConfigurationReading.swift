// SPDX-License-Identifier: GPL-2.0-or-later

import Beacons
import Keystrokes
package import Texts
import Typing

/// All that a configuration says, and that the files and keymaps say which it names, as they are at one moment: so that
/// reading it again tells whether anything has changed.
package struct ConfigurationReading: Equatable, Sendable {
    private let configuration: Configuration
    private let profiles: [Profile]
    private let table: ByteTable
    private let strokes: [[Unicode.Scalar: [KeyboardLayout.Stroke]]]
    private let snippets: Snippets
    private let regions: RegionFile

    /// Reads everything that the configuration names, and the file of snippets beside it.
    package init(_ configuration: Configuration, snippets path: String) throws(CommandFailure) {
        self.configuration = configuration
        profiles = try configuration.profiles()
        table = try TableSource.read(configuration.tableName(profiles))
        let layout = try LayoutSource.layout(configuration.layout)
        strokes = [layout.strokes, layout.capsLockStrokes]
        snippets = try Snippets(file: path, over: configuration.snippetSet)
        regions = try configuration.regions().file
    }
}
