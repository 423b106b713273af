// SPDX-License-Identifier: GPL-2.0-or-later

/// A language of the program's texts.
package enum Language: String, Sendable, CaseIterable {
    /// English, which every terminal can show.
    case english = "en"
    /// Japanese.
    case japanese = "ja"

    /// The environment variable that sets the language, regardless of the locale and the terminal.
    package static let variable = "BLEWEDGE_LANG"

    /// The language of a process with this environment.
    ///
    /// The locale of messages is the first of `LC_ALL`, `LC_MESSAGES` and `LANG` that is set and not empty:
    /// POSIX.1-2024, Base Definitions, 8.2. Japanese needs a locale in UTF-8, and a terminal other than the Linux
    /// console, which has only 512 glyphs.
    package init(_ environment: (String) -> String?) {
        if let wanted = environment(Self.variable).flatMap(Language.init(rawValue:)) {
            self = wanted
            return
        }
        let locale = Self.first(of: ["LC_ALL", "LC_MESSAGES", "LANG"], environment) ?? ""
        // The name `ja` occurs as `ja`, `ja_JP.UTF-8` or `ja@…`; longer names are other languages.
        let name = locale.prefix { $0.isLetter && $0.isASCII }
        let canShow = Self.isUnicode(environment) && environment("TERM") != "linux"
        self = name == Language.japanese.rawValue && canShow ? .japanese : .english
    }

    /// True if the encoding of text in this environment is UTF-8.
    ///
    /// The encoding is part of the locale in `LC_ALL`, `LC_CTYPE` or `LANG`, of which the first that is set counts.
    package static func isUnicode(_ environment: (String) -> String?) -> Bool {
        let locale = first(of: ["LC_ALL", "LC_CTYPE", "LANG"], environment) ?? ""
        let encoding = locale.drop { $0 != "." }.dropFirst().prefix { $0 != "@" }
        return ["utf-8", "utf8"].contains(encoding.lowercased())
    }

    private static func first(of names: [String], _ environment: (String) -> String?) -> String? {
        names.compactMap { environment($0).flatMap { $0.isEmpty ? nil : $0 } }.first
    }
}
