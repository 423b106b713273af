// SPDX-License-Identifier: GPL-2.0-or-later

package import Texts

// Tests contain the expected messages in English; the product's messages all come from its table.

extension Message: ExpressibleByStringInterpolation {
    package init(stringLiteral text: String) { self.init(detail: text) }
}

extension Reason: ExpressibleByStringInterpolation {
    package init(stringLiteral cause: String) { self.init(Message(detail: cause)) }
}
