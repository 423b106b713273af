// SPDX-License-Identifier: GPL-2.0-or-later

package import Keystrokes
import LinuxIO
import SystemPackage
import Texts

/// Snippets by title: a built-in set, overridden and extended by the user's file (HK-1, HK-3).
///
///     {
///       "greeting": "Kind regards,\n",
///       "link": "<a href=\"https://\"></a>",
///       "sarcasm": { "opening": "*", "closing": "*" },
///       "bold": { "received": "BOLD" },
///       "signature": { "text": "Jane Doe", "received": "\u0002SIG" }
///     }
///
/// An entry with a built-in title replaces its text or, with `opening` or `closing`, one half of it.
///
/// A snippet with `received` is typed instead of a barcode that consists of these bytes (`Snippets.meant`).
package struct Snippets: Equatable, Sendable {
    /// Reason for rejecting a snippet file; the snippets in use are kept.
    package struct Fault: Error, Equatable, Sendable, CustomStringConvertible {
        package let description: String
    }

    package static let most = 200
    package static let largestFile = 256 * 1024

    /// All snippets: first the built-in ones, then the others in the order of the file.
    package private(set) var all: [Snippet]

    package enum BuiltIn: String, CaseIterable, Sendable {
        case none
        case habr
    }

    package init(_ set: BuiltIn = .none) {
        self.init(all: Self.tags(set).map { Snippet(title: $0.title, opening: $0.opening, closing: $0.closing) })
    }

    static func tags(_ set: BuiltIn) -> [(title: String, opening: String, closing: String)] {
        switch set {
        case .none: []
        case .habr: tags
        }
    }

    private static let tags: [(title: String, opening: String, closing: String)] = [
        ("bold", "<b>", "</b>"), ("italic", "<i>", "</i>"), ("underline", "<u>", "</u>"), ("strike", "<s>", "</s>"),
        ("quote", "<blockquote>", "</blockquote>"), ("code", "<code>", "</code>"),
        ("link", "<a href=\"http://\">", "</a>"), ("image", "<img src=\"http://\"/>", ""),
        ("video", "<video>http://", "</video>"), ("spoiler", "<spoiler title=\"\">", "</spoiler>"),
        ("user", "<hh user=\"\"/>", ""), ("sarcasm", "<sarcasm>", "</sarcasm>"), ("bore", "<bore>", "</bore>"),
    ]

    private init(all: [Snippet]) {
        self.all = all
    }

    /// Parses snippets from JSON, and adds them to a built-in set.
    package init(json: [UInt8], over set: BuiltIn = .none) throws(Fault) {
        guard json.count <= Self.largestFile else { throw Fault(description: "longer than \(Self.largestFile) bytes") }
        let value: JSONValue
        do {
            value = try JSONValue(json)
        } catch {
            throw Fault(description: "\(error)")
        }
        guard case .object(let members) = value else {
            throw Fault(description: "an object of titles and texts belongs here: {\"title\": \"text\"}")
        }
        guard members.count <= Self.most else {
            throw Fault(description: "\(members.count) snippets: at most \(Self.most)")
        }
        self.init(set)
        for (title, value) in members { replace(try Self.snippet(title, value, over: set)) }
        var titles: [[UInt8]: String] = [:]
        for snippet in all {
            guard let received = snippet.received else { continue }
            if let other = titles.updateValue(snippet.title, forKey: received) {
                throw Fault(
                    description:
                        "snippets \(other.debugDescription) and \(snippet.title.debugDescription) are typed for "
                        + "the same scan"
                )
            }
        }
    }

    /// Reads the snippets of a file, and adds them to a built-in set; if there is no file, uses the built-in set alone.
    package init(file path: String, over set: BuiltIn) throws(TypingError) {
        let bytes: [UInt8]
        do {
            bytes = try FileSystem.textContents(of: path, limit: Self.largestFile)
        } catch .noSuchFileOrDirectory {
            self.init(set)
            return
        } catch {
            throw .snippetsUnreadable(path, error)
        }
        do {
            try self.init(json: bytes, over: set)
        } catch {
            throw .faulty(path, reason: "\(error)")
        }
    }

    package subscript(title title: String) -> Snippet? { all.first { $0.title == title } }

    private mutating func replace(_ snippet: Snippet) {
        if let place = all.firstIndex(where: { $0.title == snippet.title }) {
            all[place] = snippet
        } else {
            all.append(snippet)
        }
    }

    private static func snippet(_ title: String, _ value: JSONValue, over set: BuiltIn) throws(Fault) -> Snippet {
        let quoted = title.debugDescription
        guard !title.isEmpty, title.count <= Snippet.longestTitle, title.utf8.count <= 4 * Snippet.longestTitle else {
            throw Fault(description: "title \(quoted): 1 to \(Snippet.longestTitle) characters belong there")
        }
        let snippet: Snippet
        switch value {
        case .string(let text): snippet = Snippet(title: title, text: text)
        case .object(let members): snippet = try Self.snippet(title, members, value, over: set)
        default:
            throw Fault(description: "snippet \(quoted): a text, or an object of \(Member.names), belongs here")
        }
        guard snippet.text.unicodeScalars.count <= Snippet.longestText else {
            throw Fault(description: "snippet \(quoted): longer than \(Snippet.longestText) characters")
        }
        let control = snippet.text.unicodeScalars.first {
            $0.properties.generalCategory == .control && !["\n", "\r", "\t"].contains($0)
        }
        if let control {
            throw Fault(
                description: "snippet \(quoted): U+\(String(control.value, radix: 16, uppercase: true)) cannot be typed"
            )
        }
        return snippet
    }
}

