// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothLE

/// Application that reads the temperature from a Bluetooth thermometer and decides if the heating must be on.
public struct Thermostat: Sendable {
    private let central: Central
    private let wanted: Double

    /// Creates a thermostat that uses this adapter and keeps a temperature in degrees Celsius.
    public init(_ adapter: BluetoothAdapter, wanted: Double) {
        central = Central(adapter)
        self.wanted = wanted
    }

    /// Returns true if the thermometer with this address measures less than the wanted temperature.
    public func isColdAt(_ thermometer: DeviceAddress) async throws -> Bool {
        let peripheral = try await central.connect(to: thermometer, timeout: .seconds(30))
        let value = try await peripheral.read(.temperature, of: .environmentalSensing)
        await peripheral.disconnect()
        guard value.count == 2 else { throw BluetoothError.noCharacteristic(.temperature, service: nil) }
        return Double(Int16(truncatingIfNeeded: Int(value[0]) | Int(value[1]) << 8)) / 100 < wanted
    }
}
