// SPDX-License-Identifier: GPL-2.0-or-later

/// Options of the command line.
struct Options {
    /// True to run the measurements of one process instead of several launches with a table.
    var isLaunch = false
    /// True to run a single operation on one thread, for a profiler.
    var isProfile = false
    /// Number of valid launches required.
    var launches = 5
    /// Repetitions of each case in a launch.
    var repetitions = 11
    /// Seed of the random order.
    var seed: UInt64 = 1
    /// Prefix of the names of the cases to run.
    var only: String?
    /// Path of the file for the JSON lines.
    var json: String?

    init?(_ arguments: some Sequence<String>) {
        var rest = Array(arguments)[...]
        switch rest.popFirst() {
        case "launch": isLaunch = true
        case "profile": isProfile = true
        case "run": break
        default: return nil
        }
        while let name = rest.popFirst() {
            guard let value = rest.popFirst() else { return nil }
            switch (name, UInt64(value)) {
            case ("--launches", let number?): launches = max(1, Int(number))
            case ("--repetitions", let number?): repetitions = max(1, Int(number))
            case ("--seed", let number?): seed = number
            case ("--only", _): only = value
            case ("--json", _): json = value
            default: return nil
            }
        }
    }
}