/// Text that a key or a command types, with the cursor position afterwards (HK-1, HK-2).
package struct Snippet: Equatable, Sendable {
    package let title: String
    /// Text, in which a line feed is Enter and a tab is Tab.
    package let text: String
    package let leftPresses: Int
    /// Bytes of the barcode that the snippet replaces; nil if only clients can trigger the snippet.
    package let received: [UInt8]?

    package static let longestTitle = 64
    /// Maximum length of a text, in Unicode scalars.
    package static let longestText = 1024
    package static let longestReceived = 256

    /// Strings after which the cursor is placed, in search order (HK-2).
    private static let inputPoints = ["]", "://", "=\"", ">"]

    /// Creates a snippet from one text; the cursor moves to the input point, or stays after a text without one.
    package init(title: String, text: String, received: [UInt8]? = nil) {
        self.title = title
        self.text = text
        self.received = received
        leftPresses = Self.leftPresses(in: text) ?? 0
    }

    /// Creates a snippet from two texts (HK-3); the cursor moves to the input point of the joined text, or between the
    /// two if there is none.
    package init(title: String, opening: String, closing: String, received: [UInt8]? = nil) {
        self.title = title
        self.received = received
        text = opening + closing
        leftPresses = Self.leftPresses(in: text) ?? Self.presses(over: closing)
    }

    /// Returns the number of presses of Left from the end of the text to its input point; nil if it has none.
    ///
    /// The input point follows the first of `]`, `://`, `="` and `>`, in this order, that the text contains.
    package static func leftPresses(in text: String) -> Int? {
        // Compare Unicode scalars, so that a combining mark after a sign does not hide the sign.
        let scalars = Array(text.unicodeScalars)
        for point in inputPoints {
            let wanted = Array(point.unicodeScalars)
            for start in scalars.indices where scalars[start...].starts(with: wanted) {
                var rest = ""
                rest.unicodeScalars.append(contentsOf: scalars[(start + wanted.count)...])
                return presses(over: rest)
            }
        }
        return nil
    }

    /// Returns the steps that type the text and move the cursor; if `canMove` is false, the cursor stays after the
    /// text.
    package func steps(canMove: Bool = true) -> [ByteTable.Step] {
        // CR LF is a single Character, and one press of Enter.
        let typed = text.flatMap { character -> [ByteTable.Step] in
            if ["\n", "\r", "\r\n"].contains(character) { return [.key(.enter, [])] }
            if character == "\t" { return [.key(.tab, [])] }
            return character.unicodeScalars.map { .character($0, []) }
        }
        guard canMove, let left = KeyCode(name: "left") else { return typed }
        return typed + Array(repeating: .key(left, []), count: leftPresses)
    }

    /// Returns the number of presses of Left that move the cursor across a text: one for each Character, regardless of
    /// its number of scalars.
    private static func presses(over text: String) -> Int { text.count }
}

