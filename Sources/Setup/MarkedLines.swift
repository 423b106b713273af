// SPDX-License-Identifier: GPL-2.0-or-later

/// Lines of blewedge's own in a file that belongs to others, between two comments by which they are found again.
package enum MarkedLines {
    /// The comment in front of the lines.
    package static let begin = "# blewedge: its own lines begin; `blewedge setup --remove` takes them away"
    /// The comment behind the lines.
    package static let end = "# blewedge: its own lines end"

    /// The lines between the comments; nil where a comment is not there.
    package static func found(in text: String) -> [String]? {
        let all = lines(of: text)
        guard let first = all.firstIndex(of: begin), let last = all[first...].firstIndex(of: end) else { return nil }
        return Array(all[(first + 1)..<last])
    }

    /// The text with these lines in place of any that were there: in front of all others if they are to be the `first`, else
    /// behind them.
    package static func adding(_ own: [String], to text: String, first: Bool) -> String {
        let others = lines(of: removing(own, from: text))
        let block = [begin] + own + [end]
        return (first ? block + others : others + block).map { $0 + "\n" }.joined()
    }

    /// The text without the comments and what is between them.
    ///
    /// Where somebody has taken one of the comments away, it is the other, and the lines that are `own`.
    package static func removing(_ own: [String], from text: String) -> String {
        var rest = lines(of: text)
        while let first = rest.firstIndex(of: begin), let last = rest[first...].firstIndex(of: end) {
            rest.removeSubrange(first...last)
        }
        if rest.contains(begin) || rest.contains(end) {
            rest.removeAll { $0 == begin || $0 == end || own.contains($0) }
        }
        return rest.map { $0 + "\n" }.joined()
    }

    private static func lines(of text: String) -> [String] {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        if lines.last == "" { lines.removeLast() }
        return lines
    }
}
