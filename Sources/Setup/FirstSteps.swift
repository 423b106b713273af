// SPDX-License-Identifier: GPL-2.0-or-later

/// The commands with which a new user gets from a machine with only an adapter to the first typed character.
///
/// The guide prints them, the README lists them, and the lab runs them unchanged.
package enum FirstSteps {
    /// Maximum number of commands.
    package static let most = 3
    /// Placeholder in the commands for the user's device.
    package static let device = "DEVICE"

    /// Returns the commands in order; if the service manager is known, they install the keyboard as a service.
    package static func commands(hasManager: Bool) -> [String] {
        let choose = ["sudo blewedge scan --once", "sudo blewedge use \(device)"]
        return hasManager ? [setup] + choose : choose + ["sudo blewedge run"]
    }

    static let setup = "sudo blewedge setup"
}

/// A help file for people who use a shell: a manual page, or the completions for a shell.
package struct HelpFile: Hashable, Sendable {
    package enum Reader: String, CaseIterable, Sendable {
        case man, configurationPage, bash, zsh, fish

        /// Name of the program that reads the file.
        package var program: String { self == .configurationPage ? Self.man.rawValue : rawValue }

        /// Path where the reader looks for files that the administrator has installed.
        package var path: String {
            switch self {
            case .man: "/usr/local/share/man/man1/blewedge.1"
            case .configurationPage: "/usr/local/share/man/man5/blewedge.toml.5"
            case .bash: "/usr/local/share/bash-completion/completions/blewedge"
            case .zsh: "/usr/local/share/zsh/site-functions/_blewedge"
            case .fish: "/usr/local/share/fish/vendor_completions.d/blewedge.fish"
            }
        }
    }

    package let reader: Reader
    package let text: String

    package init(_ reader: Reader, _ text: String) {
        self.reader = reader
        self.text = text
    }
}
