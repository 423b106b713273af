// SPDX-License-Identifier: GPL-2.0-or-later

import SwiftSyntax

/// Range of the source text, and its replacement.
struct Edit {
    let `operator`: MutationOperator
    let range: Range<AbsolutePosition>
    let replacement: String

    /// Replaces a node without its surrounding white space and comments.
    init(_ operator: MutationOperator, _ node: some SyntaxProtocol, _ replacement: String) {
        self.init(
            `operator`,
            node.positionAfterSkippingLeadingTrivia..<node.endPositionBeforeTrailingTrivia,
            replacement
        )
    }

    init(_ operator: MutationOperator, _ range: Range<AbsolutePosition>, _ replacement: String) {
        self.operator = `operator`
        self.range = range
        self.replacement = replacement
    }
}
