// SPDX-License-Identifier: GPL-2.0-or-later

package import Devices
import SystemPackage
import Texts

/// Device with its own settings, in a table of the configuration (X-14).
///
/// Several tables let one daemon serve several devices. A key that a table does not set has the value at the top level
/// of the file.
///
///     [[device]]
///     name = "counter"
///     device = "F0:F1:F2:F3:F4:F5"
///     profile = "nordic"
package struct ConfiguredDevice: Equatable, Sendable {
    /// Keys of the top level that a table may set for its device.
    static let keys = [
        "profile", "security", "early-reports", "table", "layout", "device-layout", "device-caps-lock",
        "device-shift-repeats", "device-num-lock", "device-gs-key", "to", "raw", "slow-reader", "gated",
    ]
    static let longestName = 32

    package var name: String
    /// Fixed device; nil if `blewedge use --as NAME` selects it.
    package var device: DeviceSelector?
    /// True if the device types on a keyboard of its own, instead of the shared one.
    package var hasOwnKeyboard = false
    /// Values of the keys that the table sets; the other values are unused.
    private var values = Configuration()
    private var ownKeys: [String] = []

    package init(name: String) {
        self.name = name
    }

    /// Parses a table; returns nil and the faults if there are any.
    static func read(_ members: [TOMLMember], line: Int) -> (ConfiguredDevice?, [ConfigurationFault]) {
        var reader = TOMLTableReader(members, line: line)
        let name = reader.need("name") { (value: TOMLValue) throws(UnfitValue) in
            let wanted = "lowercase letters, digits and hyphens, at most \(longestName) of them"
            let name = try value.text(wanted)
            guard Configuration.isPlainName(name, longestName) else { throw UnfitValue(wanted) }
            return name
        }
        var table = ConfiguredDevice(name: name ?? "")
        table.device = reader.take("device") { (value: TOMLValue) throws(UnfitValue) in
            let wanted = "a name, an address or NAME@ADDRESS"
            guard let selector = DeviceSelector(try value.text(wanted)) else { throw UnfitValue(wanted) }
            return selector
        }
        let keyboard = reader.take("keyboard") { (value: TOMLValue) throws(UnfitValue) in
            let wanted = "one of shared, own"
            let word = try value.text(wanted)
            guard word == "shared" || word == "own" else { throw UnfitValue(wanted) }
            return word
        }
        table.hasOwnKeyboard = keyboard == "own"
        for key in ConfigurationKey.all where keys.contains(key.path) {
            let isSet = reader.take(key.path) { (value: TOMLValue) throws(UnfitValue) in
                try key.set(&table.values, value)
                return true
            }
            if isSet == true { table.ownKeys.append(key.path) }
        }
        reader.end()
        return reader.faults.isEmpty ? (table, []) : (nil, reader.faults)
    }

    /// Returns true if the table sets the key with this path.
    package func sets(_ path: String) -> Bool { ownKeys.contains(path) }

    /// Returns the configuration of this device: that of the file, with the keys of the table.
    package func applied(to file: Configuration) -> Configuration {
        var configuration = file
        for key in ConfigurationKey.all where ownKeys.contains(key.path) { key.copy(values, &configuration) }
        configuration.devices = []
        // The outputs of the table replace all outputs of the file.
        if sets("to") { configuration.ownOutputs = [] }
        return configuration
    }

    mutating func resolveFiles(in directory: FilePath) { values.resolveFiles(in: directory) }

    var text: String {
        var lines = ["[[device]]", "name = \(ConfigurationKey.quoted(name))"]
        if let device { lines.append("device = \(ConfigurationKey.quoted("\(device)"))") }
        if hasOwnKeyboard { lines.append("keyboard = \(ConfigurationKey.quoted("own"))") }
        for key in ConfigurationKey.all where ownKeys.contains(key.path) {
            if let value = key.text(values) { lines.append("\(key.name) = \(value)") }
        }
        return lines.joined(separator: "\n") + "\n"
    }
}

extension Configuration {
    /// Maximum number of devices, limited because each has its own link, thread and queues.
    package static let mostDevices = 8

    /// Device, if it has a table, and its configuration.
    package typealias Part = (table: ConfiguredDevice?, configuration: Configuration)

    /// Devices with their configurations; if the file has no device tables, the only device, without a name.
    package var parts: [Part] {
        devices.isEmpty ? [(nil, self)] : devices.map { ($0, $0.applied(to: self)) }
    }

    mutating func readDevices(_ member: TOMLMember, _ lines: inout [String: Int]) -> [ConfigurationFault] {
        guard case .array(let tables) = member.value.kind, tables.count <= Self.mostDevices else {
            let reason = "too many tables [[device]]: at most \(Self.mostDevices)"
            return [ConfigurationFault(line: member.line, reason: reason)]
        }
        var faults: [ConfigurationFault] = []
        for table in tables {
            guard case .table(let members) = table.kind else {
                let reason = "device must be a table, not \(table.shown)"
                faults.append(ConfigurationFault(line: table.line, reason: reason))
                continue
            }
            let (device, found) = ConfiguredDevice.read(members, line: table.line)
            faults += found
            guard let device else { continue }
            if devices.contains(where: { $0.name == device.name }) {
                let reason = "the name \"\(device.name)\" is used in two tables [[device]]"
                faults.append(ConfigurationFault(line: table.line, reason: reason))
            }
            if let fixed = device.device, devices.contains(where: { $0.device == fixed }) {
                faults.append(ConfigurationFault(line: table.line, reason: "\(fixed) is used in two tables [[device]]"))
            }
            devices.append(device)
            lines["device.\(device.name)"] = table.line
        }
        return faults
    }

    /// Throws the contradictions within and between the configurations of devices, which options may have changed.
    package static func check(_ parts: [Part], _ path: String) throws(ConfigurationError) {
        let faults = contradictions(of: parts, [:]).map { ConfigurationFault(line: nil, reason: $0.reason) }
        guard faults.isEmpty else { throw .faults(path, ConfigurationFaults(faults)) }
    }

    /// Contradictions within and between the configurations of devices, with the keys concerned.
    static func contradictions(of parts: [Part], _ lines: [String: Int]) -> [(keys: [String], reason: String)] {
        var faults: [(keys: [String], reason: String)] = []
        var taken: [OutputDestination] = []
        for (table, configuration) in parts {
            guard let table else { return [] }
            let key = "device.\(table.name)"
            if table.sets("profile"), let reason = configuration.profileContradiction(lines) {
                faults.append(([key], reason))
            }
            for contradiction in configuration.outputContradictions {
                faults.append(([key], contradiction.reason))
            }
            let others = configuration.outputs.map(\.destination).filter { $0 != .keyboard }
            for destination in others where taken.contains(destination) {
                let reason = "\(destination) is an output of two devices: set \"to\" in each [[device]]"
                faults.append(([key], reason))
            }
            taken += others
            if table.hasOwnKeyboard, !configuration.hasKeyboard {
                faults.append(([key], "keyboard = \"own\" requires the keyboard in \"to\""))
            }
        }
        let sharers = parts.filter { $0.table?.hasOwnKeyboard == false && $0.configuration.hasKeyboard }
        if sharers.count > 1, sharers.contains(where: \.configuration.verifies) {
            let reason = "verify cannot check a keyboard that several devices share: set keyboard = \"own\""
            faults.append((["verify"], reason))
        }
        return faults
    }
}
