// SPDX-License-Identifier: GPL-2.0-or-later

/// Rules of scan mode: where a barcode ends, which barcodes are typed, and the text around them.
public struct BarcodeRules: Sendable {
    /// Error in the rules of scan mode.
    public struct Fault: Error, Equatable, Sendable, CustomStringConvertible {
        /// One-line description for users: the violated rule, and what it requires.
        public let description: String
    }

    /// Maximum value of `maximumLength`.
    public static let greatestLength = 65_536
    /// Default maximum length of a barcode: the maximum number of digits in a QR code.
    public static let defaultMaximumLength = 7_089
    /// Carriage return, line feed and tab.
    public static let defaultTerminators: Set<UInt8> = [
        ByteTable.carriageReturn, ByteTable.lineFeed, ByteTable.horizontalTab,
    ]
    /// Maximum idle gap and duplicate window, in nanoseconds: one hour.
    public static let longestTime: Int64 = 3_600_000_000_000

    let terminators: InlineArray<256, Bool>
    /// Byte that ends a barcode, preferably CR; nil if barcodes end only after a silence.
    package var terminator: UInt8? {
        if terminators[Int(ByteTable.carriageReturn)] { return ByteTable.carriageReturn }
        return terminators.indices.first { terminators[$0] }.map { UInt8(truncatingIfNeeded: $0) }
    }
    /// Silence that ends a barcode, in nanoseconds; nil if only a terminator ends a barcode.
    let idleGap: Int64?
    /// Accepted lengths of a barcode, in bytes, without its terminator.
    let lengths: ClosedRange<Int>
    /// Text typed before each barcode.
    private(set) var prefix: BarcodeAffix
    /// Text typed after each barcode instead of its terminator; nil types the terminator as the table defines it.
    private(set) var suffix: BarcodeAffix?
    /// Time during which a repetition of the last barcode is not typed, in nanoseconds; 0 types every barcode.
    let duplicateWindow: Int64
    /// True if a carriage return followed by a line feed counts as a single terminator.
    let joinsLineEnds: Bool
    /// Replacement texts, keyed by the bytes of the barcode without its terminator.
    private(set) var meanings: [[UInt8]: BarcodeAffix] = [:]

    /// Creates rules after validating them.
    ///
    /// A barcode ends with one of `terminators`, or after a silence of `idleGap` nanoseconds; at least one of the two
    /// is required. It has `minimumLength` to `maximumLength` bytes, not counting its terminator. `prefix` is typed
    /// before it, and `suffix` is typed after it instead of the terminator. A barcode that repeats the previous one
    /// within `duplicateWindow` nanoseconds is not typed again.
    public init(
        terminators: Set<UInt8> = defaultTerminators,
        idleGap: Int64? = nil,
        minimumLength: Int = 1,
        maximumLength: Int = defaultMaximumLength,
        prefix: BarcodeAffix = .nothing,
        suffix: BarcodeAffix? = nil,
        duplicateWindow: Int64 = 0
    ) throws(Fault) {
        guard !terminators.isEmpty || idleGap != nil else {
            throw Fault(description: "a scan needs an end: a terminator, an idle gap, or both")
        }
        if let idleGap, idleGap <= 0 || idleGap > Self.longestTime {
            throw Fault(description: "idle gap of \(idleGap) ns: must be more than 0 and at most an hour")
        }
        guard minimumLength >= 0, minimumLength <= maximumLength, maximumLength <= Self.greatestLength else {
            throw Fault(
                description: "lengths from \(minimumLength) to \(maximumLength): must be from 0 to "
                    + "\(Self.greatestLength), the least first"
            )
        }
        guard duplicateWindow >= 0, duplicateWindow <= Self.longestTime else {
            throw Fault(description: "duplicate window of \(duplicateWindow) ns: must be from 0 to an hour")
        }
        var isTerminator = InlineArray<256, Bool>(repeating: false)
        for byte in terminators { isTerminator[Int(byte)] = true }
        self.terminators = isTerminator
        self.idleGap = idleGap
        lengths = minimumLength...maximumLength
        self.prefix = prefix
        self.suffix = suffix
        self.duplicateWindow = duplicateWindow
        joinsLineEnds = isTerminator[Int(ByteTable.carriageReturn)] && isTerminator[Int(ByteTable.lineFeed)]
    }

