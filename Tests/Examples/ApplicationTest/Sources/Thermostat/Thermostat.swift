// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothLE

/// An application: reads a thermometer's temperature over Bluetooth, and says if the heating is to be on.
public struct Thermostat: Sendable {
    private let central: Central
    private let wanted: Double

    /// A thermostat that hears on this adapter, for so many degrees Celsius.
    public init(_ adapter: BluetoothAdapter, wanted: Double) {
        central = Central(adapter)
        self.wanted = wanted
    }

    /// True where the thermometer of this address measures less than what is wanted.
    public func isColdAt(_ thermometer: DeviceAddress) async throws -> Bool {
        let peripheral = try await central.connect(to: thermometer, timeout: .seconds(30))
        let value = try await peripheral.read(.temperature, of: .environmentalSensing)
        await peripheral.disconnect()
        guard value.count == 2 else { throw BluetoothError.noCharacteristic(.temperature, service: nil) }
        return Double(Int16(truncatingIfNeeded: Int(value[0]) | Int(value[1]) << 8)) / 100 < wanted
    }
}
