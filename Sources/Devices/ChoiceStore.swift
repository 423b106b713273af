// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
package import BluetoothPackets
package import LinuxIO
package import SystemPackage

/// The file that stores the selected device across restarts (LK-5, LK-20).
package struct ChoiceStore: Sendable {
    /// The cause of a failed read or write of the selected device; the file is unchanged.
    package typealias Failure = KeptFile<SelectedDevice.Fault>.Failure

    private let file: KeptFile<SelectedDevice.Fault>

    package var path: FilePath { file.path }

    package init(_ path: FilePath) {
        // The limit exceeds any file that this program writes: an address, a type and a name of at most 248 bytes.
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

    /// Best effort: converts a file from an earlier version, which consists of lines, to JSON.
    package func upgrade() {
        if file.isJSON == false, let choice = try? read() { try? write(choice) }
    }

    /// Stores the selected device on disk before the method returns; if it throws, the file is unchanged.
    package func write(_ choice: SelectedDevice) throws(Failure) { try file.write(choice.text) }

    /// Raises the security of the selected device to that of a new bond with the same device.
    ///
    /// `address` is the address at which the bonded device was heard. Returns the new selection; nil if another device
    /// is selected, or if the device already has that security.
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
