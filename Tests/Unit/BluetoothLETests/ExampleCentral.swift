// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE

/// Finds a device with a battery, and prints its level whenever it changes, for as long as the device is there.
func watchBattery() async throws(BluetoothError) {
    let central = Central(try await BluetoothAdapter.open())

    // The scan ends with the loop that reads it.
    var found: DeviceAddress?
    for try await report in try await central.scan(ScanFilter(services: [.battery])) {
        print("\(report.device.address) \(report.device.name?.printable ?? "without a name")")
        found = report.device.address
        break
    }
    guard let found else { return }

    let peripheral = try await central.connect(to: found, timeout: .seconds(30))
    print("level \(try await peripheral.read(.batteryLevel, of: .battery).first ?? 0) %")
    // Values arrive again after each reconnection; those that nobody reads in time are counted.
    for try await value in try await peripheral.subscribe(to: .batteryLevel, of: .battery) {
        print("level \(value.first ?? 0) %")
    }
    await peripheral.disconnect()
}
