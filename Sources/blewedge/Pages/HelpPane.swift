// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Texts

/// List of all keys, shown in place of a page until a key other than a scroll key is pressed.
enum HelpPane {
    private static let keys: [(key: String, text: PageText)] = [
        ("F1-F6, F11", .keyPages), ("F7", .keyConnect), ("F8", .keyDisconnect), ("F9", .keyPause), ("F10, q", .keyQuit),
        ("F12", .keyHex), ("Alt-1 ... Alt-0", .keyAlt), ("Up/Down/PgUp/PgDn", .keyMove), ("Enter", .keyEnter),
        ("r", .keyRefresh), ("/", .keyFilter), ("?", .keyHelp), ("Ctrl-Z", .keySuspend), ("Ctrl-L", .keyRedraw),
        ("Ctrl-C", .keyQuit),
    ]

    static func pane(_ model: TUIModel, in area: PaneArea) -> Pane {
        let language = model.language
        let columns = area.width()
        let width = keys.map(\.key.count).max() ?? 0
        let lines = keys.flatMap { key, text in
            PageLine.marked(DisplayWidth.padded(key, to: width), text.text(language), columns: columns)
        }
        let note = PageLine.wrapped(PageText.keyNote.text(language), columns: columns)
        return Pane(PageText.keys.text(language), note + [PageLine()] + lines)
    }
}
