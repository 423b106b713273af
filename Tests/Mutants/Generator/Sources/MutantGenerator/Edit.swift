// SPDX-License-Identifier: GPL-2.0-or-later

import SwiftSyntax

/// A part of the source text, and the text that replaces it.
struct Edit {
    let `operator`: MutationOperator
    let range: Range<AbsolutePosition>
    let replacement: String

    /// Replaces a node without the blanks and comments around it.
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
