// SPDX-License-Identifier: GPL-2.0-or-later

package import Keystrokes
package import Texts

/// The small keyboard: every key and snippet that can be asked for, as a byte table of its own (LK-23, HK-1 … HK-5).
///
/// It is made once, before the virtual keyboard, which declares `keys` beside those of the device's table (D-14). What the
/// layout cannot type, and what may not be declared beside the rest, is refused when it is asked for, with the reason.
package struct Keypad: Sendable {
    /// What each byte of a sequence types.
    package let table: CompiledTable
    /// What keys do to a field where the reader uses its layout.
    package let effects: KeyEffects

    private let method: ClearMethod
    private let snippets: Snippets
    /// The byte of each step.
    private let numbers: [ByteTable.Step: UInt8]
    /// Why a step is not among these.
    private let refusals: [ByteTable.Step: Message]

    /// A keypad for readers who use `layout`, on a keyboard that declares `others` in any case.
    package init(
        layout: KeyboardLayout,
        beside others: KeySet = KeySet(),
        snippets: Snippets = .builtIn,
        clearing method: ClearMethod = .backspaces
    ) throws(CommandFailure) {
        self.snippets = snippets
        self.method = method
        effects = KeyEffects(layout)
        var builder = Builder(layout: layout, keys: others)
        // First come, first declared: what mends an entry stands above what a file of snippets asks for.
        for key in KeyName.allCases { builder.add(key.step) }
        for step in Self.clearing(0, by: method) { builder.add(step) }
        for snippet in snippets.all { snippet.steps().forEach { builder.add($0) } }
        numbers = builder.numbers
        refusals = builder.refusals
        do {
            table = try CompiledTable(builder.table, layout: layout)
        } catch {
            throw CommandFailure(.configuration, KeyboardFaultText.notDeclared, "\(error)")
        }
    }

    /// The keys that it presses, to be declared.
    package var keys: KeySet { table.keys }

    /// The sequence of `key NAME…`.
    package func sequence(of keys: [KeyName]) throws(CommandFailure) -> KeySequence {
        try sequence(keys.map(\.step), for: "key")
    }

    /// The sequence of `snippet TITLE`.
    ///
    /// Where the keyboard may not have Left, the cursor stays behind the text.
    package func sequence(ofSnippet title: String) throws(CommandFailure) -> KeySequence {
        guard let snippet = snippets[title: title] else {
            throw CommandFailure(
                .usage,
                KeyboardFaultText.noSnippet,
                title.debugDescription,
                snippets.all.map(\.title).joined(separator: ", ")
            )
        }
        return try sequence(snippet.steps(canMove: canMove), for: "snippet \(title.debugDescription)")
    }

    /// The sequence of `clear`, for a field into which so many characters were typed.
    package func clearing(_ characters: Int) throws(CommandFailure) -> KeySequence {
        try sequence(Self.clearing(characters, by: method), for: "clear")
    }

    /// Whether the keyboard has Left: not where the layout's characters need AltGr, beside which it is forbidden (D-14).
    package var canMove: Bool { KeyCode(name: "left").map { numbers[.key($0, [])] != nil } ?? false }

    /// What empties a field.
    ///
    /// The first Backspace deletes what Ctrl+A has selected.
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

    private func sequence(_ steps: [ByteTable.Step], for purpose: String) throws(CommandFailure) -> KeySequence {
        var bytes: [UInt8] = []
        for step in steps {
            guard let number = numbers[step] else {
                throw CommandFailure(
                    .configuration,
                    KeyboardFaultText.notTypable,
                    purpose,
                    refusals[step] ?? KeyboardFaultText.keyMissing.message()
                )
            }
            bytes.append(number)
        }
        return KeySequence(steps: steps, bytes: bytes)
    }
}

/// Collects steps that can be typed, each once, as bytes of a table.
private struct Builder {
    let layout: KeyboardLayout
    /// What is declared so far.
    var keys: KeySet
    var table = ByteTable.discard
    var numbers: [ByteTable.Step: UInt8] = [:]
    var refusals: [ByteTable.Step: Message] = [:]

    init(layout: KeyboardLayout, keys: KeySet) {
        self.layout = layout
        self.keys = keys
    }

    mutating func add(_ step: ByteTable.Step) {
        guard numbers[step] == nil, refusals[step] == nil else { return }
        guard let number = UInt8(exactly: numbers.count) else {
            refusals[step] = KeyboardFaultText.tooManyKeys.message()
            return
        }
        var alone = ByteTable.discard
        alone[number] = .type([step])
        do {
            let more = try CompiledTable(alone, layout: layout).keys
            if let forbidden = keys.union(more).forbidden {
                refusals[step] = Message(detail: "\(forbidden)")
                return
            }
            keys = keys.union(more)
        } catch .untypable(_, let character, let layout) {
            refusals[step] = KeyboardFaultText.layoutLacks.message(layout, "\(character)")
            return
        } catch {
            refusals[step] = Message(detail: "\(error)")
            return
        }
        numbers[step] = number
        table[number] = .type([step])
    }
}
