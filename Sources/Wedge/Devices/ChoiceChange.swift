// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
package import Texts

// Choosing another device while one is chosen asks first (LK-8).

extension DeviceChoice {
    /// Whether this is how the user would name the device that is chosen already.
    package func means(_ selection: Selection) -> Bool {
        switch self {
        case .address(let address): address == selection.device.address
        case .name(let name): selection.name?.lowercased() == name.lowercased()
        case .selected(let other): other.device == selection.device
        }
    }
}

extension CommandFailure {
    /// Another device is chosen, and nobody said that it may be given up.
    package static func chosenAlready(_ selection: Selection) -> CommandFailure {
        CommandFailure(.usage, CommandFaultText.chosenAlready, selection.label, "\(selection.device)")
    }
}
