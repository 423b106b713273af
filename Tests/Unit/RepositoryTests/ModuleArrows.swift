// SPDX-License-Identifier: GPL-2.0-or-later

import TestSupport

/// The modules of the product, each with the modules of our own that it stands on.
struct ModuleArrows: Equatable {
    /// The names of what a module depends on, by the module's name.
    private(set) var modules: [String: Set<String>] = [:]

    /// Reads Package.swift: its targets but those of tests.
    ///
    /// A target is a call of `module`, `.target`, `.executableTarget` or `.systemLibrary` whose first literal is its name;
    /// of its other literals those that name another target are its dependencies. Packages of others are left out.
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

    /// Reads the imports of the sources in a folder for each module.
    init(imports files: [(module: String, text: String)]) {
        for (module, text) in files {
            let names = text.matches(of: /(?m)^ *(?:@\w+ )?(?:public |package )?import (\w+)$/).map { String($0.1) }
            modules[module, default: []].formUnion(names)
        }
        modules = modules.mapValues { $0.intersection(modules.keys) }
    }

    /// Reads the README's table: lines of ``| `Module` | its purpose | `Other`, `Other` |``, or an empty last column.
    init(readme: String) {
        for line in readme.split(separator: "\n") {
            guard let row = line.wholeMatch(of: /\| `(\w+)` \|[^|]+\|((?: `\w+`,?)*) +\|/) else { continue }
            modules[String(row.1)] = Set(row.2.matches(of: /\w+/).map { String($0.output) })
        }
    }

    /// A line for each module that only one of the two has, and for each arrow: none where they say the same.
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
