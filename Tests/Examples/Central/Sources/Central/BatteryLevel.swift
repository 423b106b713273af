// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE

/// Connects to the device with the given address, and prints its battery level whenever it changes.
@main
struct BatteryLevel {
    static func main() async throws {
        guard let address = CommandLine.arguments.dropFirst().first.flatMap({ BluetoothAddress($0) }) else {
            fatalError("usage: Central F0:F1:F2:F3:F4:F5")
        }
        let central = Central(try await BluetoothAdapter.open())
        let device = DeviceAddress(address, .random)
        let peripheral = try await central.connect(to: device, timeout: .seconds(30))
        print("\(try await peripheral.name().printable): \(try await peripheral.read(.batteryLevel).first ?? 0) %")
        for try await value in try await peripheral.subscribe(to: .batteryLevel) { print("\(value.first ?? 0) %") }
    }
}
