// SPDX-License-Identifier: GPL-2.0-or-later

/// A file for people at a shell: the manual page, or what a shell completes commands and options with.
package struct HelpFile: Hashable, Sendable {
    /// What reads such a file.
    package enum Reader: String, CaseIterable, Sendable {
        case man, bash, zsh, fish

        /// The path at which the reader looks for the file, among those of the administrator.
        package var path: String {
            switch self {
            case .man: "/usr/local/share/man/man1/blewedge.1"
            case .bash: "/usr/local/share/bash-completion/completions/blewedge"
            case .zsh: "/usr/local/share/zsh/site-functions/_blewedge"
            case .fish: "/usr/local/share/fish/vendor_completions.d/blewedge.fish"
            }
        }
    }

    /// The reader, by whose name its program is found.
    package let reader: Reader
    /// The text of the file.
    package let text: String

    /// Makes a file for a reader.
    package init(_ reader: Reader, _ text: String) {
        self.reader = reader
        self.text = text
    }
}
