// SPDX-License-Identifier: GPL-2.0-or-later

/// The name that was probably meant by a mistyped one.
public enum NearestName {
    /// The name among `known` with the least difference, at most two letters; nil where none is near.
    public static func of(_ name: String, among known: [String]) -> String? {
        let near = known.map { ($0, distance(name, $0)) }.min { $0.1 < $1.1 }
        guard let near, near.1 <= 2, near.1 < near.0.count else { return nil }
        return near.0
    }

    /// The number of letters that have to be inserted, removed or replaced (Levenshtein).
    private static func distance(_ left: String, _ right: String) -> Int {
        let right = Array(right)
        var row = Array(0...right.count)
        for (index, letter) in left.prefix(64).enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for column in right.indices {
                let above = row[column + 1]
                row[column + 1] = min(above + 1, row[column] + 1, diagonal + (letter == right[column] ? 0 : 1))
                diagonal = above
            }
        }
        return row[right.count]
    }
}

extension KeyCode {
    /// The name of the key that was probably meant by one that no key has, as the end of a fault; empty where none is near.
    static func suggestion(for name: String) -> String {
        let meant = others[name] ?? NearestName.of(name, among: named.map(\.name))
        return meant.map { ": is \"\($0)\" meant?" } ?? ""
    }

    /// Names of keys elsewhere.
    private static let others = [
        "return": "enter", "cr": "enter", "lf": "enter", "newline": "enter", "esc": "escape", "del": "delete",
        "bs": "backspace",
        "pgup": "pageup", "pgdn": "pagedown", "ins": "insert", "-": "minus", "=": "equal", ".": "dot", ",": "comma",
        "/": "slash",
    ]
}
