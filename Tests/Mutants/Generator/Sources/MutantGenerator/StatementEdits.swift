// SPDX-License-Identifier: GPL-2.0-or-later

import SwiftSyntax

/// Edits of whole statements.
enum StatementEdits {
    static func item(_ item: CodeBlockItemSyntax) -> [Edit] {
        switch item.item {
        case .expr(let expression):
            if let assignment = expression.as(InfixOperatorExprSyntax.self), isDroppable(assignment) {
                return [drop(item, .droppedAssignment)]
            }
            return isDroppable(expression, item) ? [drop(item, .droppedCall)] : []
        case .stmt(let statement):
            if let node = statement.as(GuardStmtSyntax.self) { return droppedGuard(node, item) }
            if let node = statement.as(BreakStmtSyntax.self) {
                return jump(Syntax(node), node.breakKeyword, node.label?.text)
            }
            if let node = statement.as(ContinueStmtSyntax.self) {
                return jump(Syntax(node), node.continueKeyword, node.label?.text)
            }
            return []
        default: return []
        }
    }

    /// Removes a statement but keeps its line breaks, so that the other lines keep their numbers.
    private static func drop(_ item: CodeBlockItemSyntax, _ operator: MutationOperator) -> Edit {
        let list = item.parent
        let isOnlyOneOfCase =
            list?.children(viewMode: .sourceAccurate).count == 1 && list?.parent?.is(SwitchCaseSyntax.self) == true
        let ends = item.trimmedDescription.filter(\.isNewline)
        return Edit(`operator`, item, (isOnlyOneOfCase ? "break" : "") + ends)
    }

    /// Calls that end the program or the initializer, or that only detect programming errors.
    private static let kept: Set = [
        "abort", "assert", "assertionFailure", "exit", "fatalError", "precondition", "preconditionFailure", "self.init",
        "super.init",
    ]

    private static func isDroppable(_ expression: ExprSyntax, _ item: CodeBlockItemSyntax) -> Bool {
        guard let call = call(in: expression), !kept.contains(call.calledExpression.trimmedDescription) else {
            return false
        }
        // The last statement of `guard … else` must not return.
        let list = item.parent?.as(CodeBlockItemListSyntax.self)
        if list?.parent?.parent?.is(GuardStmtSyntax.self) == true, list?.last?.id == item.id { return false }
        return !Scope.isValue(item)
    }

    /// Returns the call in a statement, without `try`, `await`, `_ =`, `?` and the like.
    private static func call(in expression: ExprSyntax) -> FunctionCallExprSyntax? {
        switch expression.as(ExprSyntaxEnum.self) {
        case .functionCallExpr(let node): return node
        case .tryExpr(let node): return call(in: node.expression)
        case .awaitExpr(let node): return call(in: node.expression)
        case .unsafeExpr(let node): return call(in: node.expression)
        case .infixOperatorExpr(let node):
            let isDiscarded = node.leftOperand.is(DiscardAssignmentExprSyntax.self)
            return isDiscarded && node.operator.is(AssignmentExprSyntax.self) ? call(in: node.rightOperand) : nil
        default: return nil
        }
    }

    /// Returns true if a statement assigns to a property, or modifies a variable with an operator such as `+=`.
    private static func isDroppable(_ node: InfixOperatorExprSyntax) -> Bool {
        if let binary = node.operator.as(BinaryOperatorExprSyntax.self) {
            let text = binary.operator.text
            return text.hasSuffix("=") && !["==", "!=", "<=", ">=", "===", "!=="].contains(text)
        }
        guard node.operator.is(AssignmentExprSyntax.self) else { return false }
        let targets = names(in: node.leftOperand)
        if targets.isEmpty || Scope.isInInitializer(Syntax(node)) { return false }
        return targets.isDisjoint(with: Scope.locals(around: Syntax(node)))
    }

    /// Returns the first names in the targets of an assignment; `self` for members of `self`, nothing for `_`.
    private static func names(in target: ExprSyntax) -> Set<String> {
        switch target.as(ExprSyntaxEnum.self) {
        case .declReferenceExpr(let node): return [node.baseName.text]
        case .memberAccessExpr(let node): return node.base.map(names) ?? []
        case .subscriptCallExpr(let node): return names(in: node.calledExpression)
        case .optionalChainingExpr(let node): return names(in: node.expression)
        case .forceUnwrapExpr(let node): return names(in: node.expression)
        case .unsafeExpr(let node): return names(in: node.expression)
        case .functionCallExpr: return ["()"]
        case .tupleExpr(let node): return node.elements.reduce(into: []) { $0.formUnion(names(in: $1.expression)) }
        default: return []
        }
    }

    /// Removes a `guard` that binds no names.
    private static func droppedGuard(_ node: GuardStmtSyntax, _ item: CodeBlockItemSyntax) -> [Edit] {
        let givesName = node.conditions.contains { element in
            switch element.condition {
            case .expression: false
            case .matchingPattern(let match): match.pattern.trimmedDescription.contains("let ")
            default: true
            }
        }
        return givesName ? [] : [drop(item, .droppedGuard)]
    }

    /// Swaps `break` and `continue` where both are allowed.
    private static func jump(_ node: Syntax, _ keyword: TokenSyntax, _ label: String?) -> [Edit] {
        var next = node.parent
        while let parent = next {
            switch parent.as(SyntaxEnum.self) {
            case .switchExpr where label == nil && keyword.tokenKind == .keyword(.break): return []
            case .labeledStmt(let labeled) where labeled.label.text == label:
                let isLoop = [SyntaxKind.forStmt, .whileStmt, .repeatStmt].contains(labeled.statement.kind)
                return isLoop ? [swapped(keyword)] : []
            case .forStmt, .whileStmt, .repeatStmt: if label == nil { return [swapped(keyword)] }
            case .functionDecl, .closureExpr, .accessorDecl, .initializerDecl: return []
            default: break
            }
            next = parent.parent
        }
        return []
    }

    private static func swapped(_ keyword: TokenSyntax) -> Edit {
        Edit(.breakContinue, keyword, keyword.tokenKind == .keyword(.break) ? "continue" : "break")
    }
}
