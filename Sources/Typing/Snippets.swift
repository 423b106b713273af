// SPDX-License-Identifier: GPL-2.0-or-later

import LinuxIO
import SystemPackage
package import Texts

/// The snippets by their titles: built-in ones, and a user's file above them (HK-1, HK-3).
///
///     {
///       "greeting": "Kind regards,\n",
///       "link": "<a href=\"https://\"></a>",
///       "sarcasm": { "opening": "*", "closing": "*" },
///       "bold": { "received": "BOLD" },
///       "signature": { "text": "Jane Doe", "received": "\u0002SIG" }
///     }
///
/// A title that is built in is given another text, or with `opening` and `closing` another half. With `received`, a
/// barcode of these bytes types it (`Snippets.meant`).
package struct Snippets: Equatable, Sendable {
    /// Why a file of snippets was refused; the snippets in use stay.
    package struct Fault: Error, Equatable, Sendable, CustomStringConvertible {
        /// One line for people: what is wrong, and where.
        package let description: String
    }

    /// The most snippets of a file.
    package static let most = 200
    /// The most bytes of a file.
    package static let largestFile = 256 * 1024

    /// The snippets, the built-in ones first, then in the file's order.
    package private(set) var all: [Snippet]

    /// The snippets that need no file.
    package static let builtIn = Snippets(
        all: tags.map { Snippet(title: $0.title, opening: $0.opening, closing: $0.closing) }
    )

    /// The built-in ones as halves.
    static let tags: [(title: String, opening: String, closing: String)] = [
        ("bold", "<b>", "</b>"), ("italic", "<i>", "</i>"), ("underline", "<u>", "</u>"), ("strike", "<s>", "</s>"),
        ("quote", "<blockquote>", "</blockquote>"), ("code", "<code>", "</code>"),
        ("link", "<a href=\"http://\">", "</a>"), ("image", "<img src=\"http://\"/>", ""),
        ("video", "<video>http://", "</video>"), ("spoiler", "<spoiler title=\"\">", "</spoiler>"),
        ("user", "<hh user=\"\"/>", ""), ("sarcasm", "<sarcasm>", "</sarcasm>"), ("bore", "<bore>", "</bore>"),
    ]

    private init(all: [Snippet]) {
        self.all = all
    }

    /// The built-in snippets with those of a JSON text above them.
    package init(json: [UInt8]) throws(Fault) {
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
        self = .builtIn
        for (title, value) in members { set(try Self.snippet(title, value)) }
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

    /// The built-in snippets with those of a file above them; the built-in ones alone where there is no such file.
    package init(file path: String) throws(CommandFailure) {
        let bytes: [UInt8]
        do {
            bytes = try FileSystem.contents(of: path, limit: Self.largestFile)
        } catch .noSuchFileOrDirectory {
            self = .builtIn
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
            try self.init(json: bytes)
        } catch {
            throw CommandFailure(.configuration, FileFaultText.faulty, path, "\(error)")
        }
    }

    /// The snippet of that title; nil where there is none.
    package subscript(title title: String) -> Snippet? { all.first { $0.title == title } }

    private mutating func set(_ snippet: Snippet) {
        if let place = all.firstIndex(where: { $0.title == snippet.title }) {
            all[place] = snippet
        } else {
            all.append(snippet)
        }
    }

    private static func snippet(_ title: String, _ value: JSONValue) throws(Fault) -> Snippet {
        let quoted = title.debugDescription
        guard !title.isEmpty, title.count <= Snippet.longestTitle, title.utf8.count <= 4 * Snippet.longestTitle else {
            throw Fault(description: "title \(quoted): 1 to \(Snippet.longestTitle) characters belong there")
        }
        let snippet: Snippet
        switch value {
        case .string(let text): snippet = Snippet(title: title, text: text)
        case .object(let members): snippet = try Self.snippet(title, members, value)
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
