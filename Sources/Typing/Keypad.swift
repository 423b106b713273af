// SPDX-License-Identifier: GPL-2.0-or-later

package import Keystrokes

/// Keys and snippets available to clients, as a separate byte table (LK-23, HK-1 … HK-5).
///
/// It is created once, before the virtual keyboard, which declares `keys` together with the keys of the device's table
/// (D-14). If the layout cannot type a step, or if its keys must not be declared together with the others, the step is
/// rejected with the reason when a client requests it.
package struct Keypad: Sendable {
    /// Byte table in which each step of a sequence is one byte.
    package let table: CompiledTable
    /// Effects of keys on a field, under the application's layout.
    package let effects: KeyEffects

    private let method: ClearMethod
    private let snippets: Snippets
    private let numbers: [ByteTable.Step: UInt8]
    /// Reason why each rejected step cannot be typed.
    private let refusals: [ByteTable.Step: TypingError.Obstacle]

    /// Creates a keypad for applications that use `layout`.
    ///
    /// Its keyboard also declares the keys `others`.
    package init(
        layout: KeyboardLayout,
        beside others: KeySet = KeySet(),
        snippets: Snippets = Snippets(),
        clearing method: ClearMethod = .backspaces
    ) throws(TypingError) {
        self.snippets = snippets
        self.method = method
        effects = KeyEffects(layout)
        var builder = Builder(layout: layout, keys: others)
        // Steps are added in order of priority while the table has room: keys for corrections before keys of snippets.
        for key in KeyName.allCases { builder.add(key.step) }
        for step in Self.clearing(0, by: method) { builder.add(step) }
        for snippet in snippets.all { snippet.steps().forEach { builder.add($0) } }
        numbers = builder.numbers
        refusals = builder.refusals
        do {
            table = try CompiledTable(builder.table, layout: layout)
        } catch {
            throw .keypad(error)
        }
    }

    package var keys: KeySet { table.keys }

    package func sequence(of keys: [KeyName]) throws(TypingError) -> KeySequence {
        try sequence(keys.map(\.step), for: "key")
    }

    /// Returns the sequence of `snippet TITLE`.
    ///
    /// If the keyboard must not have the Left key, the cursor stays after the text.
    package func sequence(ofSnippet title: String) throws(TypingError) -> KeySequence {
        guard let snippet = snippets[title: title] else {
            throw .unknownSnippet(title, known: snippets.all.map(\.title))
        }
        return try sequence(snippet.steps(canMove: canMove), for: "snippet \(title.debugDescription)")
    }

    /// Returns the sequence of `clear`, for a field with this number of typed characters.
    package func clearing(_ characters: Int) throws(TypingError) -> KeySequence {
        try sequence(Self.clearing(characters, by: method), for: "clear")
    }

    /// True if the keyboard has the Left key.
    ///
    /// False if the layout needs AltGr for some characters, because Left and AltGr must not be declared together
    /// (D-14).
    package var canMove: Bool { KeyCode(name: "left").map { numbers[.key($0, [])] != nil } ?? false }

    /// Returns the steps that empty a field; after Ctrl+A, one Backspace deletes the selection.
    static func clearing(_ characters: Int, by method: ClearMethod) -> [ByteTable.Step] {
        let backspace = ByteTable.Step.key(.backspace, [])
        switch method {
        case .selectAll: return [.character("a", .control), backspace]
        case .backspaces:
            guard let end = KeyCode(name: "end") else { return [] }
            let count = max(0, min(characters, FieldLength.most))
            return [.key(end, [])] + Array(repeating: backspace, count: count)
        }
    }

    private func sequence(_ steps: [ByteTable.Step], for purpose: String) throws(TypingError) -> KeySequence {
        var bytes: [UInt8] = []
        for step in steps {
            guard let number = numbers[step] else { throw .notTypable(purpose, refusals[step] ?? .notDeclared) }
            bytes.append(number)
        }
        return KeySequence(steps: steps, bytes: bytes)
    }
}

/// Builder of a byte table, which adds each typable step once.
private struct Builder {
    let layout: KeyboardLayout
    var keys: KeySet
    var table = ByteTable.discard
    var numbers: [ByteTable.Step: UInt8] = [:]
    var refusals: [ByteTable.Step: TypingError.Obstacle] = [:]

    mutating func add(_ step: ByteTable.Step) {
        guard numbers[step] == nil, refusals[step] == nil else { return }
        guard let number = UInt8(exactly: numbers.count) else {
            refusals[step] = .tooManyKeys
            return
        }
        var alone = ByteTable.discard
        alone[number] = .type([step])
        do throws(CompiledTable.Failure) {
            let more = keys.union(try CompiledTable(alone, layout: layout).keys)
            if let forbidden = more.forbidden { throw .forbidden(forbidden) }
            keys = more
        } catch .untypable(_, let character, let layout) {
            refusals[step] = .layoutLacks(character, layout: layout)
            return
        } catch {
            refusals[step] = .table(error)
            return
        }
        numbers[step] = number
        table[number] = .type([step])
    }
}
