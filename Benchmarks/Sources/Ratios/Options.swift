// SPDX-License-Identifier: GPL-2.0-or-later

/// The command line.
struct Options {
    /// One process's measurements, rather than the launches and the table.
    var isLaunch = false
    /// One thing in one thread, for a profiler.
    var isProfile = false
    /// How many launches must count.
    var launches = 5
    /// How many repetitions of each case in a launch.
    var repetitions = 11
    /// Where the order of everything comes from.
    var seed: UInt64 = 1
    /// The cases to run, by the beginning of their names.
    var only: String?
    /// Where the JSON lines go.
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
