// SPDX-License-Identifier: GPL-2.0-or-later

package import Beacons
import BluetoothLE
import Devices
import LinuxIO
import SystemPackage
package import Texts

extension Configuration {
    /// Reads `[beacons.actions]`: a table of tables.
    mutating func readActions(_ member: TOMLMember, _ lines: inout [String: Int]) -> [ConfigurationFault] {
        guard case .table(let tables) = member.value.kind, tables.count <= BeaconAction.most else {
            let reason =
                "beacons.actions is a table of at most \(BeaconAction.most) tables: write [beacons.actions.NAME]"
            return [ConfigurationFault(line: member.line, reason: reason)]
        }
        var faults: [ConfigurationFault] = []
        for table in tables {
            guard case .table(let members) = table.value.kind else {
                faults.append(ConfigurationFault(line: table.line, reason: "write [beacons.actions.\(table.key)]"))
                continue
            }
            guard Self.isPlainName(table.key, BeaconAction.longestName) else {
                let reason =
                    "an action's name has small letters, digits and hyphens, at most \(BeaconAction.longestName)"
                faults.append(ConfigurationFault(line: table.line, reason: reason))
                continue
            }
            lines["beacons.actions.\(table.key)"] = table.line
            let (action, wrong) = BeaconAction.read(members, name: table.key, line: table.line)
            faults += wrong
            if let action { beacons.actions.append(action) }
        }
        return faults
    }

    /// What contradicts each other in `[beacons]`, with the keys that it is about.
    var beaconContradictions: [(keys: [String], reason: String)] {
        var faults: [(keys: [String], reason: String)] = []
        if let identity = beacons.advertised,
            BeaconFrame(beacons.advertisedFormat, identity, measuredPower: nil) == nil
        {
            let reason = "beacons.advertise: \(beacons.advertisedFormat.rawValue) cannot carry \(identity)"
            faults.append((["beacons.advertise", "beacons.advertise-format"], reason))
        }
        if beacons.regionsFile == nil, beacons.watched.contains(where: { $0 != .managed && $0 != .designated }) {
            faults.append((["beacons.watch"], "beacons.watch wants a file of regions: set beacons.regions"))
        }
        if let server = beacons.server, !server.hasPrefix("https://") {
            faults.append((["beacons.server"], "beacons.server wants an address that begins with https://"))
        }
        if beacons.server != nil, beacons.appCodeFile == nil {
            faults.append((["beacons.server"], "beacons.server wants an access code: set beacons.app-code-file"))
        }
        for (key, path) in [("beacons.regions", beacons.regionsFile), ("beacons.app-code-file", beacons.appCodeFile)] {
            if let path, !path.hasPrefix("/") {
                faults.append(([key], "\(key) wants a whole path, which begins with /"))
            }
        }
        for action in beacons.actions {
            let key = "beacons.actions.\(action.name)"
            if action.deed == .type, security > .none {
                faults.append(
                    (
                        [key],
                        "\(key): a beacon is not authenticated, and security = \"\(security.word)\" types nothing that is not"
                    )
                )
            }
            if action.deed == .hook, hook == nil { faults.append(([key], "\(key): there is no hook: set hook")) }
        }
        return faults
    }

    /// The regions and key codes of the file that the configuration names; none where it names none.
    package func regions() throws(CommandFailure) -> RegionCatalogue {
        guard let path = beacons.regionsFile else { return RegionCatalogue(RegionFile()) }
        let bytes: [UInt8]
        do throws(Errno) {
            bytes = try FileSystem.textContents(of: path, limit: RegionFile.mostBytes)
        } catch {
            throw CommandFailure(
                error == .permissionDenied ? .permission : .configuration,
                BeaconFaultText.regionsUnreadable,
                path,
                "\(error)"
            )
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw CommandFailure(.configuration, FileFaultText.noText, path)
        }
        do throws(RegionFile.Faults) {
            return RegionCatalogue(try RegionFile(text))
        } catch {
            let list = error.list.map { "\(path): \($0)" }.joined(separator: "\n")
            throw CommandFailure(.configuration, BeaconFaultText.regionFaults, list)
        }
    }
}
