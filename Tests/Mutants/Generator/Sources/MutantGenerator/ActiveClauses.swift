// SPDX-License-Identifier: GPL-2.0-or-later

import SwiftSyntax

/// Finds the `#if` clauses that are compiled in both test and release builds, on 64-bit little-endian Linux.
enum ActiveClauses {
    /// Returns the elements of the active clause; nil if the builds differ or a condition is unknown.
    static func elements(of node: IfConfigDeclSyntax) -> IfConfigClauseSyntax.Elements? {
        guard let tested = active(node, debug: true), let released = active(node, debug: false) else { return nil }
        return tested.id == released.id ? tested.elements : nil
    }

    private static func active(_ node: IfConfigDeclSyntax, debug: Bool) -> IfConfigClauseSyntax? {
        for clause in node.clauses {
            guard let condition = clause.condition else { return clause }
            guard let holds = holds(condition, debug) else { return nil }
            if holds { return clause }
        }
        return nil
    }

    private static func holds(_ condition: ExprSyntax, _ debug: Bool) -> Bool? {
        switch condition.as(ExprSyntaxEnum.self) {
        case .declReferenceExpr(let name): return name.baseName.text == "DEBUG" ? debug : nil
        case .booleanLiteralExpr(let literal): return literal.literal.text == "true"
        case .prefixOperatorExpr(let prefix): return holds(prefix.expression, debug).map { !$0 }
        case .infixOperatorExpr(let infix):
            guard let left = holds(infix.leftOperand, debug), let right = holds(infix.rightOperand, debug) else {
                return nil
            }
            return infix.operator.trimmedDescription == "&&" ? left && right : left || right
        case .functionCallExpr(let call):
            let argument = call.arguments.trimmedDescription
            switch call.calledExpression.trimmedDescription {
            case "os": return argument == "Linux"
            case "_endian": return argument == "little"
            case "_pointerBitWidth": return argument == "_64"
            default: return nil
            }
        default: return nil
        }
    }
}
