// SPDX-License-Identifier: GPL-2.0-or-later

import LinuxIO
import SystemPackage
package import Texts

/// The snippets by title: those of a built-in set, replaced and extended by those of a user's file (HK-1, HK-3).
///
///     {
///       "greeting": "Kind regards,\n",
///       "link": "<a href=\"https://\"></a>",
///       "sarcasm": { "opening": "*", "closing": "*" },
///       "bold": { "received": "BOLD" },
///       "signature": { "text": "Jane Doe", "received": "\u0002SIG" }
///     }
///
/// A built-in title gets another text, or with `opening` and `closing` another half.
///
/// With `received`, the snippet is typed in place of a barcode of these bytes (`Snippets.meant`).
package struct Snippets: Equatable, Sendable {
    /// The reason for which a file of snippets is refused.
    ///
    /// The snippets in use stay.
    package struct Fault: Error, Equatable, Sendable, CustomStringConvertible {
        /// The fault and its place, in one English line.
        package let description: String
    }

    /// The most snippets of a file.
    package static let most = 200
    /// The largest file in bytes.
    package static let largestFile = 256 * 1024

    /// All snippets: the built-in ones first, then the others in the order of the file.
    package private(set) var all: [Snippet]

    /// A built-in set of snippets.
    package enum BuiltIn: String, CaseIterable, Sendable {
        /// No snippet.
        case none
        /// HTML tags of a forum, as an example.
        case habr
    }

    /// The snippets of a built-in set.
    package init(_ set: BuiltIn = .none) {
        self.init(all: Self.tags(set).map { Snippet(title: $0.title, opening: $0.opening, closing: $0.closing) })
    }

    /// The opening and closing texts of a built-in set.
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

    /// Makes the snippets of a JSON text, together with those of a built-in set.
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

    /// Makes the snippets of a file, together with those of a built-in set.
    ///
    /// Without such a file they are the built-in ones alone.
    package init(file path: String, over set: BuiltIn) throws(CommandFailure) {
        let bytes: [UInt8]
        do {
            bytes = try FileSystem.textContents(of: path, limit: Self.largestFile)
        } catch .noSuchFileOrDirectory {
            self.init(set)
            return
        } catch {
            throw CommandFailure(
                error == .permissionDenied ? .permission : .configuration,
                FileFaultText.snippetsUnreadable,
                path,
                "\(error)",
                remedy: error == .permissionDenied ? RemedyText.daemonMayRead.message() : nil
            )
        }
        do {
            try self.init(json: bytes, over: set)
        } catch {
            throw CommandFailure(.configuration, FileFaultText.faulty, path, "\(error)")
        }
    }

    /// The snippet with this title; nil if there is none.
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
            throw Fault(
                description: "snippet \(quoted): a text, or an object of \(Member.names), belongs here"
            )
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
