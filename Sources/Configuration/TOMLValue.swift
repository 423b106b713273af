// SPDX-License-Identifier: GPL-2.0-or-later

/// A value of a TOML text, with the line that it stands in.
///
/// TOML 1.0; read by toml++.
struct TOMLValue: Equatable, Sendable {
    enum Kind: Equatable, Sendable {
        case string(String)
        case integer(Int64)
        case boolean(Bool)
        case array([TOMLValue])
        case table([TOMLMember])
        /// A fraction, a date or a time.
        case other
    }

    var kind: Kind
    var line: Int
}
