// SPDX-License-Identifier: GPL-2.0-or-later

import SwiftSyntax

/// Context of a syntax node.
enum Scope {
    /// Returns the name that a declaration adds to the path of its contents; nil for other nodes.
    static func name(of node: Syntax) -> String? {
        switch node.as(SyntaxEnum.self) {
        case .structDecl(let type): type.name.text
        case .classDecl(let type): type.name.text
        case .enumDecl(let type): type.name.text
        case .actorDecl(let type): type.name.text
        case .protocolDecl(let type): type.name.text
        case .extensionDecl(let type): type.extendedType.trimmedDescription
        case .functionDecl(let function): function.name.text + labels(function.signature.parameterClause)
        case .initializerDecl(let function): "init" + labels(function.signature.parameterClause)
        case .subscriptDecl(let function): "subscript" + labels(function.parameterClause)
        case .deinitializerDecl: "deinit"
        case .enumCaseElement(let element): element.name.text
        case .patternBinding(let binding): isMember(binding) ? binding.pattern.trimmedDescription : nil
        case .accessorDecl(let accessor):
            accessor.accessorSpecifier.tokenKind == .keyword(.get) ? nil : accessor.accessorSpecifier.text
        default: nil
        }
    }

    private static func labels(_ clause: FunctionParameterClauseSyntax) -> String {
        "(" + clause.parameters.map { $0.firstName.text + ":" }.joined() + ")"
    }

    /// Returns true if a variable belongs to a type or a file, and not to a function.
    private static func isMember(_ binding: PatternBindingSyntax) -> Bool {
        guard let item = binding.parent?.parent?.parent else { return false }
        return item.is(MemberBlockItemSyntax.self) || item.parent?.parent?.is(SourceFileSyntax.self) == true
    }

    static func isDeprecated(_ node: Syntax) -> Bool {
        guard let attributes = node.asProtocol((any WithAttributesSyntax).self)?.attributes else { return false }
        return attributes.contains {
            $0.trimmedDescription.hasPrefix("@available") && $0.description.contains("deprecated")
        }
    }

    /// Returns true if a statement provides the value of the enclosing code: an implicit return, or a branch of an
    /// expression.
    static func isValue(_ item: CodeBlockItemSyntax) -> Bool {
        guard let list = item.parent, list.children(viewMode: .sourceAccurate).count == 1, let block = list.parent
        else {
            return false
        }
        switch block.as(SyntaxEnum.self) {
        case .accessorBlock: return true
        case .closureExpr(let closure): return isValue(closure)
        case .switchCase: return block.parent?.parent.map(isValueOfStatement) ?? false
        case .codeBlock: return block.parent.map(isValueOfBody) ?? false
        default: return false
        }
    }

    /// Functions that use the result of their closure argument.
    private static let askers: Set = [
        "allSatisfy", "compactMap", "contains", "drop", "filter", "first", "firstIndex", "flatMap", "last", "lastIndex",
        "map",
        "max", "min", "prefix", "reduce", "removeAll", "sorted",
    ]

    private static func isValue(_ closure: ClosureExprSyntax) -> Bool {
        if let type = closure.signature?.returnClause?.type.trimmedDescription { return type != "Void" && type != "()" }
        let call =
            closure.parent?.as(FunctionCallExprSyntax.self)
            ?? closure.parent?.parent?.parent?.as(FunctionCallExprSyntax.self)
        let callee = call?.calledExpression
        let name = callee?.as(MemberAccessExprSyntax.self)?.declName ?? callee?.as(DeclReferenceExprSyntax.self)
        return name.map { askers.contains($0.baseName.text) } ?? false
    }

    private static func isValueOfBody(_ owner: Syntax) -> Bool {
        switch owner.as(SyntaxEnum.self) {
        case .functionDecl(let function):
            let type = function.signature.returnClause?.type.trimmedDescription ?? "Void"
            return type != "Void" && type != "()"
        case .accessorDecl(let accessor): return accessor.accessorSpecifier.tokenKind == .keyword(.get)
        case .ifExpr: return isValueOfStatement(owner)
        default: return false
        }
    }

    /// Returns true if an `if` or `switch` is used as an expression.
    private static func isValueOfStatement(_ expression: Syntax) -> Bool {
        guard let parent = expression.parent else { return false }
        if parent.is(IfExprSyntax.self) { return isValueOfStatement(parent) }
        let statement = parent.is(ExpressionStmtSyntax.self) ? parent.parent : parent
        guard let item = statement?.as(CodeBlockItemSyntax.self) else { return true }
        return isValue(item)
    }

    /// Returns the names of the parameters and variables of the enclosing function or closure.
    static func locals(around node: Syntax) -> Set<String> {
        var owner = node
        while let parent = owner.parent, !parent.is(MemberBlockItemSyntax.self), !parent.is(SourceFileSyntax.self) {
            owner = parent
        }
        let finder = LocalFinder(viewMode: .sourceAccurate)
        finder.walk(owner)
        return finder.names
    }

    /// Returns true if a node is directly in an initializer, which must set all properties.
    static func isInInitializer(_ node: Syntax) -> Bool {
        var next = node.parent
        while let parent = next {
            if parent.is(InitializerDeclSyntax.self) { return true }
            if parent.is(ClosureExprSyntax.self) || parent.is(FunctionDeclSyntax.self) { return false }
            next = parent.parent
        }
        return false
    }

    /// Returns true if a node is in a pattern, where a change could make a `switch` not exhaustive.
    static func isInPattern(_ node: Syntax) -> Bool {
        var next = node.parent
        while let parent = next, !parent.is(CodeBlockItemSyntax.self), !parent.is(ClosureExprSyntax.self) {
            if parent.is(ExpressionPatternSyntax.self) { return true }
            next = parent.parent
        }
        return false
    }
}

private final class LocalFinder: SyntaxVisitor {
    var names: Set<String> = []

    override func visit(_ node: IdentifierPatternSyntax) -> SyntaxVisitorContinueKind {
        names.insert(node.identifier.text)
        return .skipChildren
    }

    override func visit(_ node: FunctionParameterSyntax) -> SyntaxVisitorContinueKind {
        names.insert((node.secondName ?? node.firstName).text)
        return .visitChildren
    }
}
