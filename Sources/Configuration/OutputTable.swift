// SPDX-License-Identifier: GPL-2.0-or-later

/// Output with the options that apply to it (X-18).
package struct OutputSettings: Hashable, Sendable {
    package var destination: OutputDestination
    package var slowReader: SlowReaderPolicy
    /// True if pausing, the gate, and byte dropping (D-1) apply to the output.
    package var isGated: Bool
    package var isRaw: Bool
}

/// Output with its own options, in a table of the configuration.
///
///     [outputs.log]
///     to = "unix:/run/blewedge/log"
///     gated = false
package struct OutputTable: Equatable, Sendable {
    package var name: String
    package var destination: OutputDestination
    package var slowReader: SlowReaderPolicy?
    package var isGated: Bool?
    package var isRaw: Bool?

    static let longestName = 32

    package init(name: String, destination: OutputDestination) {
        self.name = name
        self.destination = destination
    }

    /// Parses the output in a table; returns nil and the faults if there are any.
    static func read(_ members: [TOMLMember], name: String, line: Int) -> (OutputTable?, [ConfigurationFault]) {
        var reader = TOMLTableReader(members, line: line)
        let destination = reader.need("to") { (value: TOMLValue) throws(UnfitValue) in
            let destination = try value.destination()
            guard destination != .keyboard else { throw UnfitValue("another output than the keyboard") }
            return destination
        }
        let policy = reader.take("slow-reader") { (value: TOMLValue) throws(UnfitValue) in
            let wanted = "one of \(ConfigurationKey.names(SlowReaderPolicy.self))"
            guard let policy = SlowReaderPolicy(rawValue: try value.text(wanted)) else { throw UnfitValue(wanted) }
            return policy
        }
        let isGated = reader.take("gated") { (value: TOMLValue) throws(UnfitValue) in try value.flag() }
        let isRaw = reader.take("raw") { (value: TOMLValue) throws(UnfitValue) in try value.flag() }
        reader.end()
        guard reader.faults.isEmpty, let destination else { return (nil, reader.faults) }
        var table = OutputTable(name: name, destination: destination)
        (table.slowReader, table.isGated, table.isRaw) = (policy, isGated, isRaw)
        return (table, [])
    }

    var text: String {
        var lines = ["[outputs.\(name)]", "to = \(ConfigurationKey.quoted("\(destination)"))"]
        if let slowReader { lines.append("slow-reader = \(ConfigurationKey.quoted(slowReader.rawValue))") }
        if let isGated { lines.append("gated = \(isGated)") }
        if let isRaw { lines.append("raw = \(isRaw)") }
        return lines.joined(separator: "\n") + "\n"
    }
}

extension TOMLValue {
    func destination() throws(UnfitValue) -> OutputDestination {
        let wanted =
            OutputDestination.form
            + ", with a path that begins with / and has at most \(OutputDestination.longestPath) bytes"
        guard let destination = OutputDestination(try text(wanted)) else { throw UnfitValue(wanted) }
        return destination
    }

    /// Returns the destinations named by a string or by a list of strings.
    func destinations() throws(UnfitValue) -> [OutputDestination] {
        guard case .array(let values) = kind else { return [try destination()] }
        var destinations: [OutputDestination] = []
        for value in values { destinations.append(try value.destination()) }
        return destinations
    }
}

extension Configuration {
    /// Maximum number of outputs, limited because each has its own thread and queues.
    package static let mostOutputs = 8

    /// All outputs: those listed in `to`, starting with the keyboard, and then those with their own options.
    package var outputs: [OutputSettings] {
        let plain = destinations.filter { $0 == .keyboard } + destinations.filter { $0 != .keyboard }
        return plain.map { output(to: $0) }
            + ownOutputs.map { table in
                var output = output(to: table.destination)
                output.slowReader = table.slowReader ?? slowReader
                output.isGated = table.isGated ?? isGated
                output.isRaw = table.isRaw ?? isRaw
                return output
            }
    }

    package var hasKeyboard: Bool { destinations.contains(.keyboard) }

    /// True if bytes go to an output other than the keyboard.
    package var hasOtherOutput: Bool { outputs.contains { $0.destination != .keyboard } }

    package var usesStandardOutput: Bool { outputs.contains { $0.destination == .standardOutput } }

    private func output(to destination: OutputDestination) -> OutputSettings {
        let isOther = destination != .keyboard
        return OutputSettings(
            destination: destination,
            slowReader: slowReader,
            isGated: isOther ? isGated : true,
            isRaw: isOther ? isRaw : false
        )
    }

    mutating func readOutputs(_ member: TOMLMember, _ lines: inout [String: Int]) -> [ConfigurationFault] {
        member.readTables(at: "outputs", most: Self.mostOutputs, &lines) { name in
            Self.isPlainName(name, OutputTable.longestName)
                ? nil : "an output's name has small letters, digits and hyphens, at most \(OutputTable.longestName)"
        } read: { members, name, line in
            let (output, faults) = OutputTable.read(members, name: name, line: line)
            if let output { ownOutputs.append(output) }
            return faults
        }
    }

    /// Contradictions between outputs, with the keys concerned.
    var outputContradictions: [(keys: [String], reason: String)] {
        var faults: [(keys: [String], reason: String)] = []
        let all = outputs
        let keys = ownOutputs.map { "outputs.\($0.name)" }
        if all.isEmpty { faults.append((["to"], "to names no output")) }
        if all.count > Self.mostOutputs {
            faults.append((["to"] + keys, "\(all.count) outputs, and there can be \(Self.mostOutputs)"))
        }
        for (number, output) in all.enumerated()
        where all[..<number].contains(where: { $0.destination == output.destination }) {
            let own = number - destinations.count
            faults.append(([own < 0 ? "to" : keys[own]], "\(output.destination) is named twice"))
        }
        if !hasOtherOutput, isRaw { faults.append((["raw"], "raw wants another end than the keyboard: set to")) }
        return faults
    }
}
