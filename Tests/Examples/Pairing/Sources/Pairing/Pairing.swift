// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import Foundation

/// Pairs with the device with the given address, and saves the bond in a file; without an address, connects with the
/// saved bond.
@main
struct Pairing {
    static func main() async {
        let words = CommandLine.arguments.dropFirst()
        guard let path = words.first else { end("usage: Pairing FILE [F0:F1:F2:F3:F4:F5]") }
        do {
            if words.count == 1 { return try await connect(with: BondFile(path).load()) }
            guard let address = words.last.flatMap({ BluetoothAddress($0) }) else { end("\(words[2]) is no address") }
            try await pair(with: DeviceAddress(address, .random), saving: BondFile(path))
        } catch {
            end("Pairing: \(error)")
        }
    }

    static func connect(with bond: Bond) async throws {
        let adapter = try await BluetoothAdapter.open()
        await adapter.use([bond])
        let peripheral = try await Central(adapter).connect(
            to: bond.identityAddress,
            timeout: .seconds(30),
            requiring: .encrypted
        )
        print("\(try await peripheral.name().printable) is the paired device")
    }

    static func pair(with device: DeviceAddress, saving file: BondFile) async throws {
        let user = PairingUser.keyboardDisplay(
            { print("enter \($0) at the device") },
            { number in
                print("does the device show \(number)? [y/n]")
                return readLine() == "y"
            },
            {
                print("the number that the device shows:")
                return readLine().flatMap { UInt32($0) }
            }
        )
        let central = Central(try await BluetoothAdapter.open())
        let bond = try await central.pair(with: device, user)
        try file.save(bond)
        // The text of a bond contains no keys.
        print("paired: \(bond)")
    }

    /// Prints a message to standard error, and ends the program with the status 1.
    static func end(_ message: String) -> Never {
        FileHandle.standardError.write(Data("\(message)\n".utf8))
        exit(1)
    }
}
