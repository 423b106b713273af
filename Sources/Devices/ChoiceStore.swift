// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothLE
package import LinuxIO
package import SystemPackage

/// The file in which the choice of device outlives the program (LK-5, LK-20).
package struct ChoiceStore: Sendable {
    /// Why the choice could not be read or kept; what was there before is there still.
    package typealias Failure = KeptFile<SelectedDevice.Fault>.Failure

    private let file: KeptFile<SelectedDevice.Fault>

    package var path: FilePath { file.path }

    package init(_ path: FilePath) {
        // A longer one says nothing that this program wrote: an address, a type and a name of at most 248 bytes.
        file = KeptFile(path, limit: 4096)
    }

    package func read() throws(Failure) -> SelectedDevice? {
        try file.read { bytes throws(SelectedDevice.Fault) in
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw SelectedDevice.Fault(line: 1, cause: "begins a text that is no UTF-8")
            }
            return try SelectedDevice(parsing: text)
        }
    }

    /// Writes a choice that an earlier version has kept, in lines, as JSON; where it cannot be read or written it stays.
    package func upgrade() {
        if file.isJSON == false, let choice = try? read() { try? write(choice) }
    }

    /// Keeps a choice: whole and on the disk when this returns, and the earlier one untouched when it throws.
    package func write(_ choice: SelectedDevice) throws(Failure) { try file.write(choice.text) }

    /// Raises the security of the kept choice to that of a new bond with its device, which was heard at that address; the
    /// choice as it is now, nil where it is another device's, or has that security already.
    package func raise(for bond: Bond, heardAt address: DeviceAddress) throws(Failure) -> SelectedDevice? {
        guard var choice = try read(), [bond.identityAddress.address, address.address].contains(choice.device.address)
        else { return nil }
        let level = max(choice.security, bond.security.level, .encrypted)
        guard choice.device != bond.identityAddress || choice.security != level || choice.ignoresBond else {
            return nil
        }
        (choice.device, choice.security, choice.ignoresBond) = (bond.identityAddress, level, false)
        try write(choice)
        return choice
    }

    package func forget() throws(Failure) { try file.remove() }
}
