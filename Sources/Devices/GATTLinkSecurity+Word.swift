// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothLE

extension GATTLinkSecurity.Level {
    /// The words of all levels, for people.
    package static let words = allCases.map(\.word).joined(separator: ", ")

    /// The level of a word, as files, requests and options have it; nil for any other.
    package init?(word: some StringProtocol) {
        guard let level = Self.allCases.first(where: { $0.word == word }) else { return nil }
        self = level
    }

    /// The level's word: `none`, `encrypted` or `authenticated`.
    package var word: String { "\(self)" }
}
