// SPDX-License-Identifier: GPL-2.0-or-later

/// Text that is typed before or after each barcode, or in a barcode's stead, with keys that have no character.
///
/// It is a small text and a table of its own for the encoder that types the barcodes: each different action is a byte
/// value.
public struct BarcodeAffix: Sendable {
    /// Why an affix was refused.
    public struct Fault: Error, Equatable, Sendable, CustomStringConvertible {
        /// One line for people: what is wrong, and where.
        public let description: String
    }

    /// The most characters and keys of an affix.
    public static let greatestLength = 256
    /// Types nothing.
    public static let nothing = BarcodeAffix()

    /// The actions, in the order in which they are typed.
    let bytes: [UInt8]
    /// The table that types the bytes; nil where there are none.
    let table: CompiledTable?

    private init() { self.init(bytes: [], table: nil) }

    private init(bytes: [UInt8], table: CompiledTable?) {
        self.bytes = bytes
        self.table = table
    }

    /// The affix without the keys that no open device may have pressed: Escape and Ctrl.
    var forOpenDevices: BarcodeAffix {
        BarcodeAffix(bytes: bytes, table: table.map { CompiledTable(open: $0) { _ in true } })
    }

    /// The affix that `text` describes, for readers who use `layout`: characters as they are, keys by their name in
    /// braces, `{{` for a brace.
    ///
    ///     GTIN:        {f9}        -{tab}
    public init(_ text: String, layout: KeyboardLayout = .us) throws(Fault) {
        let actions = try Self.actions(text)
        guard actions.count <= Self.greatestLength else {
            throw Fault(description: "\(actions.count) characters and keys: at most \(Self.greatestLength)")
        }
        try self.init(actions, layout)
    }

    /// The affix of these steps, typed one after the other, for readers who use `layout`.
    ///
    /// At most 256 of them differ.
    public init(_ steps: [ByteTable.Step], layout: KeyboardLayout) throws(Fault) {
        try self.init(steps.map { ByteTable.Action.type([$0]) }, layout)
    }

    private init(_ actions: [ByteTable.Action], _ layout: KeyboardLayout) throws(Fault) {
        guard !actions.isEmpty else {
            self = .nothing
            return
        }
        var table = ByteTable.discard
        var different: [ByteTable.Action] = []
        var bytes: [UInt8] = []
        for action in actions {
            let index = different.firstIndex(of: action) ?? different.endIndex
            guard let byte = UInt8(exactly: index) else {
                throw Fault(description: "more than 256 different keys and characters")
            }
            if index == different.endIndex {
                different.append(action)
                table[byte] = action
            }
            bytes.append(byte)
        }
        self.bytes = bytes
        do {
            self.table = try CompiledTable(table, layout: layout)
        } catch .untypable(_, let character, let layout) {
            throw Fault(description: "layout \(layout) cannot type \"\(character)\"")
        } catch {
            throw Fault(description: "\(error)")
        }
    }

    /// The keys that it presses.
    public var keys: KeySet { table?.keys ?? KeySet() }

    /// Whether it types nothing.
    var isEmpty: Bool { bytes.isEmpty }

    /// Whether a part of it has no keys in the layout, with CapsLock off or on.
    func hasUntypable(capsLock: Bool) -> Bool {
        table.map { table in bytes.contains { table.isRejected($0, capsLock: capsLock) } } ?? false
    }

    private static func actions(_ text: String) throws(Fault) -> [ByteTable.Action] {
        var actions: [ByteTable.Action] = []
        var rest = text.unicodeScalars[...]
        while let character = rest.popFirst() {
            guard character == "{" else {
                guard character.properties.generalCategory != .control else {
                    throw Fault(
                        description:
                            "U+\(String(character.value, radix: 16, uppercase: true)) is no text; name a key in braces"
                    )
                }
                actions.append(.text(character))
                continue
            }
            if rest.first == "{" {
                rest.removeFirst()
                actions.append(.text("{"))
                continue
            }
            guard let end = rest.firstIndex(of: "}") else {
                throw Fault(description: "a brace is not closed; `{{` is a brace itself")
            }
            let name = String(rest[..<end]).lowercased()
            guard let key = KeyCode(name: name) else {
                let suggestion = KeyCode.suggestion(for: name)
                let known = suggestion.isEmpty ? "; `{{` is a brace itself" : suggestion
                throw Fault(description: "there is no key \(name.debugDescription)\(known)")
            }
            guard !modifiers.contains(name) else {
                throw Fault(description: "key \(name) is never pressed by itself")
            }
            actions.append(.key(key))
            rest = rest[rest.index(after: end)...]
        }
        return actions
    }

    /// Keys that do nothing by themselves, or stay.
    private static let modifiers: Set<String> = [
        "leftshift", "rightshift", "leftctrl", "rightctrl", "leftalt", "rightalt", "leftmeta", "rightmeta", "capslock",
    ]
}
