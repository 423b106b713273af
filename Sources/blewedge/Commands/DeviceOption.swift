// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import Configuration
import Control
import Devices
import Texts

/// The option of the commands that concern one device of a daemon that may have several.
struct DeviceOption: ParsableArguments {
    @Option(
        "Name of the device in the configuration. It is required if the configuration has several devices.",
        value: "name"
    )
    var device: String?

    /// Returns the request for the device that the option names.
    func request(_ request: ControlRequest) -> ControlRequest { request.of(device) }
}

extension ControlRequest {
    /// Returns the request for a device with this name in the configuration; nil means the only device.
    func of(_ name: String?) -> ControlRequest { name.map { .device($0, self) } ?? self }
}

extension ChoiceStore {
    /// Returns the stores of all selections: of the only device, and of each device in the configuration.
    static func all(in paths: DaemonPaths) -> [ChoiceStore] {
        let names = (try? Configuration.read(paths.configurationFile))?.devices.map(\.name) ?? []
        return ([nil] + names).map { ChoiceStore(paths.choice(of: $0)) }
    }
}

extension Configuration {
    /// Returns the table and the configuration of the device with this name or, without a name, of the only device.
    func part(named name: String?) throws(CommandFailure) -> (table: ConfiguredDevice?, configuration: Configuration) {
        let names = devices.map(\.name).joined(separator: ", ")
        guard let name else {
            guard parts.count == 1 else { throw CommandFailure(.usage, ControlFaultText.deviceWanted, names) }
            return parts[0]
        }
        guard let part = parts.first(where: { $0.table?.name == name }) else {
            throw CommandFailure(.usage, ControlFaultText.unknownDevice, name, names.isEmpty ? "-" : names)
        }
        return part
    }
}
