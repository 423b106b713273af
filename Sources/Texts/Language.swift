// SPDX-License-Identifier: GPL-2.0-or-later

/// A language that the product speaks to people in.
package enum Language: String, Sendable, CaseIterable {
    /// English, which every terminal can show.
    case english = "en"
    /// Japanese.
    case japanese = "ja"

    /// The variable that says the language, whatever the locale says and the terminal can show.
    package static let variable = "BLEWEDGE_LANG"

    /// The language of a process with this environment.
    ///
    /// The locale of messages is the first of `LC_ALL`, `LC_MESSAGES` and `LANG` that is set: POSIX.1-2024, Base
    /// Definitions, 8.2. Japanese needs an encoding that has it, and a terminal: a Linux console has 512 glyphs.
    package init(_ environment: (String) -> String?) {
        if let wanted = environment(Self.variable).flatMap(Language.init(rawValue:)) {
            self = wanted
            return
        }
        let locale = Self.first(of: ["LC_ALL", "LC_MESSAGES", "LANG"], environment) ?? ""
        // `ja`, `ja_JP.UTF-8`, `ja@…`, and no other language that begins so.
        let name = locale.prefix { $0.isLetter && $0.isASCII }
        let canShow = Self.isUnicode(environment) && environment("TERM") != "linux"
        self = name == Language.japanese.rawValue && canShow ? .japanese : .english
    }

    /// Whether text is UTF-8 in this environment.
    ///
    /// The encoding is the locale's that `LC_ALL`, `LC_CTYPE` or `LANG` names.
    package static func isUnicode(_ environment: (String) -> String?) -> Bool {
        let locale = first(of: ["LC_ALL", "LC_CTYPE", "LANG"], environment) ?? ""
        let encoding = locale.drop { $0 != "." }.dropFirst().prefix { $0 != "@" }
        return ["utf-8", "utf8"].contains(encoding.lowercased())
    }

    private static func first(of names: [String], _ environment: (String) -> String?) -> String? {
        names.compactMap { environment($0).flatMap { $0.isEmpty ? nil : $0 } }.first
    }
}
