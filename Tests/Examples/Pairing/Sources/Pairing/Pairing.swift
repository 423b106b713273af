// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE

/// Pairs with the device with the given address, and prints the bond; if a bond is given, connects with it.
@main
struct Pairing {
    static func main() async throws {
        let words = CommandLine.arguments.dropFirst().joined(separator: " ")
        let adapter = try await BluetoothAdapter.open()
        let central = Central(adapter)
        if let bond = Bond(record: words) {
            await adapter.use([bond])
            let peripheral = try await central.connect(
                to: bond.identityAddress,
                timeout: .seconds(30),
                requiring: .encrypted
            )
            return print("\(try await peripheral.name().printable) is the paired device")
        }
        guard let address = BluetoothAddress(words) else { fatalError("usage: Pairing F0:F1:F2:F3:F4:F5") }
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
        // Keep this line secret: it contains the keys.
        print(try await central.pair(with: DeviceAddress(address, .random), user).record)
    }
}
