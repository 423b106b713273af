// SPDX-License-Identifier: GPL-2.0-or-later

import SwiftSyntax

/// Edits of expressions.
enum ExpressionEdits {
    private static let comparisons = [
        "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "===": "!==", "!==": "===",
    ]
    private static let arithmetic = [
        "+": "-", "-": "+", "*": "/", "/": "*", "%": "/", "&+": "&-", "&-": "&+", "&*": "&+", "<<": ">>", ">>": "<<",
        "&<<": "&>>",
        "&>>": "&<<", "&": "|", "|": "&", "^": "|", "+=": "-=", "-=": "+=", "*=": "/=", "/=": "*=", "%=": "/=",
        "&+=": "&-=",
        "&-=": "&+=", "<<=": ">>=", ">>=": "<<=", "&=": "|=", "|=": "&=", "^=": "|=",
    ]

    static func infix(_ node: InfixOperatorExprSyntax) -> [Edit] {
        guard let binary = node.operator.as(BinaryOperatorExprSyntax.self) else { return [] }
        let text = binary.operator.text
        if let other = comparisons[text] { return [Edit(.comparison, binary, other)] }
        if text == "&&" || text == "||" { return [Edit(.andOr, binary, text == "&&" ? "||" : "&&")] }
        guard let other = arithmetic[text], !text.hasPrefix("+") || !isSequence(ExprSyntax(node)) else { return [] }
        return [Edit(.arithmetic, binary, other)]
    }

    /// Returns true if an operand looks like a string or an array, which support no arithmetic operator except `+`.
    private static func isSequence(_ expression: ExprSyntax) -> Bool {
        switch expression.as(ExprSyntaxEnum.self) {
        case .stringLiteralExpr, .arrayExpr: return true
        case .infixOperatorExpr(let infix): return isSequence(infix.leftOperand) || isSequence(infix.rightOperand)
        case .tryExpr(let attempt): return isSequence(attempt.expression)
        case .functionCallExpr(let call):
            if call.calledExpression.is(ArrayExprSyntax.self) { return true }
            let callee = call.calledExpression.as(MemberAccessExprSyntax.self)?.declName.baseName.text
            return ["String", "Array"].contains(call.calledExpression.trimmedDescription)
                || ["map", "joined", "sorted", "filter", "compactMap", "flatMap"].contains(callee)
        default: return false
        }
    }

    static func constant(_ node: IntegerLiteralExprSyntax) -> [Edit] {
        let digits = node.literal.text.filter { $0 != "_" }
        let prefixes = ["0x": 16, "0o": 8, "0b": 2]
        let radix = prefixes[String(digits.prefix(2))] ?? 10
        let prefix = radix == 10 ? "" : String(digits.prefix(2))
        guard let value = UInt64(digits.dropFirst(prefix.count), radix: radix) else { return [] }
        let limits: Set<UInt64> = [0xFF, 0xFFFF, 0xFFFF_FFFF, .max, UInt64(Int64.max)]
        let others =
            (limits.contains(value) ? [] : [value + 1]) + (value > 0 ? [value - 1] : []) + (value > 1 ? [0] : [])
        let taken = rawValues(beside: node)
        return others.filter { !taken.contains($0) }.map {
            Edit(.constant, node, prefix + String($0, radix: radix, uppercase: true))
        }
    }

    /// Returns the raw values of the other cases if the literal is the raw value of an enumeration's case.
    private static func rawValues(beside node: IntegerLiteralExprSyntax) -> Set<UInt64> {
        guard node.parent?.parent?.is(EnumCaseElementSyntax.self) == true else { return [] }
        var next = node.parent
        while let parent = next, !parent.is(MemberBlockSyntax.self) { next = parent.parent }
        guard let members = next?.as(MemberBlockSyntax.self)?.members else { return [] }
        let elements = members.compactMap { $0.decl.as(EnumCaseDeclSyntax.self) }.flatMap(\.elements)
        let texts = elements.compactMap { $0.rawValue?.value.trimmedDescription.filter { $0 != "_" } }
        return Set(texts.compactMap { $0.hasPrefix("0x") ? UInt64($0.dropFirst(2), radix: 16) : UInt64($0) })
    }

    static func boolean(_ node: BooleanLiteralExprSyntax) -> [Edit] {
        if Scope.isInPattern(Syntax(node)) { return [] }
        return [Edit(.boolean, node, node.literal.text == "true" ? "false" : "true")]
    }

    static func call(_ node: FunctionCallExprSyntax) -> [Edit] {
        let member = node.calledExpression.as(MemberAccessExprSyntax.self)?.declName
        let function = node.calledExpression.as(DeclReferenceExprSyntax.self)
        guard let name = (member ?? function)?.baseName, ["min", "max"].contains(name.text) else { return [] }
        return [Edit(.minMax, name, name.text == "min" ? "max" : "min")]
    }

    static func ternary(_ node: TernaryExprSyntax) -> [Edit] {
        let (then, otherwise) = (node.thenExpression, node.elseExpression)
        // Swapping the branches of nested ternaries is not supported.
        if then.is(TernaryExprSyntax.self) || otherwise.is(TernaryExprSyntax.self) { return [] }
        if then.trimmedDescription == otherwise.trimmedDescription { return [] }
        let between = then.trailingTrivia.description + node.colon.description + otherwise.leadingTrivia.description
        return [
            Edit(
                .swappedCases,
                then.positionAfterSkippingLeadingTrivia..<otherwise.endPositionBeforeTrailingTrivia,
                otherwise.trimmedDescription + between + then.trimmedDescription
            )
        ]
    }

    /// Negates a condition, except for conditions that `infix` inverts.
    static func condition(_ node: ExprSyntax) -> [Edit] {
        if let infix = node.as(InfixOperatorExprSyntax.self) {
            if ["==", "!=", "===", "!=="].contains(infix.operator.trimmedDescription) { return [] }
        }
        if node.is(BooleanLiteralExprSyntax.self) { return [] }
        if let prefix = node.as(PrefixOperatorExprSyntax.self), prefix.operator.text == "!" {
            return [Edit(.negatedCondition, node, prefix.expression.trimmedDescription)]
        }
        return [Edit(.negatedCondition, node, "!(\(node.trimmedDescription))")]
    }
}
