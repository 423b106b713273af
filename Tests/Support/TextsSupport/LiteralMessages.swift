// SPDX-License-Identifier: GPL-2.0-or-later

package import Texts

// Tests say in English what they expect; the product itself has no message but those of its table.

extension Message: ExpressibleByStringInterpolation {
    package init(stringLiteral text: String) { self.init(detail: text) }
}

extension Reason: ExpressibleByStringInterpolation {
    package init(stringLiteral cause: String) { self.init(Message(detail: cause)) }
}
