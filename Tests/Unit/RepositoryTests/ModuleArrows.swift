// SPDX-License-Identifier: GPL-2.0-or-later

import TestSupport

/// Modules of the product and their dependencies on each other.
struct ModuleArrows: Equatable {
    /// The names of the dependencies by the name of the module.
    private(set) var modules: [String: Set<String>] = [:]

    /// Reads Package.swift except its test targets.
    ///
    /// A target is a call of `module`, `.target`, `.executableTarget` or `.systemLibrary` whose first literal is its
    /// name. Those of the other literals that name another target are its dependencies; external packages are omitted.
    init(manifest: String) {
        var literals: [String: [String]] = [:]
        for call in manifest.ranges(of: /(?:\bmodule|\.(?:target|executableTarget|systemLibrary))\(/) {
            var depth = 1
            let arguments = manifest[call.upperBound...].prefix { character in
                if character == "(" { depth += 1 }
                if character == ")" { depth -= 1 }
                return depth > 0
            }
            let texts = SourceLiterals(String(arguments)).literals.map(\.text)
            guard let name = texts.first, !texts.contains(where: { $0.hasPrefix("Tests/") }) else { continue }
            literals[name] = Array(texts.dropFirst())
        }
        modules = literals.mapValues { $0.filter { literals[$0] != nil } }.mapValues(Set.init)
    }

    /// Reads the imports of each module's source files.
    init(imports files: [(module: String, text: String)]) {
        for (module, text) in files {
            let names = text.matches(of: /(?m)^ *(?:@\w+ )?(?:public |package )?import (\w+)$/).map { String($0.1) }
            modules[module, default: []].formUnion(names)
        }
        modules = modules.mapValues { $0.intersection(modules.keys) }
    }

    /// Reads the README's table, with lines ``| `Module` | its purpose | `Other`, `Other` |``; the last column may be
    /// empty.
    init(readme: String) {
        for line in readme.split(separator: "\n") {
            guard let row = line.wholeMatch(of: /\| `(\w+)` \|[^|]+\|((?: `\w+`,?)*) +\|/) else { continue }
            modules[String(row.1)] = Set(row.2.matches(of: /\w+/).map { String($0.output) })
        }
    }

    /// Returns a line for each module and dependency that only one of the two contains; empty if they are equal.
    func differences(from other: ModuleArrows, _ own: String, _ others: String) -> [String] {
        var lines: [String] = []
        for name in Set(modules.keys).union(other.modules.keys).sorted() {
            switch (modules[name], other.modules[name]) {
            case (let ours?, let theirs?):
                lines += ours.subtracting(theirs).sorted().map { "\(name) → \($0): only in \(own)" }
                lines += theirs.subtracting(ours).sorted().map { "\(name) → \($0): only in \(others)" }
            case (nil, _): lines.append("\(name): only in \(others)")
            case (_, nil): lines.append("\(name): only in \(own)")
            }
        }
        return lines
    }
}
