// SPDX-License-Identifier: GPL-2.0-or-later

import Beacons
package import Configuration
import SystemPackage
package import Texts

extension ConfigurationError: ReportableError {
    package var failure: CommandFailure {
        switch self {
        case .unreadable(let path, let error):
            .init(error, else: .configuration, FileFaultText.configurationUnreadable, "\(path)", fix: .userMayRead)
        case .notText(let path): .init(.configuration, FileFaultText.noText, path)
        case .faults(let path, let error):
            .init(.configuration, FileFaultText.configurationFaults, Self.list(error.faults, of: path))
        case .unknownProfile(let name, let known):
            .init(
                .configuration,
                FileFaultText.noProfile,
                name,
                known.joined(separator: ", "),
                Configuration.anyProfile
            )
        case .profileUnreadable(let path, let error):
            .init(.configuration, FileFaultText.profileUnreadable, path, "\(error)")
        case .profileFaults(let path, let error):
            .init(.configuration, FileFaultText.profileFaults, Self.list(error.faults, of: path))
        case .noProfiles: .init(.internal, FileFaultText.noProfiles)
        case .regionsUnreadable(let path, let error):
            .init(error, else: .configuration, BeaconFaultText.regionsUnreadable, path)
        case .regionFaults(let path, let error):
            .init(.configuration, BeaconFaultText.regionFaults, Self.list(error.list, of: path))
        case .stall(let pace, let error): .init(.configuration, FileFaultText.stall, pace, "\(error)")
        case .byteTooLong(let events, let table, let layout, let error):
            .init(.configuration, FileFaultText.byteTooLong, table, layout, "\(events)", "\(error)")
        case .barcodes(let fault): .init(.configuration, FileFaultText.scanMode, "\(fault)")
        case .affix(let key, let fault): .init(.configuration, FileFaultText.scanAffix, key, "\(fault)")
        case .noEffect(let key, let other): .init(.configuration, FileFaultText.noEffect, key, other)
        case .typing(let error): error.failure
        case .keyboard(let error): error.failure
        }
    }

    /// Lists the faults of a file, one per line.
    private static func list(_ faults: [some CustomStringConvertible], of path: String) -> String {
        faults.map { "\(path): \($0)" }.joined(separator: "\n")
    }
}