// Parsing of snippets that are JSON objects in the file.

extension Snippets {
    enum Member: String, CaseIterable {
        case text, opening, closing, received

        static var names: String { allCases.map { $0.rawValue.debugDescription }.joined(separator: ", ") }
    }

    /// Creates a snippet from a JSON object in the file: one text, or an opening and a closing half.
    ///
    /// Each half has a default if the title is built in. Throws a `Fault` for an unknown member, a member that is not a
    /// string, or a text together with a half.
    static func snippet(
        _ title: String,
        _ members: [(name: String, value: JSONValue)],
        _ value: JSONValue,
        over set: BuiltIn
    ) throws(Fault) -> Snippet {
        let quoted = title.debugDescription
        if let other = members.first(where: { Member(rawValue: $0.name) == nil }) {
            throw Fault(
                description:
                    "snippet \(quoted): unknown member \(other.name.debugDescription); known are \(Member.names)"
            )
        }
        if let other = members.first(where: { $0.value.string == nil }) {
            throw Fault(description: "snippet \(quoted): \(other.name.debugDescription) is no text")
        }
        func text(_ member: Member) -> String? { value[member.rawValue]?.string }
        let received = text(.received).map { Array($0.utf8) }
        if let received, !(1...Snippet.longestReceived).contains(received.count) {
            throw Fault(
                description: "snippet \(quoted): \"received\" has \(received.count) bytes; 1 to "
                    + "\(Snippet.longestReceived) belong there"
            )
        }
        if let whole = text(.text) {
            guard text(.opening) == nil, text(.closing) == nil else {
                throw Fault(description: "snippet \(quoted): \"text\" is the whole of it; leave out the halves")
            }
            return Snippet(title: title, text: whole, received: received)
        }
        let tag = tags(set).first { $0.title == title }
        return Snippet(
            title: title,
            opening: text(.opening) ?? tag?.opening ?? "",
            closing: text(.closing) ?? tag?.closing ?? "",
            received: received
        )
    }

    /// Returns `rules` extended by the snippets that replace barcodes (HK-1).
    ///
    /// The rules are for `layout` and for a table that presses the keys `others`. If the keyboard must not declare the
    /// Left key together with its other keys (D-14), the cursor stays after the text. Without rules, barcodes are not
    /// recognised, so a snippet with `received` is rejected.
    package func meant(
        in rules: BarcodeRules?,
        layout: KeyboardLayout,
        beside others: KeySet
    ) throws(TypingError) -> BarcodeRules? {
        var meanings: [[UInt8]: BarcodeAffix] = [:]
        var keys = others.union(rules?.keys ?? KeySet())
        for snippet in all {
            guard let received = snippet.received else { continue }
            if rules == nil { throw .snippetWithoutBarcodes(title: snippet.title) }
            do throws(BarcodeAffix.Fault) {
                var typed = try BarcodeAffix(snippet.steps(), layout: layout)
                if keys.union(typed.keys).forbidden != nil {
                    typed = try BarcodeAffix(snippet.steps(canMove: false), layout: layout)
                }
                meanings[received] = typed
                keys = keys.union(typed.keys)
            } catch {
                throw .snippetNotTypable(title: snippet.title, error)
            }
        }
        guard let rules, !meanings.isEmpty else { return rules }
        do throws(BarcodeRules.Fault) {
            return try rules.typing(meanings)
        } catch {
            throw .snippetBarcodes(error)
        }
    }
}
