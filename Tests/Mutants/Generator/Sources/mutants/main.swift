// SPDX-License-Identifier: GPL-2.0-or-later

// Prints the mutants of Swift files, or a sample of them, as lines of JSON: mutants [--seed TEXT --size N] FILE…

import Foundation
import MutantGenerator

var files = Array(CommandLine.arguments.dropFirst())
var options: [String: String] = [:]
while let option = files.first, option.hasPrefix("--"), files.count > 1 {
    options[option] = files[1]
    files.removeFirst(2)
}
let size = options["--size"].map { Int($0) } ?? .max
guard let size, size >= 0, !files.isEmpty, Set(options.keys).isSubset(of: ["--seed", "--size"]) else {
    print("usage: mutants [--seed TEXT] [--size N] FILE...")
    exit(64)
}

struct Line: Encodable {
    let name: String
    let mutant: Mutant

    func encode(to encoder: any Encoder) throws {
        try mutant.encode(to: encoder)
        var fields = encoder.container(keyedBy: Key.self)
        try fields.encode(name, forKey: .name)
    }

    private enum Key: CodingKey { case name }
}

let mutants = try files.sorted().flatMap {
    MutantFinder.mutants(of: try String(contentsOfFile: $0, encoding: .utf8), file: $0)
}
let encoder = JSONEncoder()
encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
for mutant in options["--seed"].map({ mutants.sample(size, seed: $0) }) ?? mutants {
    print(String(decoding: try encoder.encode(Line(name: mutant.name, mutant: mutant)), as: UTF8.self))
}
