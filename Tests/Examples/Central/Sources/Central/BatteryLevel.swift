// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import Foundation

/// Connects to the device with the given address, and prints its battery level whenever it changes.
@main
struct BatteryLevel {
    static func main() async {
        guard let address = CommandLine.arguments.dropFirst().first.flatMap({ BluetoothAddress($0) }) else {
            end("usage: Central F0:F1:F2:F3:F4:F5")
        }
        do {
            try await printLevels(of: DeviceAddress(address, .random))
        } catch {
            end("Central: \(error)")
        }
    }

    static func printLevels(of device: DeviceAddress) async throws(BluetoothError) {
        let central = Central(try await BluetoothAdapter.open())
        let peripheral = try await central.connect(to: device, timeout: .seconds(30))
        print("\(try await peripheral.name().printable): \(try await peripheral.read(.batteryLevel).first ?? 0) %")
        for try await value in try await peripheral.subscribe(to: .batteryLevel) { print("\(value.first ?? 0) %") }
    }

    /// Prints a message to standard error, and ends the program with the status 1.
    static func end(_ message: String) -> Never {
        FileHandle.standardError.write(Data("\(message)\n".utf8))
        exit(1)
    }
}
