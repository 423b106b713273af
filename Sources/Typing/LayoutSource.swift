// SPDX-License-Identifier: GPL-2.0-or-later

package import Keystrokes
package import LinuxIO
package import SystemPackage
import Texts

package enum LayoutSource {
    /// Description of the layout names, in English, for the help and the manual.
    package static let names = PlainText.layouts.text(.english)

    /// Names of the layouts that need no other program or file, followed by the name for the console's keymap.
    package static let common = BuiltInLayout.allCases.map(\.rawValue) + ["console"]

    /// Loads a layout by name.
    ///
    /// The name denotes a built-in layout (`us`, `de`, `jp(OADG109A)`), a layout of the X keyboard database, with or
    /// without the prefix `xkb:`, or the current keymap of the kernel's text consoles (`console`, `console:tty2`).
    package static func layout(_ name: String) throws(TypingError) -> KeyboardLayout {
        if let layout = KeyboardLayout(named: name) { return layout }
        if name == "console" { return try console(name, ConsoleKeymap.foreground) }
        if name.hasPrefix("console:") {
            let terminal = String(name.dropFirst("console:".count))
            return try console(name, terminal.hasPrefix("/") ? terminal : "/dev/" + terminal)
        }
        return try xkb(name)
    }

    private static func xkb(_ name: String) throws(TypingError) -> KeyboardLayout {
        let plainName = name.hasPrefix("xkb:") ? String(name.dropFirst("xkb:".count)) : name
        do {
            let keymap = try XKBKeymap(named: plainName)
            return KeyboardLayout(
                name: name,
                levels: keymap.levels.compactMap(level),
                capsLockLevels: keymap.capsLockLevels.compactMap(level),
                compositions: KeyboardLayout.unicodeCompositions
            )
        } catch {
            throw .layout(name, error)
        }
    }

    private static func level(_ level: XKBKeymap.Level) -> KeyboardLayout.Level? {
        let stroke = stroke(level.key, level.shift, level.altGr)
        if let mark = level.deadMark.flatMap(Unicode.Scalar.init) { return .init(stroke, .dead(mark)) }
        guard level.character != 0, let character = Unicode.Scalar(level.character) else { return nil }
        return .init(stroke, .character(character))
    }

    private static func console(_ name: String, _ terminal: String) throws(TypingError) -> KeyboardLayout {
        do {
            let keymap = try ConsoleKeymap(ofTerminal: terminal)
            return KeyboardLayout(
                name: name,
                levels: keymap.levels.compactMap(level),
                capsLockLevels: keymap.capsLockLevels.compactMap(level),
                compositions: keymap.compositions.compactMap(composition)
            )
        } catch {
            throw .console(layout: name, terminal: terminal, error)
        }
    }

    private static func level(_ level: ConsoleKeymap.Level) -> KeyboardLayout.Level? {
        let stroke = stroke(level.key, level.shift, level.altGr)
        switch level.output {
        case .character(let number): return Unicode.Scalar(number).map { .init(stroke, .character($0)) }
        case .dead(let number): return Unicode.Scalar(number).map { .init(stroke, .dead($0)) }
        }
    }

    private static func composition(_ composition: ConsoleKeymap.Composition) -> KeyboardLayout.Composition? {
        guard let dead = Unicode.Scalar(composition.dead), let base = Unicode.Scalar(composition.base),
            let result = Unicode.Scalar(composition.result)
        else { return nil }
        return KeyboardLayout.Composition(dead: dead, base: base, result: result)
    }

    private static func stroke(_ key: UInt16, _ shift: Bool, _ altGr: Bool) -> KeyboardLayout.Stroke {
        var modifiers = KeyModifiers()
        if shift { modifiers.insert(.shift) }
        if altGr { modifiers.insert(.altGr) }
        return KeyboardLayout.Stroke(KeyCode(rawValue: key), modifiers)
    }
}

package struct LayoutDifference: Hashable, Sendable {
    package var meant: Unicode.Scalar
    /// Character in the console's keymap; nil if the keymap has none or has a dead key.
    package var given: Unicode.Scalar?

    package init(meant: Unicode.Scalar, given: Unicode.Scalar?) {
        self.meant = meant
        self.given = given
    }

    /// Returns the printable ASCII characters for which the console's keymap differs from `layout`.
    package static func between(_ layout: KeyboardLayout, _ levels: [ConsoleKeymap.Level]) -> [LayoutDifference] {
        var given: [KeyboardLayout.Stroke: Unicode.Scalar] = [:]
        for level in levels {
            var modifiers = KeyModifiers()
            if level.shift { modifiers.insert(.shift) }
            if level.altGr { modifiers.insert(.altGr) }
            guard case .character(let number) = level.output else { continue }
            given[KeyboardLayout.Stroke(KeyCode(rawValue: level.key), modifiers)] = Unicode.Scalar(number)
        }
        return (0x20...0x7E).compactMap(Unicode.Scalar.init).compactMap { meant in
            // Characters that need several strokes are omitted, because keymaps combine dead keys differently.
            guard let strokes = layout.strokes(for: meant), strokes.count == 1, given[strokes[0]] != meant else {
                return nil
            }
            return LayoutDifference(meant: meant, given: given[strokes[0]])
        }
    }
}

package enum TableSource {
    package static let names = ByteTable.BuiltIn.allCases.map(\.rawValue).joined(separator: ", ")

    /// Reads the built-in table with this name or, if there is none, the table file at this path.
    package static func read(_ source: String) throws(TypingError) -> ByteTable {
        if let table = ByteTable(named: source) { return table }
        let bytes: [UInt8]
        do {
            bytes = try FileSystem.textContents(of: source, limit: ByteTable.largestText)
        } catch {
            throw .tableUnreadable(source, error)
        }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .notText(source) }
        do {
            return try ByteTable(text: text)
        } catch {
            throw .faulty(source, reason: "\(error)")
        }
    }

    /// Returns the path of a table file, which is relative to `directory`; the name of a built-in table stays as it is.
    package static func resolve(_ source: String, in directory: FilePath) -> String {
        ByteTable(named: source) == nil ? directory.pushing(FilePath(source)).string : source
    }

    package static func compiled(
        _ table: ByteTable,
        of source: String,
        layout: KeyboardLayout
    ) throws(TypingError) -> CompiledTable {
        do {
            return try CompiledTable(table, layout: layout)
        } catch {
            throw .faulty(source, reason: "\(error)")
        }
    }
}