    /// Returns a copy of the rules with replacement texts for some barcodes.
    ///
    /// A replacement text is typed instead of the barcode with its prefix, terminator and suffix, even if the barcode
    /// is shorter than the minimum length.
    public func typing(_ meanings: [[UInt8]: BarcodeAffix]) throws(Fault) -> BarcodeRules {
        for bytes in meanings.keys {
            guard (1...lengths.upperBound).contains(bytes.count), !bytes.contains(where: { terminators[Int($0)] })
            else {
                throw Fault(
                    description: "\(String(decoding: bytes, as: UTF8.self).debugDescription) can be no scan: "
                        + "1 to \(lengths.upperBound) bytes, and none that ends one"
                )
            }
        }
        var rules = self
        rules.meanings = meanings
        return rules
    }

    /// Rules for unpaired devices: the prefix, suffix and replacement texts never press Escape or Ctrl (D-2).
    var forOpenDevices: BarcodeRules {
        var rules = self
        rules.prefix = prefix.forOpenDevices
        rules.suffix = suffix?.forOpenDevices
        rules.meanings = meanings.mapValues { $0.forOpenDevices }
        return rules
    }

    /// Keys that the prefix, the suffix and the replacement texts press.
    public var keys: KeySet {
        meanings.values.reduce(prefix.keys.union(suffix?.keys ?? KeySet())) { $0.union($1.keys) }
    }
}

/// Text typed before, after or instead of a barcode; it may contain keys that produce no character.
///
/// It is stored as a short byte string with its own table, so that the same encoder types it: each distinct action is
/// one byte value.
public struct BarcodeAffix: Sendable {
    /// Error in the text of an affix.
    public struct Fault: Error, Equatable, Sendable, CustomStringConvertible {
        /// One-line description of the error and its place in the text, for users.
        public let description: String
    }

    /// Maximum number of characters and keys in an affix.
    public static let greatestLength = 256
    /// An affix that types nothing.
    public static let nothing = BarcodeAffix()

    /// Actions as byte values of `table`, in typing order.
    let bytes: [UInt8]
    /// Table that types `bytes`; nil if `bytes` is empty.
    let table: CompiledTable?

    private init() { self.init(bytes: [], table: nil) }

    private init(bytes: [UInt8], table: CompiledTable?) {
        self.bytes = bytes
        self.table = table
    }

    /// Affix without the keys that are blocked for unpaired devices: Escape and Ctrl.
    var forOpenDevices: BarcodeAffix {
        BarcodeAffix(bytes: bytes, table: table.map { CompiledTable(open: $0) { _ in true } })
    }

    /// Parses an affix for `layout`: characters stand for themselves, key names are in braces, and `{{` is a brace.
    ///
    ///     GTIN:        {f9}        -{tab}
    public init(_ text: String, layout: KeyboardLayout = .us) throws(Fault) {
        let actions = try Self.actions(text)
        guard actions.count <= Self.greatestLength else {
            throw Fault(description: "\(actions.count) characters and keys: at most \(Self.greatestLength)")
        }
        try self.init(actions, layout)
    }

    /// Creates an affix from steps in typing order, for `layout`; at most 256 of them may be distinct.
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

    /// Keys that the affix presses.
    public var keys: KeySet { table?.keys ?? KeySet() }

    var isEmpty: Bool { bytes.isEmpty }

    /// Returns true if the layout has no keys for a part of the affix in this CapsLock state.
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

    /// Keys that have no effect by themselves, or that switch a state on and off.
    private static let modifiers: Set<String> = [
        "leftshift", "rightshift", "leftctrl", "rightctrl", "leftalt", "rightalt", "leftmeta", "rightmeta", "capslock",
    ]
}
