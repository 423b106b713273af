// SPDX-License-Identifier: GPL-2.0-or-later

/// A key with its value.
struct TOMLMember: Equatable, Sendable {
    var key: String
    var line: Int
    var value: TOMLValue
}
